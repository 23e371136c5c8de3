#pragma once

#include <pewter/array.h>

#include <cstdint>

#include "pewter/runtime/generator.h"
#include "pewter/runtime/stream.h"

/// Random arrays from a generator, computed on a stream. Each takes its stretch of the generator
/// when it is called.
namespace pewter::ops {

array random_bits(runtime::Generator& generator, runtime::Stream& stream, const Shape& shape);

array random_uniform(runtime::Generator& generator,
                     runtime::Stream& stream,
                     const Shape& shape,
                     double low,
                     double high,
                     Dtype dtype);

array random_normal(runtime::Generator& generator,
                    runtime::Stream& stream,
                    const Shape& shape,
                    double mean,
                    double deviation,
                    Dtype dtype);

array random_integers(runtime::Generator& generator,
                      runtime::Stream& stream,
                      std::int64_t low,
                      std::int64_t high,
                      const Shape& shape,
                      Dtype dtype);

array random_bernoulli(runtime::Generator& generator,
                       runtime::Stream& stream,
                       double probability,
                       const Shape& shape);

}  // namespace pewter::ops
