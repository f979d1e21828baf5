// SPDX-License-Identifier: MIT
#include "tests/device/model/agreement.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace warpmeter::agreement {
namespace {

template <class T>
double difference_of(const std::vector<std::byte>& one, const std::vector<std::byte>& other) {
  double largest = 0;
  for (std::size_t at = 0; at + sizeof(T) <= one.size(); at += sizeof(T)) {
    T x = 0, y = 0;
    std::memcpy(&x, &one[at], sizeof x);
    std::memcpy(&y, &other[at], sizeof y);
    if (std::memcmp(&x, &y, sizeof x) == 0) continue;
    const double scale = std::max({std::fabs(double{x}), std::fabs(double{y}), 1e-6});
    const double distance = std::fabs(double{x} - double{y}) / scale;
    if (std::isnan(distance)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, distance);
  }
  return largest;
}

}  // namespace

const std::vector<std::string>& counter_names() {
  static const std::vector<std::string> names = {
      "shared_load_wavefronts",
      "shared_load_requests",
      "shared_store_wavefronts",
      "shared_store_requests",
      "global_load_sectors",
      "global_load_requests",
      "global_load_bytes",
      "global_store_sectors",
      "global_store_requests",
      "global_store_bytes",
      "shared_atomic_wavefronts",
      "shared_atomic_requests",
      "global_atomic_sectors",
      "global_atomic_requests",
      "global_reduction_sectors",
      "global_reduction_requests",
      "shared_matrix_load_wavefronts",
      "shared_matrix_load_requests",
      "shared_matrix_store_wavefronts",
      "shared_matrix_store_requests",
      "warp_instructions",
      "thread_instructions",
  };
  return names;
}

Answer ask(run::Backend& backend, const Case& which) {
  const kernels::Problem problem = which.problem();
  const auto workload = backend.load(problem);
  const run::Launch launch{which.image, std::string(which.entry), which.geometry};
  run::Execution execution = workload->execute(launch);
  Answer answer{execution.failure, std::move(execution.buffers), {}};
  if (!answer.failure.empty()) return answer;
  const auto counted = workload->count({&launch, 1});
  for (const schema::Counter& counter : counted.at(0)) answer.counters[counter.name] = counter;
  return answer;
}

std::uint64_t checksum(const Case& which, const Answer& answer) {
  if (which.tolerance != 0) return 0;
  std::uint64_t hash = 0xCBF29CE484222325ULL;  // FNV-1a
  for (const auto& buffer : answer.buffers) {
    for (const std::byte byte : buffer) {
      hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001B3ULL;
    }
  }
  return hash;
}

double difference(const Case& which, const Answer& one, const Answer& other) {
  const double infinite = std::numeric_limits<double>::infinity();
  if (one.buffers.size() != other.buffers.size()) return infinite;
  if (which.tolerance == 0) return one.buffers == other.buffers ? 0 : infinite;
  const kernels::Problem problem = which.problem();
  double largest = 0;
  for (std::size_t b = 0; b < one.buffers.size(); ++b) {
    const bool is_double = problem.buffers[b].type == Element::f64;
    const double apart = is_double ? difference_of<double>(one.buffers[b], other.buffers[b])
                                   : difference_of<float>(one.buffers[b], other.buffers[b]);
    largest = std::max(largest, apart);
  }
  return largest;
}

}  // namespace warpmeter::agreement
