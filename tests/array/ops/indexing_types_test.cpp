#include <doctest/doctest.h>
#include <pewter/ops.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "tests/array/reference.h"

using namespace pewter;
using namespace pewter::test;

// What moves elements, with every type and along axes of every length.
namespace {

/// Places on an axis, some of them counted from its end, some twice.
std::vector<double> places(std::int64_t count, std::int64_t length) {
  const auto end = static_cast<double>(length);
  return elements(count, Dtype::Int32, -end, end);
}

std::size_t placed(double place, std::int64_t length) {
  return static_cast<std::size_t>(place < 0 ? place + static_cast<double>(length) : place);
}

}  // namespace

TEST_CASE("elements of every type are taken by index along axes of every length") {
  for (const Dtype dtype : every_dtype()) {
    for (const std::int64_t length : {1, 31, 33, 1009}) {
      CAPTURE(name_of(dtype));
      CAPTURE(length);
      const std::vector<double> values = elements(3 * length, dtype);
      const array x = make_array(values, {3, length}, dtype);
      const std::vector<double> where_from = places(40, length);
      const array indices = make_array(where_from, {40}, Dtype::Int32);
      std::vector<double> columns;
      std::vector<double> along;
      const std::vector<double> each = places(3 * 40, length);
      for (std::size_t r = 0; r < 3; ++r) {
        for (std::size_t i = 0; i < 40; ++i) {
          const std::size_t row = r * static_cast<std::size_t>(length);
          columns.push_back(values[row + placed(where_from[i], length)]);
          along.push_back(values[row + placed(each[r * 40 + i], length)]);
        }
      }
      check_close(take(x, indices, 1), columns, 0);
      check_close(take_along_axis(x, make_array(each, {3, 40}, Dtype::Int64), 1), along, 0);
      check_close(
          squeeze(gather(x, {indices}, {1}, {3, 1}), 2),
          [&] {
            std::vector<double> turned;
            for (std::size_t i = 0; i < 40; ++i) {
              for (std::size_t r = 0; r < 3; ++r) {
                turned.push_back(columns[r * 40 + i]);
              }
            }
            return turned;
          }(),
          0);
    }
    // Whole rows of every length, and from a view.
    for (const std::int64_t length : sizes()) {
      CAPTURE(length);
      const std::vector<double> values = elements(3 * length, dtype);
      const array x = make_array(values, {length, 3}, dtype).transposed();
      std::vector<double> expected;
      for (const std::size_t r : {2, 0, 2}) {
        for (std::size_t c = 0; c < static_cast<std::size_t>(length); ++c) {
          expected.push_back(values[c * 3 + r]);
        }
      }
      check_close(take(x, array({2, 0, -1}), 0), expected, 0);
    }
  }
}

TEST_CASE("elements of every type are placed by index, the last of equal indices stays") {
  for (const Dtype dtype : every_dtype()) {
    for (const std::int64_t length : {1, 32, 1025}) {
      CAPTURE(name_of(dtype));
      CAPTURE(length);
      const std::vector<double> values = elements(2 * length, dtype);
      const std::vector<double> updates = elements(2 * 20, dtype);
      const std::vector<double> each = places(2 * 20, length);
      std::vector<double> expected = values;
      std::vector<double> scattered = values;
      for (std::size_t r = 0; r < 2; ++r) {
        for (std::size_t i = 0; i < 20; ++i) {
          const std::size_t row = r * static_cast<std::size_t>(length);
          expected[row + placed(each[r * 20 + i], length)] = updates[r * 20 + i];
          scattered[row + placed(each[i], length)] = updates[i * 2 + r];
        }
      }
      const array x = make_array(values, {2, length}, dtype);
      const array indices = make_array(each, {2, 20}, Dtype::Int32);
      check_close(put_along_axis(x, indices, make_array(updates, {2, 20}, dtype), 1), expected, 0);
      const array first = slice(indices, {0, 0}, {1, 20});
      check_close(scatter(x, {reshape(first, {20})}, make_array(updates, {20, 2, 1}, dtype), {1}),
                  scattered, 0);
    }
  }
}

