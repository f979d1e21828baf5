// What explaining adds to a counted execution: every variant of the catalogue at its default sizes,
// on one thread of the host, counted alone, and recorded, explained and every layout tried; each
// the least of three. A row a family, the sum last.
//
//   explain_cost [TIMES]      exit code 1 when a family takes more than TIMES (1.5) as long
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>

#include "collector/model/explain/explain.h"
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
  return {least_of_three([&] { run(false); }), least_of_three([&] { run(true); })};
}

void print(const std::string& name, const Cost& cost) {
  fmt::print("{:16} {:10.3f} {:10.3f} {:8.2f}\n", name, cost.counted, cost.explained, cost.ratio());
}

}  // namespace

int main(int argc, char** argv) {
  const double most = argc > 1 ? std::atof(argv[1]) : 1.5;
  fmt::print("{:16} {:>10} {:>10} {:>8}\n", "family", "counted s", "explained s", "ratio");
  Cost all;
  double worst = 0;
  for (const kernels::Family* family : kernels::registry()) {
    Cost cost;
    for (const kernels::Variant& variant : family->variants) {
      if (!variant.library.empty()) continue;
      const std::int64_t n = family->sizes.empty() ? 0 : family->sizes.front();
      cost += cost_of(*family, variant, n);
    }
    print(family->name, cost);
    all += cost;
    worst = std::max(worst, cost.ratio());
  }
  print("all", all);
  return worst > most ? 1 : 0;
}
