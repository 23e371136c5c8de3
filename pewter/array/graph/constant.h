#pragma once

#include <pewter/dtype.h>
#include <pewter/scalar.h>

#include <cstddef>

namespace pewter::graph {

/// Converts one element as kernels do: numbers that an integer cannot hold become its nearest, NaN
/// becomes 0, integers wrap, whatever is not zero is true.
void convert_element(const std::byte* from, Dtype from_type, std::byte* to, Dtype to_type);

/// Writes a number as an element of that type, converted in the same way.
void write_element(const Scalar& number, std::byte* to, Dtype type);

/// The element as a double; the real part of a complex one.
double read_element(const std::byte* from, Dtype type);

}  // namespace pewter::graph
