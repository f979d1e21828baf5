// How long a report takes on the last run of a database with a million metric rows: 100 runs of 100
// launches with 100 counters each. The aim is less than a second.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "reports/report.h"
#include "schema/store.h"

namespace warpmeter {
namespace {

constexpr int runs = 100, launches_a_run = 100, counters_a_launch = 100;

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

std::vector<schema::Launch> launches() {
  std::vector<schema::Launch> all;
  for (int i = 0; i < launches_a_run; ++i) {
    schema::Launch launch;
    launch.family = "family_" + std::to_string(i / 10);
    launch.variant = "variant_" + std::to_string(i % 10);
    launch.size = 1024;
    launch.useful_bytes_read = launch.useful_bytes_written = 4 * 1024 * 1024;
    launch.counters = counters();
    launch.timing = schema::Timing{{5000.0 + i}, schema::CacheState::cold, 0.004, "confidence"};
    launch.expectations = {{"gld_efficiency", "==", 100, "neighbours load neighbours"}};
    all.push_back(launch);
  }
  return all;
}

/// Made once for all benchmarks of this file, and removed at the end.
class MillionRows {
 public:
  MillionRows() {
    std::string pattern = (std::filesystem::temp_directory_path() / "warpmeter_XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary directory");
    directory_ = pattern;
    schema::Store store(path());
    schema::Run run;
    run.backend = "cupti";
    schema::Device device;
    device.backend = "cupti";
    device.name = "NVIDIA H200";
    const std::vector<schema::Launch> all = launches();
    for (int i = 0; i < runs; ++i) {
      last_ = store.begin_run(run);
      store.add_launches(last_, store.add_device(last_, device), all);
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

void report(benchmark::State& state, reports::Format format) {
  static const MillionRows database;
  for (auto _ : state) {
    const schema::Reader reader(database.path());
    benchmark::DoNotOptimize(reports::render_report(reader, database.last(), format));
  }
}

BENCHMARK_CAPTURE(report, markdown_of_million_rows, reports::Format::markdown)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(report, csv_of_million_rows, reports::Format::csv)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(report, json_of_million_rows, reports::Format::json)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace warpmeter
