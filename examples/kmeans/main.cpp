// k-means clustering with arrays: distances by broadcasting, assignment by argmin, and the new
// centres as one matrix product.
#include <pewter/eval.h>
#include <pewter/ops.h>
#include <pewter/printing.h>
#include <pewter/random.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <iostream>
#include <vector>

using namespace pewter;

namespace {

constexpr std::int64_t kClusters = 3;
constexpr std::int64_t kPerCluster = 500;

/// Clouds of points around the given centres.
array points_around(const array& centres) {
  const array noise =
      random::normal({kClusters, kPerCluster, 2}, Dtype::Float32, 0, 0.4F, random::key(11));
  return reshape(expand_dims(centres, 1) + noise, {kClusters * kPerCluster, 2});
}

/// Which centre is nearest to each point.
array nearest(const array& points, const array& centres) {
  const array apart = expand_dims(points, 1) - expand_dims(centres, 0);
  return argmin(sum(square(apart), -1), -1);
}

/// The mean of the points of each cluster.
array moved(const array& points, const array& clusters) {
  const array numbers = expand_dims(arange(static_cast<int>(kClusters)), 1);
  const array is_member = astype(expand_dims(clusters, 0) == numbers, Dtype::Float32);
  return matmul(is_member, points) / maximum(sum(is_member, -1, true), array(1.0F));
}

/// The greatest distance of a true centre from the nearest one that was found.
double error_of(const array& found, const array& expected) {
  const std::vector<float> f = found.to_vector<float>();
  const std::vector<float> e = expected.to_vector<float>();
  double worst = 0;
  for (std::size_t i = 0; i < e.size(); i += 2) {
    double best = INFINITY;
    for (std::size_t j = 0; j < f.size(); j += 2) {
      best = std::min(best, static_cast<double>(std::hypot(f[j] - e[i], f[j + 1] - e[i + 1])));
    }
    worst = std::max(worst, best);
  }
  return worst;
}

int run() {
  const array truth({{0.0F, 0.0F}, {4.0F, 1.0F}, {1.0F, 5.0F}});
  const array points = points_around(truth);
  // One point of each cloud, so that no cluster starts empty.
  array centres = slice(points, {0, 0}, {kClusters * kPerCluster, 2}, {kPerCluster, 1});
  for (int step = 0; step < 10; ++step) {
    centres = moved(points, nearest(points, centres));
    eval(centres);
  }
  std::cout << "centres:\n" << centres << '\n';
  const double error = error_of(centres, truth);
  std::printf("farthest from the truth: %.3f\n", error);
  return error < 0.1 ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kmeans: %s\n", error.what());
    return 1;
  }
}