TEST_CASE("what is taken and placed by index may be broadcast, transposed and reversed") {
  for (const Dtype dtype : every_dtype()) {
    for (const std::int64_t length : {1, 31, 1025}) {
      CAPTURE(name_of(dtype));
      CAPTURE(length);
      const auto count = static_cast<std::size_t>(length);
      const std::vector<double> row = elements(length, dtype);
      const std::vector<double> each = places(5, length);
      const array indices = make_array(each, {5}, Dtype::Int32);
      // Four equal rows that are one in memory, and the same read backwards.
      const array wide = broadcast_to(make_array(row, {length}, dtype), {4, length});
      const array backwards = slice(wide, {0, -1}, {4, -100000}, {1, -1});
      const array turned = transpose(backwards);
      const array broadcast_indices = broadcast_to(indices, {4, 5});
      std::vector<double> taken;
      std::vector<double> taken_backwards;
      std::vector<double> placed_there;
      std::vector<double> scattered(4 * count, 0);
      for (std::size_t r = 0; r < 4; ++r) {
        std::vector<double> changed = row;
        for (const double place : each) {
          const std::size_t at = placed(place, length);
          taken.push_back(row[at]);
          taken_backwards.push_back(row[count - 1 - at]);
          changed[at] = 1;
          scattered[r * count + at] = 1;
        }
        placed_there.insert(placed_there.end(), changed.begin(), changed.end());
      }

      check_close(take(wide, indices, 1), taken, 0);
      check_close(take(backwards, indices, 1), taken_backwards, 0);
      check_close(transpose(take(turned, indices, 0)), taken_backwards, 0);
      check_close(take_along_axis(wide, broadcast_indices, 1), taken, 0);
      check_close(take_along_axis(backwards, reshape(indices, {1, 5}), 1), taken_backwards, 0);
      check_close(transpose(take_along_axis(turned, transpose(broadcast_indices), 0)),
                  taken_backwards, 0);
      check_close(transpose(reshape(gather(wide, {indices}, {1}, {4, 1}), {5, 4})), taken, 0);
      check_close(transpose(reshape(gather(backwards, {indices}, {1}, {4, 1}), {5, 4})),
                  taken_backwards, 0);
      check_close(put_along_axis(wide, broadcast_indices, array(1, dtype), 1), placed_there, 0);
      check_close(put_along_axis(wide, reshape(indices, {1, 5}), array(1, dtype), 1), placed_there,
                  0);
      const array updates = broadcast_to(array(1, dtype), {5, 4, 1});
      check_close(scatter(broadcast_to(array(0, dtype), {4, length}), {indices}, updates, {1}),
                  scattered, 0);
    }
  }
}

namespace {

struct CombineRow {
  const char* name;
  array (*function)(
      const array&, const std::vector<array>&, const array&, const Axes&, StreamOrDevice);
  double (*combine)(double, double);
};

const CombineRow kCombinations[] = {
    {"scatter_add", scatter_add, [](double a, double b) { return a + b; }},
    {"scatter_prod", scatter_prod, [](double a, double b) { return a * b; }},
    {"scatter_max", scatter_max, [](double a, double b) { return std::max(a, b); }},
    {"scatter_min", scatter_min, [](double a, double b) { return std::min(a, b); }},
};

}  // namespace

