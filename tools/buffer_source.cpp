#include "tools/buffer_source.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "tools/failure.h"
#include "tools/nearest_name.h"
#include "tools/npy.h"
#include "tools/sizes.h"
#include "tools/split.h"

namespace pewter::tools {
namespace {

constexpr std::size_t kMaxDimensions = 8;

/// SplitMix64: good enough for test data, and any element can be had without those before it.
double uniform(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t word = seed * 0xd1342543de82ef95U + (index + 1) * 0x9e3779b97f4a7c15U;
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9U;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebU;
  word ^= word >> 31;
  return std::ldexp(static_cast<double>(word >> 11), -53);
}

double normal(std::uint64_t seed, std::uint64_t index) {
  // Box-Muller; 1 - u is never 0.
  const double radius = std::sqrt(-2 * std::log(1 - uniform(seed, 2 * index)));
  return radius * std::cos(2 * std::numbers::pi * uniform(seed, 2 * index + 1));
}

using Fill = std::function<void(std::span<std::byte>)>;

/// Fills every scalar with what `number` gives for its index.
Fill each(Element element, std::function<double(std::uint64_t)> number) {
  return [element, number = std::move(number)](std::span<std::byte> bytes) {
    const std::size_t step = ValueType{element}.element_bytes();
    for (std::size_t i = 0; i < bytes.size() / step; ++i) {
      store_number(element, number(i), bytes.data() + i * step);
    }
  };
}

double parse_real(std::string_view text) {
  std::byte bytes[sizeof(float)];
  parse_number(Element::Float, text, bytes);
  return load_number(Element::Float, bytes);
}

/// One way to fill a buffer: `NAME:TYPE:SHAPE` and, in `arguments`, what may follow.
struct Generator {
  const char* name;
  const char* form;
  std::size_t min_arguments;
  std::size_t max_arguments;
  Fill (*make)(Element element, const std::vector<std::string_view>& arguments, std::uint64_t seed);
};

Fill make_zeros(Element element, const std::vector<std::string_view>&, std::uint64_t) {
  return each(element, [](std::uint64_t) { return 0.0; });
}

Fill make_ones(Element element, const std::vector<std::string_view>&, std::uint64_t) {
  return each(element, [](std::uint64_t) { return 1.0; });
}

Fill make_range(Element element, const std::vector<std::string_view>&, std::uint64_t) {
  return each(element, [](std::uint64_t index) { return static_cast<double>(index); });
}

Fill make_fill(Element element, const std::vector<std::string_view>& arguments, std::uint64_t) {
  std::vector<std::byte> value(ValueType{element}.element_bytes());
  parse_number(element, arguments[0], value.data());
  return [value](std::span<std::byte> bytes) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = value[i % value.size()];
    }
  };
}

Fill make_random(Element element,
                 const std::vector<std::string_view>& arguments,
                 std::uint64_t seed) {
  const bool whole = !ValueType{element}.is_floating();
  double low = 0;
  double high = element == Element::Bool ? 2 : whole ? 100 : 1;
  if (!arguments.empty()) {
    if (arguments.size() != 2) {
      usage_error("random takes both a low and a high bound, or neither");
    }
    low = parse_real(arguments[0]);
    high = parse_real(arguments[1]);
    if (!(low < high)) {
      usage_error("random needs low < high, not {} and {}", arguments[0], arguments[1]);
    }
  }
  return each(element, [=](std::uint64_t index) {
    const double number = low + (high - low) * uniform(seed, index);
    return whole ? std::floor(number) : number;
  });
}

Fill make_normal(Element element, const std::vector<std::string_view>&, std::uint64_t seed) {
  return each(element, [seed](std::uint64_t index) { return normal(seed, index); });
}

constexpr Generator kGenerators[] = {
    {"zeros", "zeros:TYPE:SHAPE", 0, 0, make_zeros},
    {"ones", "ones:TYPE:SHAPE", 0, 0, make_ones},
    {"fill", "fill:TYPE:SHAPE:NUMBER", 1, 1, make_fill},
    {"range", "range:TYPE:SHAPE", 0, 0, make_range},
    {"random", "random:TYPE:SHAPE[:LOW:HIGH]", 0, 2, make_random},
    {"normal", "normal:TYPE:SHAPE", 0, 0, make_normal},
};

BufferSource from_file(const std::string& path) {
  const BufferHeader header = read_buffer_header(path);
  if (header.byte_count == 0) {
    command_error("{}: the array is empty", path);
  }
  return {{header.element}, header.shape, header.byte_count, [=](std::span<std::byte> bytes) {
            read_buffer_data(path, header, bytes);
          }};
}

BufferSource from_values(const std::string& text, const std::vector<std::string_view>& parts) {
  if (parts.size() != 3) {
    usage_error("buffer '{}' is not of the form values:TYPE:N,N,...", text);
  }
  const ValueType type = parse_type(parts[1]);
  const auto numbers = split(parts[2], ',');
  if (type.lanes != 1) {
    usage_error("buffer '{}': values takes a scalar type, not {}", text, type.name());
  }
  std::vector<std::byte> content(numbers.size() * type.element_bytes());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    parse_number(type.element, numbers[i], content.data() + i * type.element_bytes());
  }
  return {type, {numbers.size()}, content.size(), [content](std::span<std::byte> bytes) {
            std::copy(content.begin(), content.end(), bytes.begin());
          }};
}

std::vector<std::string> generator_names() {
  std::vector<std::string> names = {"values"};
  for (const Generator& generator : kGenerators) {
    names.emplace_back(generator.name);
  }
  return names;
}

}  // namespace

BufferSource parse_buffer_source(const std::string& text, std::uint64_t seed) {
  if (text.ends_with(".npy")) {
    return from_file(text);
  }
  const auto parts = split(text, ':');
  if (parts[0] == "values") {
    return from_values(text, parts);
  }
  for (const Generator& generator : kGenerators) {
    if (parts[0] != generator.name) {
      continue;
    }
    if (parts.size() < 3 + generator.min_arguments || parts.size() > 3 + generator.max_arguments) {
      usage_error("buffer '{}' is not of the form {}", text, generator.form);
    }
    BufferSource source;
    source.type = parse_type(parts[1]);
    source.shape = parse_shape(parts[2], "shape", kMaxDimensions);
    source.byte_count =
        checked_product(element_count(source.shape), source.type.byte_count(), "buffer");
    source.fill = generator.make(source.type.element, {parts.begin() + 3, parts.end()}, seed);
    return source;
  }
  usage_error("buffer '{}': '{}' is neither a generator nor a .npy file{}", text, parts[0],
              suggestion(parts[0], generator_names()));
}

}  // namespace pewter::tools
