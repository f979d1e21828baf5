// SPDX-License-Identifier: MIT
// Makes a database of any size for benchmarks, as `run` and `profile` would fill it.
//
//   make_database FILE RUNS LAUNCHES VARIANTS COUNTERS
//   make_database FILE RUNS LAUNCHES [differing | timed]
//
// Every run has LAUNCHES launches of VARIANTS variants in families of ten, each with COUNTERS
// counters (those of the standard metrics, then PerfWorks names), 20 samples of its time and three
// findings with five remedies each, which no other launch of the run has.
//
// Without VARIANTS and COUNTERS, each run is that of a program, as `profile -m` stores it: 20
// kernels of two grids each with 3 to 10 counters, no times, and one explanation a kernel. The
// counts of every second kernel depend on its data: they are one of a thousand. With `differing`,
// no two launches of such a kernel have the same. With `timed` the program ran on a GPU: a launch
// has a time and no explanation.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "schema/store.h"

namespace {

using namespace warpmeter::schema;

std::vector<Counter> counters_of(int count, double scale) {
  std::vector<Counter> counters;
  for (const char* name :
       {"shared_load_wavefronts", "shared_load_requests", "shared_store_wavefronts",
        "shared_store_requests", "global_load_sectors", "global_load_requests", "global_load_bytes",
        "global_store_sectors", "global_store_requests", "global_store_bytes"}) {
    counters.push_back({name, 32768 * scale, Grade::measured, ""});
  }
  for (int i = static_cast<int>(counters.size()); i < count; ++i) {
    counters.push_back({fmt::format("sm__counter_{}.sum", i), i * scale, Grade::measured, ""});
  }
  return counters;
}

Explanation explanation_of(int launch) {
  WarpPicture picture;
  picture.mask = 0xffffffff;
  picture.width = 4;
  for (unsigned lane = 0; lane < WarpPicture::lane_count; ++lane) {
    picture.address[lane] = 64 * lane;
    picture.pass[lane] = lane / 2 + 1;
  }
  Explanation explanation;
  explanation.was_made = true;
  for (int line = 40; line < 43; ++line) {
    Finding finding;
    finding.kind = "bank_conflict";
    finding.file = "kernels/transpose.cu";
    finding.line = line;
    finding.text = "out[o] = tile[threadIdx.x][threadIdx.y];";
    finding.object = "tile";
    finding.access = "shared load";
    finding.evidence =
        "Half a warp reads one column: its 16 lanes, 16 words apart, meet in 2 banks.";
    finding.requests = finding.ideal = 524'288;
    finding.transactions = 4'194'304 + static_cast<unsigned>(launch);
    finding.share = 0.5;
    finding.share_of = "the launch's shared wavefronts";
    finding.lanes = picture;
    for (int i = 1; i <= 5; ++i) {
      Remedy remedy;
      remedy.name = fmt::format("padding {}", i);
      remedy.change = fmt::format("tile[16][{}]", 16 + i);
      remedy.words = fmt::format("{} words of padding a row", i);
      remedy.transactions = 1'048'576;
      remedy.predicted = {{"shared_load_wavefronts", 1'048'576}};
      remedy.is_advised = i == 1;
      remedy.lanes = picture;
      finding.remedies.push_back(remedy);
    }
    explanation.findings.push_back(finding);
  }
  return explanation;
}

std::vector<Launch> launches_of(int count, int variants, int counters) {
  std::vector<Launch> launches;
  for (int i = 0; i < count; ++i) {
    const int variant = i % variants;
    Launch launch;
    launch.family = fmt::format("family_{}", variant / 10);
    launch.variant = fmt::format("variant_{}", variant % 10);
    launch.size = 1024;
    launch.kernel = launch.family + "_" + launch.variant;
    launch.useful_bytes_read = launch.useful_bytes_written = 4 << 20;
    launch.verified = true;
    launch.counters = counters_of(counters, 1 + variant % 10);
    Timing timing{{}, CacheState::cold, 0.004, "confidence"};
    for (int k = 0; k < 20; ++k)
      timing.samples_ns.push_back(5000.0 + 100 * (variant % 7) + k * 7 % 20);
    launch.timing = timing;
    launch.expectations = {{"gld_efficiency", "==", 100, "neighbours load neighbours"}};
    launch.explanation = explanation_of(i);
    launches.push_back(launch);
  }
  return launches;
}

constexpr int kernels = 20;

enum class Program { alike, differing, timed };

Program program_named(std::string_view name) {
  if (name == "differing") return Program::differing;
  if (name == "timed") return Program::timed;
  fmt::print(stderr, "there is no program '{}': write differing or timed\n", name);
  std::exit(2);
}

/// Launch number `i` of a program.
Launch launch_of_program(int i, Program program) {
  const int kernel = i % kernels, grid = 64 << (i / kernels % 2);
  Launch launch;
  launch.family = "app";
  launch.variant = launch.kernel = fmt::format("kernel_{}", kernel);
  launch.grid[0] = static_cast<std::uint32_t>(grid);
  launch.block[0] = 256;
  launch.registers = 32;
  launch.static_shared_bytes = 4096;
  launch.local_bytes = 0;
  launch.timing_reason = "the model executes PTX on the CPU and has no clock";
  launch.counters = counters_of(10, grid);
  launch.counters.resize(static_cast<std::size_t>(3 + kernel % 8));
  const int round = i / kernels;  // each kernel is launched once in a round
  const std::int64_t data =
      program == Program::differing ? 7919L * round % 1'000'003 : round % 1000;
  const double more = kernel % 2 == 0 ? 0 : static_cast<double>(data);
  for (Counter& counter : launch.counters) {
    counter.value = *counter.value + more;
    if (program != Program::timed) counter.grade = Grade::exact;
  }
  if (program == Program::timed) {
    launch.timing_reason.clear();
    const double time_ns = 4000 + 32.0 * (i * 7919L % 997 + kernel);
    launch.timing = Timing{{time_ns}, CacheState::warm, 0, "samples"};
  } else {
    launch.explanation = explanation_of(kernel);
  }
  return launch;
}

/// Adds them some at a time, as a profiled program's recorder does.
void add_program(Store& store, std::int64_t run, std::int64_t device, int count, Program program) {
  constexpr int batch = 5000;
  for (int first = 0; first < count; first += batch) {
    std::vector<Launch> launches;
    for (int i = first; i < std::min(first + batch, count); ++i) {
      launches.push_back(launch_of_program(i, program));
    }
    store.add_launches(run, device, launches);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4 || argc > 6) return 2;
  const bool is_program = argc < 6;
  const Program program = argc == 5 ? program_named(argv[4]) : Program::alike;
  const bool is_on_gpu = !is_program || program == Program::timed;
  const int runs = std::atoi(argv[2]), count = std::atoi(argv[3]);
  const std::vector<Launch> launches =
      is_program ? std::vector<Launch>()
                 : launches_of(count, std::atoi(argv[4]), std::atoi(argv[5]));
  Store store(argv[1]);
  for (int i = 0; i < runs; ++i) {
    Run run;
    run.backend = is_on_gpu ? "cupti" : "model";
    run.host = "lab1";
    const std::int64_t id = store.begin_run(run);
    Device device;
    device.backend = run.backend;
    device.name = is_on_gpu ? "NVIDIA H200" : "model sm_90";
    device.compute_capability = 90;
    const std::int64_t device_id = store.add_device(id, device);
    if (is_program) {
      add_program(store, id, device_id, count, program);
    } else {
      store.add_launches(id, device_id, launches);
    }
    store.end_run(id, RunOutcome::done, "");
  }
}