TEST_CASE("elements of every type are combined with what is there") {
  for (const CombineRow& row : kCombinations) {
    for (const Dtype dtype : every_dtype()) {
      CAPTURE(row.name);
      CAPTURE(name_of(dtype));
      if (dtype == Dtype::Bool || dtype == Dtype::Complex64) {
        CHECK_THROWS_AS(row.function(zeros({2}, dtype), {array({0})}, ones({1, 1}, dtype), {0}, {}),
                        std::invalid_argument);
        continue;
      }
      for (const std::int64_t length : {1, 33, 300}) {
        // Whole numbers, few for each place: exact in every type, whatever the order.
        const std::size_t count = length == 1 ? 3 : 64;
        const std::vector<double> values(static_cast<std::size_t>(length), 1);
        std::vector<double> updates(count);
        std::vector<double> where_to = places(static_cast<std::int64_t>(count), length);
        for (std::size_t i = 0; i < count; ++i) {
          updates[i] = std::string(row.name) == "scatter_prod"
                           ? 1 + static_cast<double>(i % 16 == 0)
                           : static_cast<double>(i % 9);
        }
        std::vector<double> expected = values;
        for (std::size_t i = 0; i < count; ++i) {
          double& to = expected[placed(where_to[i], length)];
          to = row.combine(to, updates[i]);
        }
        const array made = row.function(
            make_array(values, {length}, dtype),
            {make_array(where_to, {static_cast<std::int64_t>(count)}, Dtype::Int32)},
            make_array(updates, {static_cast<std::int64_t>(count), 1}, dtype), {0}, {});
        check_close(made, expected, 0);
        if (row.name[8] == 'a') {
          check_close(scatter_add_axis(
                          make_array(values, {length}, dtype),
                          make_array(where_to, {static_cast<std::int64_t>(count)}, Dtype::Int32),
                          make_array(updates, {static_cast<std::int64_t>(count)}, dtype), 0),
                      expected, 0);
        }
      }
    }
  }
}

TEST_CASE("arrays of every type are joined, repeated, shifted, padded, made and cut") {
  for (const Dtype dtype : every_dtype()) {
    CAPTURE(name_of(dtype));
    for (const std::int64_t length : sizes()) {
      CAPTURE(length);
      const auto count = static_cast<std::size_t>(length);
      const std::vector<double> values = elements(length, dtype);
      const array x = make_array(values, {length}, dtype);
      std::vector<double> twice = values;
      twice.insert(twice.end(), values.begin(), values.end());
      check_close(concatenate({x, x}), twice, 0);
      check_close(stack({x, x}), twice, 0);
      check_close(tile(x, {2}), twice, 0);
      check_close(reshape(transpose(reshape(repeat(x, 2), {length, 2})), {2 * length}), twice, 0);
      std::vector<double> shifted = values;
      if (count > 1) {
        std::rotate(shifted.begin(), shifted.end() - 1, shifted.end());
      }
      check_close(roll(x, 1), shifted, 0);
      std::vector<double> padded = values;
      padded.insert(padded.begin(), 2, 1);
      padded.push_back(1);
      check_close(pad(x, {{2, 1}}, array(1, dtype)), padded, 0);
      std::vector<double> replaced = values;
      for (std::size_t i = 0; i < count; i += 2) {
        replaced[i] = 1;
      }
      check_close(slice_update(x, array(1, dtype), {0}, {length}, {2}), replaced, 0);
      check_close(split(concatenate({x, x}), 2)[1], values, 0);
      check_close(contiguous(slice(x, {-1}, {-100000}, {-1})), {values.rbegin(), values.rend()}, 0);
      check_close(full({length}, array(1, dtype)), std::vector<double>(count, 1), 0);
    }
    check_close(eye(3, dtype), {1, 0, 0, 0, 1, 0, 0, 0, 1}, 0);
    check_close(tri(2, 3, 0, dtype), {1, 0, 0, 1, 1, 0}, 0);
    const array square = ones({2, 2}, dtype);
    check_close(tril(square), {1, 0, 1, 1}, 0);
    check_close(triu(square), {1, 1, 0, 1}, 0);
    check_close(diag(ones({2}, dtype)), {1, 0, 0, 1}, 0);
    check_close(where(array({true, false}), ones({2}, dtype), zeros({2}, dtype)), {1, 0}, 0);
    if (dtype != Dtype::Bool && dtype != Dtype::Complex64) {
      check_close(arange(1, 8, 2, dtype), {1, 3, 5, 7}, 0);
      check_close(linspace(0, 8, 5, dtype), {0, 2, 4, 6, 8}, 0);
      check_close(clip(make_array({1, 5, 9}, {3}, dtype), array(2, dtype), array(6, dtype)),
                  {2, 5, 6}, 0);
    }
  }
}
