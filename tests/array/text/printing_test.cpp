#include <doctest/doctest.h>
#include <pewter/ops.h>
#include <pewter/printing.h>

#include <cmath>
#include <complex>
#include <limits>
#include <numeric>
#include <sstream>
#include <vector>

#include "pewter/array/text/number_text.h"

using pewter::array;
using pewter::BFloat16;
using pewter::Dtype;
using pewter::Float16;
using pewter::Shape;

// What is expected is what NumPy 1.24 prints.

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<std::int32_t> counted(std::size_t count) {
  std::vector<std::int32_t> values(count);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

std::vector<float> scaled(std::size_t count, float by) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(i) * by;
  }
  return values;
}

struct Row {
  array value;
  const char* text;
  const char* repr;
};

void check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    CHECK(to_string(row.value) == row.text);
    CHECK(repr(row.value) == row.repr);
  }
}

}  // namespace

TEST_CASE("numbers are written with the digits that tell them apart") {
  check({
      {array{1.0F, 2.5F, -3.0F}, R"([ 1.   2.5 -3. ])",
       R"(array([ 1. ,  2.5, -3. ], dtype=float32))"},
      {array{5.0F, 7.0F, 9.0F}, R"([5. 7. 9.])", R"(array([5., 7., 9.], dtype=float32))"},
      {array{1 / 3.0F, 2 / 3.0F, 1.0F}, R"([0.33333334 0.6666667  1.        ])",
       R"(array([0.33333334, 0.6666667 , 1.        ], dtype=float32))"},
      {array{0.001234567F, 0.01F}, R"([0.00123457 0.01      ])",
       R"(array([0.00123457, 0.01      ], dtype=float32))"},
      {array{0.0F, 0.0F, 0.0F}, R"([0. 0. 0.])", R"(array([0., 0., 0.], dtype=float32))"},
      {array{-0.0F, 1.0F}, R"([-0.  1.])", R"(array([-0.,  1.], dtype=float32))"},
      {array{-1, 10, 100}, R"([ -1  10 100])", R"(array([ -1,  10, 100], dtype=int32))"},
      {array{std::int64_t{1}, std::int64_t{2}}, R"([1 2])", R"(array([1, 2]))"},
      {array{std::uint8_t{0}, std::uint8_t{255}}, R"([  0 255])",
       R"(array([  0, 255], dtype=uint8))"},
      {array{true, false}, R"([ True False])", R"(array([ True, False]))"},
      {array{Float16(0.1F), Float16(65504.0F), Float16(1 / 3.0F)},
       R"([9.998e-02 6.550e+04 3.333e-01])",
       R"(array([9.998e-02, 6.550e+04, 3.333e-01], dtype=float16))"},
      {array{std::complex<float>(1, 2), std::complex<float>(-0.5F, -1)}, R"([ 1. +2.j -0.5-1.j])",
       R"(array([ 1. +2.j, -0.5-1.j], dtype=complex64))"},
  });
}

TEST_CASE("a complex number that stands alone is printed as Python prints it") {
  using Complex = std::complex<float>;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  CHECK(to_string(array(Complex(1, 2))) == "(1+2j)");
  CHECK(to_string(array(Complex(0.1F, -0.25F))) == "(0.1-0.25j)");
  CHECK(to_string(array(Complex(0, 3))) == "3j");
  CHECK(to_string(array(Complex(-0.0F, -0.0F))) == "(-0-0j)");
  CHECK(to_string(array(Complex(1e20F, 1e-7F))) == "(1e+20+1e-07j)");
  CHECK(to_string(array(Complex(nan, -inf))) == "(nan-infj)");
  CHECK(to_string(array(Complex(0, inf))) == "infj");
  CHECK(repr(array(Complex(1, 2))) == "array(1.+2.j, dtype=complex64)");
}

TEST_CASE("numbers of very different size get exponents") {
  check({
      {array{1e-5F, 1.0F, 2.0F}, R"([1.e-05 1.e+00 2.e+00])",
       R"(array([1.e-05, 1.e+00, 2.e+00], dtype=float32))"},
      {array{123456789.0F, 1.0F}, R"([1.2345679e+08 1.0000000e+00])",
       R"(array([1.2345679e+08, 1.0000000e+00], dtype=float32))"},
      {array{0.1F, 1000.5F}, R"([1.0000e-01 1.0005e+03])",
       R"(array([1.0000e-01, 1.0005e+03], dtype=float32))"},
  });
}

