// SPDX-License-Identifier: MIT
// The cost that explaining adds to a counted execution: every variant of the catalogue at its
// default sizes, on one thread of the host, counted alone, recorded as well, and recorded and
// explained with every layout tried; each the least of three or more. A row a family, the sum last.
//
//   explain_cost [TIMES [FAMILY]]      exit code 1 when a family takes more than TIMES (1.5) as
//   long
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "collector/model/explain/explain.h"
#include "tests/bench/catalogue_cost.h"
#include "tests/collector/model/prepared_launch.h"

namespace {

using namespace warpmeter;

struct Cost {
  double counted = 0, recorded = 0, explained = 0;  ///< seconds; each holds the one before it
  int launches = 0;

  Cost& operator+=(const Cost& other) {
    counted += other.counted;
    recorded += other.recorded;
    launches += other.launches;
    explained += other.explained;
    return *this;
  }
  double ratio() const { return explained / counted; }
};

Cost cost_of(const kernels::Family& family, const kernels::Variant& variant, std::int64_t n) {
  const kernels::Problem problem = family.prepare(n);
  auto prepared = model::prepare_launch(*variant.image, variant.entry, problem);
  const Geometry geometry = variant.geometry(n);
  model::explain::Sources sources(
      [&](const std::string&) { return std::string(variant.image->source); });
  const auto run = [&](bool records, bool explains) {
    model::LaunchOptions options;
    options.threads = 1;
    options.records = records;
    const model::LaunchOutcome outcome =
        model::launch(prepared->program, geometry, prepared->parameters, prepared->memory, options);
    if (!explains) return;
    model::explain::Options explaining;
    explaining.sources = &sources;
    explaining.buffer = model::explain::buffers_of(prepared->memory);
    model::explain::explain(prepared->program, geometry, outcome, explaining);
  };
  const auto seconds = [&](bool records, bool explains) {
    return bench::least_of_three([&] { run(records, explains); }, bench::processor_seconds);
  };
  // In turns: how much a processor does in a second depends on what its neighbours do.
  constexpr double enough = 0.3;
  Cost least{1e9, 1e9, 1e9, 1};
  const double end = bench::processor_seconds() + enough;
  do {
    least.counted = std::min(least.counted, seconds(false, false));
    least.recorded = std::min(least.recorded, seconds(true, false));
    least.explained = std::min(least.explained, seconds(true, true));
  } while (bench::processor_seconds() < end);
  return least;
}

}  // namespace

int main(int argc, char** argv) {
  // Freed memory stays with the process. Else it is chance which runs have to ask the system for
  // their memory again, and that takes longer than all the rest of a short launch.
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // more is refused
  const double most = argc > 1 ? std::atof(argv[1]) : 1.5;
  const std::string_view only = argc > 2 ? argv[2] : "";
  fmt::print("{:16} {:>10} {:>10} {:>11} {:>6} {:>16}\n", "family", "counted s", "recorded s",
             "explained s", "ratio", "ms more a launch");
  bool is_broken = false;
  bench::add_up<Cost>(
      true, cost_of,
      [&](std::string_view name, const Cost& cost) {
        fmt::print("{:16} {:10.5f} {:10.5f} {:11.5f} {:6.2f} {:16.3f}\n", name, cost.counted,
                   cost.recorded, cost.explained, cost.ratio(),
                   1e3 * (cost.explained - cost.counted) / cost.launches);
        is_broken = is_broken || cost.ratio() > most;
      },
      only);
  return is_broken ? 1 : 0;
}
