// The header that every program is compiled with, precompiled.
#pragma once

#include <metal_logging>
#include <metal_stdlib>
#include <pewter/instantiations.h>
#include <pewter/internals.h>
#include <simd/simd.h>
