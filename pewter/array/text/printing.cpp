#include <fmt/core.h>
#include <fmt/ranges.h>
#include <pewter/printing.h>

#include <algorithm>
#include <complex>
#include <functional>
#include <ostream>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "pewter/array/text/number_text.h"

namespace pewter {
namespace {

using text::FloatColumn;

/// The element at a place of the memory, as text.
using ElementText = std::function<std::string(std::int64_t)>;

/// An array with its layout, and how much of it is shown.
struct Layout {
  const Shape& shape;
  const Strides& strides;
  std::size_t edge = 0;
  bool is_elided = false;

  bool elides(std::size_t axis) const {
    return is_elided && static_cast<std::size_t>(shape[axis]) > 2 * edge;
  }
};

/// The places of all elements that are shown.
void collect(const Layout& layout,
             std::size_t axis,
             std::int64_t place,
             std::vector<std::int64_t>& places) {
  if (axis == layout.shape.size()) {
    places.push_back(place);
    return;
  }
  const std::int64_t length = layout.shape[axis];
  const auto edge = static_cast<std::int64_t>(layout.edge);
  for (std::int64_t i = 0; i < length; ++i) {
    if (layout.elides(axis) && i == edge) {
      i = length - edge;
    }
    if (i < length) {
      collect(layout, axis + 1, place + i * layout.strides[axis], places);
    }
  }
}

template <typename T>
float as_float(T number) {
  return static_cast<float>(number);
}

template <typename T>
ElementText integer_text(const T* data, const std::vector<std::int64_t>& places) {
  std::size_t width = 0;
  for (const std::int64_t place : places) {
    width = std::max(width, fmt::formatted_size("{}", data[place]));
  }
  return [=](std::int64_t place) { return fmt::format("{:>{}}", data[place], width); };
}

ElementText complex_text(const std::complex<float>* data,
                         const std::vector<std::int64_t>& places,
                         int precision) {
  std::vector<float> real;
  std::vector<float> imaginary;
  for (const std::int64_t place : places) {
    real.push_back(data[place].real());
    imaginary.push_back(data[place].imag());
  }
  return [data, left = FloatColumn(real, Dtype::Float32, precision),
          right = FloatColumn(imaginary, Dtype::Float32, precision, true)](std::int64_t place) {
    std::string text = right(data[place].imag());
    text.insert(text.find_last_not_of(' ') + 1, "j");
    return left(data[place].real()) + text;
  };
}

template <typename T>
ElementText element_text(const array& value,
                         const std::vector<std::int64_t>& places,
                         int precision) {
  const T* const data = value.data<T>();
  if constexpr (std::is_same_v<T, bool>) {
    return [data](std::int64_t place) { return data[place] ? " True" : "False"; };
  } else if constexpr (std::is_integral_v<T>) {
    return integer_text(data, places);
  } else if constexpr (std::is_same_v<T, std::complex<float>>) {
    return complex_text(data, places, precision);
  } else {
    std::vector<float> numbers;
    for (const std::int64_t place : places) {
      numbers.push_back(as_float(data[place]));
    }
    return [data, column = FloatColumn(numbers, kDtypeOf<T>, precision)](std::int64_t place) {
      return column(as_float(data[place]));
    };
  }
}

template <typename Visit>
auto visit_dtype(Dtype dtype, const Visit& visit) {
  switch (dtype) {
    case Dtype::Bool:
      return visit.template operator()<bool>();
    case Dtype::UInt8:
      return visit.template operator()<std::uint8_t>();
    case Dtype::UInt16:
      return visit.template operator()<std::uint16_t>();
    case Dtype::UInt32:
      return visit.template operator()<std::uint32_t>();
    case Dtype::UInt64:
      return visit.template operator()<std::uint64_t>();
    case Dtype::Int8:
      return visit.template operator()<std::int8_t>();
    case Dtype::Int16:
      return visit.template operator()<std::int16_t>();
    case Dtype::Int32:
      return visit.template operator()<std::int32_t>();
    case Dtype::Int64:
      return visit.template operator()<std::int64_t>();
    case Dtype::Float16:
      return visit.template operator()<Float16>();
    case Dtype::BFloat16:
      return visit.template operator()<BFloat16>();
    case Dtype::Float32:
      return visit.template operator()<float>();
    case Dtype::Complex64:
      return visit.template operator()<std::complex<float>>();
  }
  throw std::logic_error("a type of arrays that is none");
}

/// Sets brackets, separators and line breaks as NumPy does.
class Printer {
 public:
  Printer(const Layout& layout, ElementText element, std::string separator)
      : layout_(layout),
        element_(std::move(element)),
        separator_(std::move(separator)),
        bare_separator_(separator_.substr(0, separator_.find_last_not_of(' ') + 1)) {}

  /// `indent` stands before every line but the first.
  std::string print(std::size_t axis,
                    std::int64_t place,
                    const std::string& indent,
                    std::size_t width) const {
    if (axis == layout_.shape.size()) {
      return element_(place);
    }
    const bool is_last = axis + 1 == layout_.shape.size();
    const std::string body =
        is_last ? row(axis, place, indent, width) : rows(axis, place, indent, width);
    return '[' + body.substr(std::min(indent.size(), body.size())) + ']';
  }