TEST_CASE("whole numbers beyond the digits of their type are shown exactly in arrays") {
  check({
      {array{60240032.0F}, R"([60240032.])", R"(array([60240032.], dtype=float32))"},
      {array{Float16(-4328.0F), Float16(10008.0F)}, R"([-4328. 10008.])",
       R"(array([-4328., 10008.], dtype=float16))"},
      {array{Float16(-18208.0F)}, R"([-18208.])", R"(array([-18208.], dtype=float16))"},
      {array(Float16(-4328.0F)), R"(-4330.0)", R"(array(-4328., dtype=float16))"},
      {array{std::complex<float>(0.5F, 99956288.0F)}, R"([0.5+99956288.j])",
       R"(array([0.5+99956288.j], dtype=complex64))"},
  });
}

TEST_CASE("how different numbers are is measured in their own type") {
  check({
      {array{0.7F, 700.0F}, R"([  0.7 700. ])", R"(array([  0.7, 700. ], dtype=float32))"},
      {array{0.7F, 701.0F}, R"([7.00e-01 7.01e+02])",
       R"(array([7.00e-01, 7.01e+02], dtype=float32))"},
      {array{Float16(0.1F), Float16(100.0F)}, R"([  0.1 100. ])",
       R"(array([  0.1, 100. ], dtype=float16))"},
  });
}

TEST_CASE("infinities and what is no number keep their columns") {
  check({
      {array{kNan, 1.0F, kInfinity}, R"([nan  1. inf])",
       R"(array([nan,  1., inf], dtype=float32))"},
      {array{-kInfinity, 1.5F}, R"([-inf  1.5])", R"(array([-inf,  1.5], dtype=float32))"},
      {array{kNan, kNan}, R"([nan nan])", R"(array([nan, nan], dtype=float32))"},
      {array{kNan, 1e20F}, R"([   nan 1.e+20])", R"(array([   nan, 1.e+20], dtype=float32))"},
  });
}

TEST_CASE("axes are brackets, views are read in their own order") {
  check({
      {array(scaled(6, 0.25F), Shape{2, 3}),
       R"([[0.   0.25 0.5 ]
 [0.75 1.   1.25]])",
       R"(array([[0.  , 0.25, 0.5 ],
       [0.75, 1.  , 1.25]], dtype=float32))"},
      {array(counted(8), Shape{2, 2, 2}),
       R"([[[0 1]
  [2 3]]

 [[4 5]
  [6 7]]])",
       R"(array([[[0, 1],
        [2, 3]],

       [[4, 5],
        [6, 7]]], dtype=int32))"},
      {array(counted(6), Shape{2, 3}).transposed(),
       R"([[0 3]
 [1 4]
 [2 5]])",
       R"(array([[0, 3],
       [1, 4],
       [2, 5]], dtype=int32))"},
  });
}

TEST_CASE("arrays without elements and without axes") {
  check({
      {array::empty({0}, Dtype::Float32), R"([])", R"(array([], dtype=float32))"},
      {array::empty({0, 3}, Dtype::Float32), R"([])", R"(array([], shape=(0, 3), dtype=float32))"},
      {array(1.5F), R"(1.5)", R"(array(1.5, dtype=float32))"},
      {array(3.0F), R"(3.0)", R"(array(3., dtype=float32))"},
      {array(1e-7F), R"(1e-07)", R"(array(1.e-07, dtype=float32))"},
      {array(-7), R"(-7)", R"(array(-7, dtype=int32))"},
      {array(true), R"(True)", R"(array(True))"},
  });
}

TEST_CASE("rows longer than a line are broken") {
  check({
      {array(scaled(30, 1.5F)),
       R"([ 0.   1.5  3.   4.5  6.   7.5  9.  10.5 12.  13.5 15.  16.5 18.  19.5
 21.  22.5 24.  25.5 27.  28.5 30.  31.5 33.  34.5 36.  37.5 39.  40.5
 42.  43.5])",
       R"(array([ 0. ,  1.5,  3. ,  4.5,  6. ,  7.5,  9. , 10.5, 12. , 13.5, 15. ,
       16.5, 18. , 19.5, 21. , 22.5, 24. , 25.5, 27. , 28.5, 30. , 31.5,
       33. , 34.5, 36. , 37.5, 39. , 40.5, 42. , 43.5], dtype=float32))"},
      {array(counted(40)),
       R"([ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23
 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39])",
       R"(array([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16,
       17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33,
       34, 35, 36, 37, 38, 39], dtype=int32))"},
  });
}

