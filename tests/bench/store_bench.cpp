// SPDX-License-Identifier: MIT
// How fast the store writes, and how fast it answers in a large database: 10,000 launches of 100
// counters in 100 runs, a million rows.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "schema/catalogue.h"
#include "schema/store.h"

namespace {

using namespace warpmeter::schema;

constexpr int runs = 100, launches_a_run = 100, counters_a_launch = 100;

/// A database in a file of its own, removed at the end.
class Database {
 public:
  explicit Database(std::string_view name)
      : path_(std::filesystem::temp_directory_path() /
              fmt::format("warpmeter_{}_{}.db", name, getpid())) {
    remove();
  }
  ~Database() { remove(); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  std::string path() const { return path_.string(); }

 private:
  void remove() const {
    for (const char* ending : {"", "-wal", "-shm"}) {
      std::filesystem::remove(path_.string() + ending);
    }
  }
  std::filesystem::path path_;
};

std::vector<Launch> launches_of_a_run() {
  std::vector<Counter> counters;
  for (const CounterInfo& info : Catalogue::get().counters()) {
    counters.push_back(
        {info.name, 1000.0 + static_cast<double>(counters.size()), Grade::measured, ""});
  }
  while (counters.size() < counters_a_launch) {
    counters.push_back(
        {fmt::format("unit__quantity_{}.sum", counters.size()), 17.0, Grade::measured, ""});
  }
  std::vector<Launch> launches;
  for (int i = 0; i < launches_a_run; ++i) {
    Launch launch;
    launch.family = "transpose";
    launch.variant = fmt::format("variant_{}", i);
    launch.size = 1024;
    launch.kernel = "transpose_" + launch.variant;
    launch.useful_bytes_read = launch.useful_bytes_written = 4 << 20;
    launch.verified = true;
    launch.counters = counters;
    launch.timing = Timing{{5000, 5100, 5200}, CacheState::cold, 0.01, "confidence"};
    launch.expectations.push_back({"gld_efficiency", "==", 100, "rows are read in order"});
    launches.push_back(std::move(launch));
  }
  return launches;
}

std::int64_t add_run(Store& store, const std::vector<Launch>& launches) {
  Run described;
  described.backend = "cupti";
  described.host = "host";
  const std::int64_t run = store.begin_run(described);
  Device device;
  device.backend = "cupti";
  device.name = "NVIDIA H200";
  store.add_launches(run, store.add_device(run, device), launches);
  store.end_run(run, RunOutcome::done, "");
  return run;
}

const Database& large_database() {
  static const Database database("large");
  static const bool filled = [] {
    Store store(database.path());
    const std::vector<Launch> launches = launches_of_a_run();
    for (int i = 0; i < runs; ++i) add_run(store, launches);
    return true;
  }();
  benchmark::DoNotOptimize(filled);
  return database;
}

void insert_counters(benchmark::State& state) {
  const std::vector<Launch> launches = launches_of_a_run();
  const Database database("insert");
  Store store(database.path());
  for (auto _ : state) add_run(store, launches);
  state.SetItemsProcessed(state.iterations() * launches_a_run * counters_a_launch);
}
BENCHMARK(insert_counters)->Unit(benchmark::kMillisecond)->UseRealTime();

/// A launch that is stored as soon as it is measured: one transaction each.
void insert_one_launch(benchmark::State& state) {
  const std::vector<Launch> launches = launches_of_a_run();
  const Database database("single");
  Store store(database.path());
  const std::int64_t run = add_run(store, {});
  const std::int64_t device = store.add_device(run, {});
  for (auto _ : state) store.add_launch(run, device, launches.front());
  state.SetItemsProcessed(state.iterations() * counters_a_launch);
}
BENCHMARK(insert_one_launch)->Unit(benchmark::kMillisecond)->UseRealTime();

void query(benchmark::State& state, const char* sql) {
  const Reader reader(large_database().path());
  std::size_t rows = 0;
  for (auto _ : state) rows = reader.query(sql).rows.size();
  state.counters["rows"] = static_cast<double>(rows);
}
BENCHMARK_CAPTURE(query, comparison_of_all, "SELECT * FROM comparison")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(query, comparison_of_one_run, "SELECT * FROM comparison WHERE run_id = 50")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(query, results_of_one_run, "SELECT * FROM results WHERE run_id = 50")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(query, one_metric_of_one_run,
                  "SELECT * FROM results WHERE run_id = 50 AND metric = 'gld_efficiency'")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(query, expectations_of_one_run, "SELECT * FROM expectations WHERE run_id = 50")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(query, runs, "SELECT * FROM runs")->Unit(benchmark::kMillisecond);

void open_for_reading(benchmark::State& state) {
  const std::string path = large_database().path();
  for (auto _ : state) benchmark::DoNotOptimize(Reader(path));
}
BENCHMARK(open_for_reading)->Unit(benchmark::kMillisecond);

}  // namespace