 private:
  template <typename Visit>
  void for_each(std::size_t axis, const Visit& visit) const {
    const std::int64_t length = layout_.shape[axis];
    const auto edge = static_cast<std::int64_t>(layout_.edge);
    const bool is_elided = layout_.elides(axis);
    for (std::int64_t i = 0; i < length; ++i) {
      if (is_elided && i == edge) {
        visit(std::int64_t{-1}, false);
        i = length - edge;
      }
      if (i < length) {
        visit(i, i + 1 == length);
      }
    }
    if (is_elided && edge == 0) {
      visit(std::int64_t{-1}, true);
    }
  }

  std::string row(std::size_t axis,
                  std::int64_t place,
                  const std::string& indent,
                  std::size_t width) const {
    const std::size_t reserved = std::max<std::size_t>(bare_separator_.size(), 1);
    const std::size_t element_width = width > reserved ? width - reserved : 0;
    std::string done;
    std::string line = indent;
    for_each(axis, [&](std::int64_t i, bool is_last) {
      const std::string word = i < 0 ? "..." : element_(place + i * layout_.strides[axis]);
      if (line.size() + word.size() > element_width && line.size() > indent.size()) {
        done += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
        line = indent;
      }
      line += word;
      line += is_last ? "" : separator_;
    });
    return done + line;
  }

  std::string rows(std::size_t axis,
                   std::int64_t place,
                   const std::string& indent,
                   std::size_t width) const {
    const std::size_t breaks = layout_.shape.size() - axis - 1;
    const std::string between = bare_separator_ + std::string(breaks, '\n');
    std::string done;
    for_each(axis, [&](std::int64_t i, bool is_last) {
      done += indent;
      done += i < 0 ? "..."
                    : print(axis + 1, place + i * layout_.strides[axis], indent + ' ',
                            width > 0 ? width - 1 : 0);
      done += is_last ? "" : between;
    });
    return done;
  }

  const Layout& layout_;
  ElementText element_;
  std::string separator_;
  std::string bare_separator_;
};

std::string elements(const array& value,
                     const PrintOptions& options,
                     const std::string& separator,
                     std::size_t prefix,
                     std::size_t width) {
  value.eval();
  const Layout layout{value.shape(), value.strides(), options.edge_items,
                      value.size() > options.threshold};
  std::vector<std::int64_t> places;
  collect(layout, 0, 0, places);
  const ElementText element = visit_dtype(value.dtype(), [&]<typename T>() {
    return element_text<T>(value, places, options.precision);
  });
  return Printer(layout, element, separator).print(0, 0, std::string(prefix + 1, ' '), width);
}

std::string trimmed(std::string text) {
  return text.erase(0, text.find_first_not_of(' '));
}

}  // namespace

std::string to_string(const array& value, const PrintOptions& options) {
  if (value.size() == 0) {
    return "[]";
  }
  if (value.ndim() == 0) {
    if (value.dtype() == Dtype::Float32) {
      return text::lone_number(value.item<float>(), Dtype::Float32);
    }
    if (value.dtype() == Dtype::Float16) {
      return text::lone_number(as_float(value.item<Float16>()), Dtype::Float16);
    }
    if (value.dtype() == Dtype::BFloat16) {
      return text::lone_number(as_float(value.item<BFloat16>()), Dtype::BFloat16);
    }
    if (value.dtype() == Dtype::Complex64) {
      return text::lone_complex(value.item<std::complex<float>>());
    }
    return trimmed(elements(value, options, " ", 0, options.line_width));
  }
  return elements(value, options, " ", 0, options.line_width);
}

std::string repr(const array& value, const PrintOptions& options) {
  constexpr std::string_view kStart = "array(";
  const Dtype dtype = value.dtype();
  // Types that the digits tell, as they do in Python.
  const bool is_implied = value.size() > 0 && (dtype == Dtype::Bool || dtype == Dtype::Int64);
  std::string text(kStart);
  if (value.size() > 0) {
    const std::size_t width = options.line_width > 0 ? options.line_width - 1 : 0;
    const std::string body = elements(value, options, ", ", kStart.size(), width);
    text += value.ndim() == 0 ? trimmed(body) : body;
  } else {
    text += "[]";
    if (value.shape() != Shape{0}) {
      text += fmt::format(", shape=({}{})", fmt::join(value.shape(), ", "),
                          value.ndim() == 1 ? "," : "");
    }
  }
  if (is_implied) {
    return text + ')';
  }
  text += ',';
  const std::string type = fmt::format("dtype={})", name_of(dtype));
  const std::size_t last_line = text.size() - (text.rfind('\n') + 1);
  const bool fits = last_line + type.size() + 1 <= options.line_width;
  return text + (fits ? " " : '\n' + std::string(kStart.size(), ' ')) + type;
}

std::ostream& operator<<(std::ostream& stream, const array& value) {
  return stream << to_string(value);
}

}  // namespace pewter
