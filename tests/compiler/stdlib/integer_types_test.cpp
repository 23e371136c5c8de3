#include <functional>

#include "tests/compiler/stdlib/elementwise.h"
#include "tests/compiler/stdlib/integer_type.h"

// Integer functions for every type, over pairs of awkward values, against 128-bit arithmetic.

namespace pewter {
namespace {

using test::Gpu;
using test::size;
using test::UnsignedWide;
using test::Wide;
using Type = test::IntegerType;

struct IntegerRow {
  /// An MSL expression in x, y and z, all of one type.
  const char* expression;
  std::function<Wide(const Type& type, Wide x, Wide y, Wide z)> reference;
  /// Whether the result is of the unsigned type as wide.
  bool unsigned_result = false;
};

Wide count_leading_zeros(const Type& type, Wide x) {
  int count = 0;
  while (count < type.bits && ((x >> (type.bits - 1 - count)) & 1) == 0) {
    ++count;
  }
  return count;
}

Wide count_trailing_zeros(const Type& type, Wide x) {
  int count = 0;
  while (count < type.bits && ((x >> count) & 1) == 0) {
    ++count;
  }
  return count;
}

Wide reverse(const Type& type, Wide x) {
  Wide reversed = 0;
  for (int bit = 0; bit < type.bits; ++bit) {
    reversed |= ((x >> bit) & 1) << (type.bits - 1 - bit);
  }
  return reversed;
}

Wide rotate_left(const Type& type, Wide x, Wide count) {
  const int left = static_cast<int>(count & (type.bits - 1));
  const Wide bits = type.bits_of(x);
  return left == 0 ? bits : (bits << left) | (bits >> (type.bits - left));
}

Wide population(const Type& type, Wide x) {
  int count = 0;
  for (int bit = 0; bit < type.bits; ++bit) {
    count += static_cast<int>((x >> bit) & 1);
  }
  return count;
}

Wide middle(Wide x, Wide y, Wide z) {
  return std::max(std::min(x, y), std::min(std::max(x, y), z));
}

// Three bits from bit 2 up, sign-extended for signed types.
Wide field(const Type& type, Wide x) {
  const Wide bits = (x >> 2) & 7;
  return type.is_signed && bits >= 4 ? bits - 8 : bits;
}

// The low 24 bits, sign-extended for signed types.
Wide low_part(const Type& type, Wide x) {
  return Type{type.name, 24, type.is_signed}.wrap(x);
}

const std::vector<IntegerRow> kRows = {
    {"abs(x)", [](const Type&, Wide x, Wide, Wide) { return x < 0 ? -x : x; }},
    {"absdiff(x, y)", [](const Type&, Wide x, Wide y, Wide) { return x > y ? x - y : y - x; },
     true},
    {"addsat(x, y)", [](const Type& t, Wide x, Wide y, Wide) { return t.saturate(x + y); }},
    {"subsat(x, y)", [](const Type& t, Wide x, Wide y, Wide) { return t.saturate(x - y); }},
    {"hadd(x, y)", [](const Type&, Wide x, Wide y, Wide) { return (x + y) >> 1; }},
    {"rhadd(x, y)", [](const Type&, Wide x, Wide y, Wide) { return (x + y + 1) >> 1; }},
    {"max(x, y)", [](const Type&, Wide x, Wide y, Wide) { return std::max(x, y); }},
    {"min(x, y)", [](const Type&, Wide x, Wide y, Wide) { return std::min(x, y); }},
    {"clamp(x, min(y, z), max(y, z))",
     [](const Type&, Wide x, Wide y, Wide z) {
       return std::max(std::min(y, z), std::min(std::max(y, z), x));
     }},
    {"max3(x, y, z)", [](const Type&, Wide x, Wide y, Wide z) { return std::max({x, y, z}); }},
    {"min3(x, y, z)", [](const Type&, Wide x, Wide y, Wide z) { return std::min({x, y, z}); }},
    {"median3(x, y, z)", [](const Type&, Wide x, Wide y, Wide z) { return middle(x, y, z); }},
    {"clz(x)", [](const Type& t, Wide x, Wide, Wide) { return count_leading_zeros(t, x); }},
    {"ctz(x)", [](const Type& t, Wide x, Wide, Wide) { return count_trailing_zeros(t, x); }},
    {"popcount(x)", [](const Type& t, Wide x, Wide, Wide) { return population(t, x); }},
    {"reverse_bits(x)", [](const Type& t, Wide x, Wide, Wide) { return reverse(t, x); }},
    {"rotate(x, y)", [](const Type& t, Wide x, Wide y, Wide) { return rotate_left(t, x, y); }},
    {"extract_bits(x, 2, 3)", [](const Type& t, Wide x, Wide, Wide) { return field(t, x); }},
    {"extract_bits(x, 1, 0)", [](const Type&, Wide, Wide, Wide) { return Wide{0}; }},
    {"extract_bits(x, 0, sizeof(x) * 8)", [](const Type&, Wide x, Wide, Wide) { return x; }},
    {"insert_bits(x, y, 2, 3)",
     [](const Type&, Wide x, Wide y, Wide) { return (x & ~Wide{28}) | ((y & 7) << 2); }},
    {"insert_bits(x, y, 2, 0)", [](const Type&, Wide x, Wide, Wide) { return x; }},
    {"insert_bits(x, y, sizeof(x) * 4, sizeof(x) * 4)",
     [](const Type& t, Wide x, Wide y, Wide) {
       const Wide low = (Wide{1} << (t.bits / 2)) - 1;
       return (x & low) | (y & low) << (t.bits / 2);
     }},
    {"extract_bits(x, sizeof(x) * 4, sizeof(x) * 4)",
     [](const Type& t, Wide x, Wide, Wide) {
       return Type{t.name, t.bits / 2, t.is_signed}.wrap(x >> (t.bits / 2));
     }},
    {"mulhi(x, y)",
     [](const Type& t, Wide x, Wide y, Wide) {
       return t.is_signed || t.bits < 64
                  ? (x * y) >> t.bits
                  : static_cast<Wide>(
                        (static_cast<UnsignedWide>(x) * static_cast<UnsignedWide>(y)) >> 64);
     }},
};

// Products of unsigned 64-bit numbers and a third number just fit 128 bits.
UnsignedWide unsigned_sum(Wide x, Wide y, Wide z) {
  return static_cast<UnsignedWide>(x) * static_cast<UnsignedWide>(y) + static_cast<UnsignedWide>(z);
}

const std::vector<IntegerRow> kProductRows = {
    {"madhi(x, y, z)",
     [](const Type& t, Wide x, Wide y, Wide z) {
       const Wide high =
           t.is_signed ? (x * y) >> t.bits : static_cast<Wide>(unsigned_sum(x, y, 0) >> t.bits);
       return high + z;
     }},
    {"madsat(x, y, z)",
     [](const Type& t, Wide x, Wide y, Wide z) {
       if (t.is_signed) {
         return t.saturate(x * y + z);
       }
       const UnsignedWide exact = unsigned_sum(x, y, z);
       return exact > static_cast<UnsignedWide>(t.highest()) ? t.highest()
                                                             : static_cast<Wide>(exact);
     }},
};

const std::vector<IntegerRow> kWordRows = {
    {"mul24(x, y)",
     [](const Type& t, Wide x, Wide y, Wide) { return low_part(t, x) * low_part(t, y); }},
    {"mad24(x, y, z)",
     [](const Type& t, Wide x, Wide y, Wide z) { return low_part(t, x) * low_part(t, y) + z; }},
};

std::vector<Wide> awkward_integers(const Type& type) {
  std::vector<Wide> values;
  for (const Wide value : {Wide{0}, Wide{1}, Wide{2}, Wide{5}, Wide{100}, Wide{-1}, Wide{-2},
                           Wide{-77}, type.lowest(), Wide{type.lowest() + 1}, type.highest(),
                           Wide{type.highest() - 1}, Wide{type.highest() / 3}}) {
    if (value >= type.lowest() && value <= type.highest()) {
      values.push_back(value);
    }
  }
  std::uint64_t state = 3;
  for (int count = 0; count < 6; ++count) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    values.push_back(type.wrap(Wide{state >> 20 | state << 44}));
  }
  return values;
}

/// The rows computed by a kernel for scalars and for vectors, whose component k belongs to the
/// thread k further on.
std::string kernel_for(const Type& type, const std::vector<IntegerRow>& rows) {
  const std::string name = type.name;
  std::string source = "#include <metal_stdlib>\nusing namespace metal;\n";
  std::string body;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::string index = std::to_string(row);
    std::string vector_expression = rows[row].expression;
    for (std::size_t at = 0; (at = vector_expression.find("sizeof(x)", at)) != std::string::npos;) {
      vector_expression.replace(at, 9, "sizeof(x.x)");
    }
    source += "ulong s" + index + "(" + name + " x, " + name + " y, " + name +
              " z) { return ulong(" + rows[row].expression + "); }\n";
    source += "ulong3 v" + index + "(" + name + "3 x, " + name + "3 y, " + name +
              "3 z) { return ulong3(" + vector_expression + "); }\n";
    body += "  out[" + index + " * n + i] = s" + index + "(x0, y0, z0);\n" +  //
            "  vectors[" + index + " * n + i] = v" + index + "(" + name + "3(x0, x1, x2), " + name +
            "3(y0, y1, y2), " + name + "3(z0, z1, z2));\n";
  }
  std::string inputs;
  for (const std::string k : {"0", "1", "2"}) {
    inputs += "  const uint at" + k + " = 3 * ((i + " + k + ") % n);\n  const " + name + " x" + k +
              " = " + name + "(xs[at" + k + "]), y" + k + " = " + name + "(xs[at" + k +
              " + 1]), z" + k + " = " + name + "(xs[at" + k + " + 2]);\n";
  }
  return source +
         "kernel void f(device const ulong* xs [[buffer(0)]], device ulong* out [[buffer(1)]],\n" +
         "  device packed_ulong3* vectors [[buffer(2)]], uint i [[thread_position_in_grid]],\n" +
         "  uint n [[threads_per_grid]]) {\n" + inputs + body + "}\n";
}

