// SPDX-License-Identifier: MIT
// The catalogue's cost in a way of executing it: times of its variants, added up by family.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <functional>
#include <span>
#include <string_view>

#include "collector/family/catalogue.h"

namespace warpmeter::bench {

/// Seconds on the wall.
inline double elapsed_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Seconds that the process has had of the processors: what else the machine does is not among
/// them.
inline double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Seconds of a run, the least of three; of short runs, of as many as take 20 ms.
inline double least_of_three(const std::function<void()>& run,
                             double (*seconds)() = elapsed_seconds) {
  constexpr double enough = 0.02;
  double least = 1e9, all = 0;
  for (int i = 0; i < 3 || all < enough; ++i) {
    const double start = seconds();
    run();
    const double took = seconds() - start;
    least = std::min(least, took);
    all += took;
  }
  return least;
}

/// `cost_of(family, variant, size)` of every variant that is ours to execute, added up; calls
/// `print(name, cost)` for each family and at last for all. Returns the sum. `only`: a family.
template <class Cost, class CostOf, class Print>
Cost add_up(bool every_size, CostOf&& cost_of, Print&& print, std::string_view only = "") {
  Cost all;
  for (const kernels::Family* family : family::catalogue()) {
    if (!only.empty() && family->name != only) continue;
    Cost cost;
    static constexpr std::int64_t none[] = {0};
    std::span<const std::int64_t> sizes = family->sizes;
    if (sizes.empty()) sizes = none;
    if (!every_size) sizes = sizes.first(1);
    for (const kernels::Variant& variant : family->variants) {
      if (!variant.library.empty()) continue;
      for (const std::int64_t n : sizes) cost += cost_of(*family, variant, n);
    }
    print(family->name, cost);
    all += cost;
  }
  print("all", all);
  return all;
}

}  // namespace warpmeter::bench
