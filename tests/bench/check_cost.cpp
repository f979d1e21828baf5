// What --check costs: every variant of the catalogue at its default sizes, plain on one thread of
// the host, plain on all, and checked, each the least of three. A row a family, the sum last, and
// the memory that the checker took at most.
//
//   check_cost [TIMES]      exit code 1 when the sum is more than TIMES (6) the plain one's
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>

#include "collector/model/check/checker.h"
#include "tests/collector/model/prepared_launch.h"

namespace {

using namespace warpmeter;

struct Cost {
  double plain = 0, side_by_side = 0, checked = 0;  ///< seconds
  std::size_t bytes = 0;

  Cost& operator+=(const Cost& other) {
    plain += other.plain;
    side_by_side += other.side_by_side;
    checked += other.checked;
    bytes = std::max(bytes, other.bytes);
    return *this;
  }
};

double least_of_three(const std::function<void()>& run) {
  double least = 1e9;
  for (int i = 0; i < 3; ++i) {
    const auto start = std::chrono::steady_clock::now();
    run();
    least = std::min(
        least, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return least;
}

Cost cost_of(const kernels::Family& family, const kernels::Variant& variant, std::int64_t n) {
  const kernels::Problem problem = family.prepare(n);
  auto prepared = model::prepare_launch(*family.image, variant.entry, problem);
  const Geometry geometry = variant.geometry(n);
  const auto run = [&](unsigned threads, model::check::Checker* checker) {
    model::LaunchOptions options;
    options.threads = threads;
    options.observer = checker;
    model::launch(prepared->program, geometry, prepared->parameters, prepared->memory, options);
  };
  Cost cost;
  cost.plain = least_of_three([&] { run(1, nullptr); });
  cost.side_by_side = least_of_three([&] { run(0, nullptr); });
  cost.checked = least_of_three([&] {
    model::check::WrittenMemory written;
    model::check::Checker checker(prepared->program, geometry, prepared->memory, written);
    run(1, &checker);
    cost.bytes = std::max(cost.bytes, checker.bytes());
  });
  return cost;
}

void print(const std::string& name, const Cost& cost) {
  fmt::print("{:16} {:9.3f} {:9.3f} {:9.3f} {:8.2f} {:8.2f} {:9.0f}\n", name, cost.plain,
             cost.side_by_side, cost.checked, cost.checked / cost.plain,
             cost.checked / cost.side_by_side, static_cast<double>(cost.bytes) / 1e6);
}

}  // namespace

int main(int argc, char** argv) {
  const double most = argc > 1 ? std::atof(argv[1]) : 6;
  fmt::print("{:16} {:>9} {:>9} {:>9} {:>8} {:>8} {:>9}\n", "family", "plain s", "threads s",
             "checked s", "ratio", "ratio", "memory MB");
  Cost all;
  for (const kernels::Family* family : kernels::registry()) {
    Cost cost;
    const std::vector<std::int64_t> sizes =
        family->has_sizes() ? std::vector<std::int64_t>(family->sizes.begin(), family->sizes.end())
                            : std::vector<std::int64_t>{0};
    for (const kernels::Variant& variant : family->variants) {
      if (!variant.library.empty()) continue;  // not ours to execute
      for (const std::int64_t n : sizes) cost += cost_of(*family, variant, n);
    }
    print(std::string(family->name), cost);
    all += cost;
  }
  print("all", all);
  return all.checked <= most * all.plain ? 0 : 1;
}
