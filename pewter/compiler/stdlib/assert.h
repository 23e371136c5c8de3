#include <metal_assert>