TEST_CASE("of large arrays the ends are shown") {
  check({
      {array(counted(1001)), R"([   0    1    2 ...  998  999 1000])",
       R"(array([   0,    1,    2, ...,  998,  999, 1000], dtype=int32))"},
      {array(scaled(2000, 1), Shape{40, 50}),
       R"([[0.000e+00 1.000e+00 2.000e+00 ... 4.700e+01 4.800e+01 4.900e+01]
 [5.000e+01 5.100e+01 5.200e+01 ... 9.700e+01 9.800e+01 9.900e+01]
 [1.000e+02 1.010e+02 1.020e+02 ... 1.470e+02 1.480e+02 1.490e+02]
 ...
 [1.850e+03 1.851e+03 1.852e+03 ... 1.897e+03 1.898e+03 1.899e+03]
 [1.900e+03 1.901e+03 1.902e+03 ... 1.947e+03 1.948e+03 1.949e+03]
 [1.950e+03 1.951e+03 1.952e+03 ... 1.997e+03 1.998e+03 1.999e+03]])",
       R"(array([[0.000e+00, 1.000e+00, 2.000e+00, ..., 4.700e+01, 4.800e+01,
        4.900e+01],
       [5.000e+01, 5.100e+01, 5.200e+01, ..., 9.700e+01, 9.800e+01,
        9.900e+01],
       [1.000e+02, 1.010e+02, 1.020e+02, ..., 1.470e+02, 1.480e+02,
        1.490e+02],
       ...,
       [1.850e+03, 1.851e+03, 1.852e+03, ..., 1.897e+03, 1.898e+03,
        1.899e+03],
       [1.900e+03, 1.901e+03, 1.902e+03, ..., 1.947e+03, 1.948e+03,
        1.949e+03],
       [1.950e+03, 1.951e+03, 1.952e+03, ..., 1.997e+03, 1.998e+03,
        1.999e+03]], dtype=float32))"},
      {array(counted(1200), Shape{300, 4}),
       R"([[   0    1    2    3]
 [   4    5    6    7]
 [   8    9   10   11]
 ...
 [1188 1189 1190 1191]
 [1192 1193 1194 1195]
 [1196 1197 1198 1199]])",
       R"(array([[   0,    1,    2,    3],
       [   4,    5,    6,    7],
       [   8,    9,   10,   11],
       ...,
       [1188, 1189, 1190, 1191],
       [1192, 1193, 1194, 1195],
       [1196, 1197, 1198, 1199]], dtype=int32))"},
      {array(counted(4096), Shape{16, 16, 16}),
       R"([[[   0    1    2 ...   13   14   15]
  [  16   17   18 ...   29   30   31]
  [  32   33   34 ...   45   46   47]
  ...
  [ 208  209  210 ...  221  222  223]
  [ 224  225  226 ...  237  238  239]
  [ 240  241  242 ...  253  254  255]]

 [[ 256  257  258 ...  269  270  271]
  [ 272  273  274 ...  285  286  287]
  [ 288  289  290 ...  301  302  303]
  ...
  [ 464  465  466 ...  477  478  479]
  [ 480  481  482 ...  493  494  495]
  [ 496  497  498 ...  509  510  511]]

 [[ 512  513  514 ...  525  526  527]
  [ 528  529  530 ...  541  542  543]
  [ 544  545  546 ...  557  558  559]
  ...
  [ 720  721  722 ...  733  734  735]
  [ 736  737  738 ...  749  750  751]
  [ 752  753  754 ...  765  766  767]]

 ...

 [[3328 3329 3330 ... 3341 3342 3343]
  [3344 3345 3346 ... 3357 3358 3359]
  [3360 3361 3362 ... 3373 3374 3375]
  ...
  [3536 3537 3538 ... 3549 3550 3551]
  [3552 3553 3554 ... 3565 3566 3567]
  [3568 3569 3570 ... 3581 3582 3583]]

 [[3584 3585 3586 ... 3597 3598 3599]
  [3600 3601 3602 ... 3613 3614 3615]
  [3616 3617 3618 ... 3629 3630 3631]
  ...
  [3792 3793 3794 ... 3805 3806 3807]
  [3808 3809 3810 ... 3821 3822 3823]
  [3824 3825 3826 ... 3837 3838 3839]]

 [[3840 3841 3842 ... 3853 3854 3855]
  [3856 3857 3858 ... 3869 3870 3871]
  [3872 3873 3874 ... 3885 3886 3887]
  ...
  [4048 4049 4050 ... 4061 4062 4063]
  [4064 4065 4066 ... 4077 4078 4079]
  [4080 4081 4082 ... 4093 4094 4095]]])",
       R"(array([[[   0,    1,    2, ...,   13,   14,   15],
        [  16,   17,   18, ...,   29,   30,   31],
        [  32,   33,   34, ...,   45,   46,   47],
        ...,
        [ 208,  209,  210, ...,  221,  222,  223],
        [ 224,  225,  226, ...,  237,  238,  239],
        [ 240,  241,  242, ...,  253,  254,  255]],

       [[ 256,  257,  258, ...,  269,  270,  271],
        [ 272,  273,  274, ...,  285,  286,  287],
        [ 288,  289,  290, ...,  301,  302,  303],
        ...,
        [ 464,  465,  466, ...,  477,  478,  479],
        [ 480,  481,  482, ...,  493,  494,  495],
        [ 496,  497,  498, ...,  509,  510,  511]],

       [[ 512,  513,  514, ...,  525,  526,  527],
        [ 528,  529,  530, ...,  541,  542,  543],
        [ 544,  545,  546, ...,  557,  558,  559],
        ...,
        [ 720,  721,  722, ...,  733,  734,  735],
        [ 736,  737,  738, ...,  749,  750,  751],
        [ 752,  753,  754, ...,  765,  766,  767]],

       ...,

       [[3328, 3329, 3330, ..., 3341, 3342, 3343],
        [3344, 3345, 3346, ..., 3357, 3358, 3359],
        [3360, 3361, 3362, ..., 3373, 3374, 3375],
        ...,
        [3536, 3537, 3538, ..., 3549, 3550, 3551],
        [3552, 3553, 3554, ..., 3565, 3566, 3567],
        [3568, 3569, 3570, ..., 3581, 3582, 3583]],

       [[3584, 3585, 3586, ..., 3597, 3598, 3599],
        [3600, 3601, 3602, ..., 3613, 3614, 3615],
        [3616, 3617, 3618, ..., 3629, 3630, 3631],
        ...,
        [3792, 3793, 3794, ..., 3805, 3806, 3807],
        [3808, 3809, 3810, ..., 3821, 3822, 3823],
        [3824, 3825, 3826, ..., 3837, 3838, 3839]],

       [[3840, 3841, 3842, ..., 3853, 3854, 3855],
        [3856, 3857, 3858, ..., 3869, 3870, 3871],
        [3872, 3873, 3874, ..., 3885, 3886, 3887],
        ...,
        [4048, 4049, 4050, ..., 4061, 4062, 4063],
        [4064, 4065, 4066, ..., 4077, 4078, 4079],
        [4080, 4081, 4082, ..., 4093, 4094, 4095]]], dtype=int32))"},
  });
}

