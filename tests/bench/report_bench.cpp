// How long a report and a comparison take on a database with a million metric rows: 10,000 launches
// with 100 counters and 20 timing samples each, in 100 runs or in two. The aim is less than a
// second, and less than 300 MB.
#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "reports/compare/compare.h"
#include "reports/report.h"
#include "schema/store.h"

namespace warpmeter {
namespace {

constexpr int all_launches = 10'000, counters_a_launch = 100, samples_a_launch = 20;

/// The standard counters under their names, the rest as PerfWorks names.
std::vector<schema::Counter> counters() {
  std::vector<schema::Counter> all;
  for (const char* name :
       {"shared_load_wavefronts", "shared_load_requests", "shared_store_wavefronts",
        "shared_store_requests", "global_load_sectors", "global_load_requests", "global_load_bytes",
        "global_store_sectors", "global_store_requests", "global_store_bytes"}) {
    all.push_back({name, 32768.0, schema::Grade::measured, ""});
  }
  for (int i = 0; static_cast<int>(all.size()) < counters_a_launch; ++i) {
    all.push_back({"sm__counter_" + std::to_string(i) + ".sum", i, schema::Grade::measured, ""});
  }
  return all;
}

/// Launches of a run from number `first` on; `random` makes their times.
std::vector<schema::Launch> launches(int first, int count, std::mt19937& random) {
  std::normal_distribution<double> noise(0, 100);
  std::vector<schema::Launch> all;
  for (int i = first; i < first + count; ++i) {
    schema::Launch launch;
    launch.family = "family_" + std::to_string(i / 10);
    launch.variant = "variant_" + std::to_string(i % 10);
    launch.size = 1024;
    launch.useful_bytes_read = launch.useful_bytes_written = 4 * 1024 * 1024;
    launch.counters = counters();
    launch.timing = schema::Timing{{}, schema::CacheState::cold, 0.004, "confidence"};
    for (int k = 0; k < samples_a_launch; ++k) {
      launch.timing->samples_ns.push_back(20000 + 100 * i + noise(random));
    }
    launch.expectations = {{"gld_efficiency", "==", 100, "neighbours load neighbours"}};
    all.push_back(std::move(launch));
  }
  return all;
}

/// Made once for all benchmarks that use it, and removed at the end. Every second run is labelled
/// "even", the others "odd".
class MillionRows {
 public:
  explicit MillionRows(int runs) {
    std::string pattern = (std::filesystem::temp_directory_path() / "warpmeter_XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary directory");
    directory_ = pattern;
    schema::Store store(path());
    schema::Run run;
    run.backend = "cupti";
    schema::Device device;
    device.backend = "cupti";
    device.name = "NVIDIA H200";
    constexpr int together = 100;
    std::mt19937 random(1);
    for (int i = 0; i < runs; ++i) {
      run.label = i % 2 == 0 ? "even" : "odd";
      last_ = store.begin_run(run);
      const std::int64_t id = store.add_device(last_, device);
      for (int first = 0; first < all_launches / runs; first += together) {
        store.add_launches(last_, id, launches(first, together, random));
      }
      store.end_run(last_, schema::RunOutcome::done, "");
    }
  }
  ~MillionRows() { std::filesystem::remove_all(directory_); }
  MillionRows(const MillionRows&) = delete;

  std::string path() const { return (directory_ / "million.db").string(); }
  std::int64_t last() const { return last_; }

 private:
  std::filesystem::path directory_;
  std::int64_t last_ = 0;
};

const MillionRows& in_100_runs() {
  static const MillionRows database(100);
  return database;
}

const MillionRows& in_2_runs() {
  static const MillionRows database(2);
  return database;
}

/// Of the whole program so far, the making of the database included.
void count_memory(benchmark::State& state) {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  state.counters["peak_MB"] = static_cast<double>(used.ru_maxrss) / 1000;
}

void report(benchmark::State& state, reports::Format format) {
  const MillionRows& database = in_100_runs();
  for (auto _ : state) {
    const schema::Reader reader(database.path());
    benchmark::DoNotOptimize(reports::render_report(reader, database.last(), format));
  }
  count_memory(state);
}

void compare(benchmark::State& state, const MillionRows& (&database)(),
             const reports::CompareRequest& request) {
  const std::string path = database().path();
  for (auto _ : state) {
    const schema::Reader reader(path);
    const reports::Comparison comparison = reports::compare(reader, request);
    benchmark::DoNotOptimize(reports::render(comparison, reports::Format::markdown));
  }
  count_memory(state);
}

BENCHMARK_CAPTURE(report, markdown_of_million_rows, reports::Format::markdown)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(report, csv_of_million_rows, reports::Format::csv)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(report, json_of_million_rows, reports::Format::json)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compare, last_two_of_100_runs, in_100_runs, {})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compare, labels_of_50_runs_each, in_100_runs,
                  {reports::Key::label, {"even", "odd"}})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compare, runs_of_5000_launches, in_2_runs, {})->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace warpmeter