void check_rows(const Type& type, const std::vector<IntegerRow>& rows) {
  const Gpu gpu;
  const std::vector<Wide> values = awkward_integers(type);
  std::vector<std::uint64_t> inputs;
  for (const Wide x : values) {
    for (const Wide y : values) {
      const Wide z = values[inputs.size() % values.size()];
      for (const Wide value : {x, y, z}) {
        inputs.push_back(static_cast<std::uint64_t>(value));
      }
    }
  }
  const std::size_t count = inputs.size() / 3;
  std::vector<std::uint64_t> out(rows.size() * count);
  std::vector<std::uint64_t> vectors(rows.size() * count * 3, 77);

  gpu.run(test::narrow_pipeline(gpu, kernel_for(type, rows)).get(), {.grid = size(count)}, inputs,
          out, vectors);

  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t index = 0; index < count; ++index) {
      const auto input = [&](int operand) { return type.wrap(Wide{inputs[3 * index + operand]}); };
      const Wide wanted = rows[row].reference(type, input(0), input(1), input(2));
      const auto expected = static_cast<std::uint64_t>(
          rows[row].unsigned_result ? type.bits_of(wanted) : type.wrap(wanted));
      CAPTURE(type.name);
      CAPTURE(static_cast<std::int64_t>(input(0)));
      CAPTURE(static_cast<std::int64_t>(input(1)));
      CHECK_MESSAGE(out[row * count + index] == expected, rows[row].expression);
      for (std::size_t component = 0; component < 3; ++component) {
        CHECK_MESSAGE(vectors[(row * count + index) * 3 + component] ==
                          out[row * count + (index + component) % count],
                      "vectors: ", rows[row].expression);
      }
    }
  }
}

}  // namespace

TEST_CASE("integer functions are exact for every type and agree for vectors") {
  for (const Type& type : test::kIntegerTypes) {
    check_rows(type, kRows);
  }
}

TEST_CASE("multiply-and-add keeps the high half or saturates") {
  for (const Type& type : test::kIntegerTypes) {
    check_rows(type, kProductRows);
  }
}

TEST_CASE("products of 24 bits take the low bits of words") {
  for (const Type& type : test::kIntegerTypes) {
    if (type.bits == 32) {
      check_rows(type, kWordRows);
    }
  }
}

}  // namespace pewter
