// SPDX-License-Identifier: MIT
// The cost of --check: every variant of the catalogue at its default sizes, plain and checked on
// one thread of the host, each the least of three in seconds of the processor; and plain on all
// threads, on the wall. A row a family, the sum last, and the memory that the checker took at most.
//
//   check_cost [TIMES [FAMILY]]   exit code 1 when the sum is more than TIMES (3) the plain one's
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "collector/model/check/checker.h"
#include "tests/bench/catalogue_cost.h"
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

Cost cost_of(const kernels::Family& family, const kernels::Variant& variant, std::int64_t n) {
  const kernels::Problem problem = family.prepare(n);
  auto prepared = model::prepare_launch(*variant.image, variant.entry, problem);
  const Geometry geometry = variant.geometry(n);
  const auto run = [&](unsigned threads, model::check::Checker* checker) {
    model::LaunchOptions options;
    options.threads = threads;
    options.observer = checker;
    model::launch(prepared->program, geometry, prepared->parameters, prepared->memory, options);
  };
  Cost cost;
  cost.plain = bench::least_of_three([&] { run(1, nullptr); }, bench::processor_seconds);
  cost.side_by_side = bench::least_of_three([&] { run(0, nullptr); });
  const auto run_checked = [&] {
    model::check::WrittenMemory written;
    model::check::Checker checker(prepared->program, geometry, prepared->memory, written,
                                  model::check::Wanted::findings);
    run(1, &checker);
    cost.bytes = std::max(cost.bytes, checker.bytes());
  };
  cost.checked = bench::least_of_three(run_checked, bench::processor_seconds);
  return cost;
}

}  // namespace

int main(int argc, char** argv) {
  const double most = argc > 1 ? std::atof(argv[1]) : 3;
  const std::string_view only = argc > 2 ? argv[2] : "";
  fmt::print("{:16} {:>9} {:>9} {:>9} {:>8} {:>8} {:>9}\n", "family", "plain s", "threads s",
             "checked s", "ratio", "ratio", "memory MB");
  const auto print = [](std::string_view name, const Cost& cost) {
    fmt::print("{:16} {:9.3f} {:9.3f} {:9.3f} {:8.2f} {:8.2f} {:9.0f}\n", name, cost.plain,
               cost.side_by_side, cost.checked, cost.checked / cost.plain,
               cost.checked / cost.side_by_side, static_cast<double>(cost.bytes) / 1e6);
  };
  const Cost all = bench::add_up<Cost>(true, cost_of, print, only);
  return all.checked <= most * all.plain ? 0 : 1;
}