TEST_CASE("types that NumPy lacks print like those it has") {
  CHECK(repr(array{BFloat16(1.0F), BFloat16(0.1F)}) == "array([1. , 0.1], dtype=bfloat16)");
  CHECK(to_string(array{BFloat16(1 / 3.0F)}) == "[0.334]");
}

TEST_CASE("options change digits, elision and width") {
  CHECK(to_string(array{1 / 3.0F, 2.0F}, {.precision = 3}) == "[0.333 2.   ]");
  CHECK(to_string(array(counted(10)), {.threshold = 5, .edge_items = 1}) == "[0 ... 9]");
  CHECK(to_string(array(counted(6)), {.line_width = 8}) == "[0 1 2\n 3 4 5]");
}

TEST_CASE("arrays can be written to streams, lazy ones too") {
  std::ostringstream stream;
  stream << array{1.0F, 2.0F} + 1;
  CHECK(stream.str() == "[2. 3.]");
}

TEST_CASE("the digits of every half mean that half") {
  for (std::uint32_t bits = 0; bits < 0x7c00; bits += 7) {
    Float16 half;
    half.bits = static_cast<std::uint16_t>(bits);
    const auto number = static_cast<float>(half);
    const std::string text = pewter::text::scientific(number, Dtype::Float16, 8);
    CHECK(Float16(std::stof(text)) == half);
  }
}
