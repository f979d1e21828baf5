// What explaining adds to a counted execution: every variant of the catalogue at its default sizes,
// on one thread of the host, counted alone, and recorded, explained and every layout tried; each
// the least of three. A row a family, the sum last.
//
//   explain_cost [TIMES]      exit code 1 when a family takes more than TIMES (1.5) as long
#include <fmt/format.h>

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
  double counted = 0, explained = 0;  ///< seconds

  Cost& operator+=(const Cost& other) {
    counted += other.counted;
    explained += other.explained;
    return *this;
  }
  double ratio() const { return explained / counted; }
};

Cost cost_of(const kernels::Family& family, const kernels::Variant& variant, std::int64_t n) {
  const kernels::Problem problem = family.prepare(n);
  auto prepared = model::prepare_launch(*family.image, variant.entry, problem);
  const Geometry geometry = variant.geometry(n);
  const auto run = [&](bool records) {
    model::LaunchOptions options;
    options.threads = 1;
    options.records = records;
    const model::LaunchOutcome outcome =
        model::launch(prepared->program, geometry, prepared->parameters, prepared->memory, options);
    if (!records) return;
    model::explain::Options explaining;
    explaining.source = [&](const std::string&) { return std::string(family.image->source); };
    explaining.buffer = model::explain::buffer_names(prepared->memory);
    model::explain::explain(prepared->program, geometry, outcome, explaining);
  };
  return {bench::least_of_three([&] { run(false); }), bench::least_of_three([&] { run(true); })};
}

}  // namespace

int main(int argc, char** argv) {
  const double most = argc > 1 ? std::atof(argv[1]) : 1.5;
  fmt::print("{:16} {:>10} {:>10} {:>8}\n", "family", "counted s", "explained s", "ratio");
  double worst = 0;
  bench::add_up<Cost>(false, cost_of, [&](std::string_view name, const Cost& cost) {
    fmt::print("{:16} {:10.3f} {:10.3f} {:8.2f}\n", name, cost.counted, cost.explained,
               cost.ratio());
    worst = std::max(worst, cost.ratio());
  });
  return worst > most ? 1 : 0;
}
