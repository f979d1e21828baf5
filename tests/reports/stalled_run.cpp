// SPDX-License-Identifier: MIT
#include "tests/reports/stalled_run.h"

#include <span>
#include <utility>
#include <vector>

#include "schema/catalogue.h"

namespace warpmeter::reports {
namespace {

constexpr const char* file = "kernels/transpose.cu";
constexpr const char* store_line = "out[x * height + y] = in[y * width + x];";
constexpr const char* barrier_line = "__syncthreads();";

void set_time_and_energy(schema::Launch& launch, double nanoseconds, double joules) {
  schema::Timing timing;
  timing.samples_ns = {nanoseconds, nanoseconds};
  timing.relative_confidence = 0.002;
  timing.stopped_by = "confidence";
  launch.timing = timing;
  launch.counters.push_back({"energy", joules, schema::Grade::measured, ""});
  const double power_w = 100 + 1e9 * joules / nanoseconds;
  for (const double tenths : {1.0, 2.0, 3.0}) {
    launch.power.push_back({0.5 + tenths / 10, power_w + tenths, 1980, 40 + tenths});
  }
}

std::string source_text() {
  std::string text;
  for (int line = 1; line <= 40; ++line) {
    text += line == 31   ? std::string("  ") + store_line + "\n"
            : line == 33 ? std::string("  ") + barrier_line + "\n"
                         : "// a line\n";
  }
  return text;
}

schema::CodeText machine_code() {
  return {file, "transpose/naive", "machine code",
          "        /*0000*/                   LDC R1, c[0x0][0x28] ;\n"
          "// kernels/transpose.cu:31\n"
          "        /*0010*/                   LDG.E R2, [R4] ;\n"
          "        /*0020*/                   STG.E [R6], R2 ;\n"
          "// kernels/transpose.cu:33\n"
          "        /*0030*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;\n"
          "// kernels/other.cuh:5\n"
          "        /*0040*/                   EXIT ;\n"};
}

}  // namespace

schema::Launch stalled_launch(const std::string& variant,
                              const std::map<std::string, double>& stalls,
                              const std::string& left_out) {
  schema::Launch launch;
  launch.family = "transpose";
  launch.variant = variant;
  launch.kernel = variant;
  launch.size = 4096;
  launch.verified = true;
  for (const schema::CounterInfo& counter : schema::Catalogue::get().counters()) {
    if (!counter.name.starts_with("stalled_") || counter.name == left_out) continue;
    const auto found = stalls.find(counter.name);
    launch.counters.push_back(
        {counter.name, found == stalls.end() ? 0 : found->second, schema::Grade::measured, ""});
  }
  return launch;
}

std::int64_t add_stalled_run(schema::Store& store) {
  const std::int64_t run = store.begin_run({});
  schema::Device device;
  device.backend = "cupti";
  device.name = "NVIDIA H200";
  device.compute_capability = 90;
  const std::int64_t gpu = store.add_device(run, device);
  schema::Launch naive = stalled_launch("naive", {{"stalled_long_scoreboard", 62.5},
                                                  {"stalled_lg_throttle", 20},
                                                  {"stalled_wait", 5},
                                                  {"stalled_not_selected", 2.5},
                                                  {"stalled_no_instruction", 1},
                                                  {"stalled_barrier", 0.5},
                                                  {"stalled_imc_miss", 0.25},
                                                  {"stalled_branch_resolving", 0.25}});
  set_time_and_energy(naive, 240'000, 0.060);
  schema::Launch tiled = stalled_launch("tiled", {{"stalled_long_scoreboard", 30},
                                                  {"stalled_short_scoreboard", 35},
                                                  {"stalled_barrier", 12.5},
                                                  {"stalled_wait", 7.5}});
  set_time_and_energy(tiled, 90'000, 0.030);
  schema::Launch padded =
      stalled_launch("padded", {{"stalled_long_scoreboard", 50}, {"stalled_wait", 25}});
  set_time_and_energy(padded, 80'000, 0.032);
  const std::int64_t id = store.add_launch(run, gpu, naive);
  store.add_launch(run, gpu, tiled);
  store.add_launch(run, gpu, padded);
  schema::Completion completion;
  completion.launch_id = id;
  completion.lines = {
      {file, 31, store_line, "global load", 1000, 4000, 4000, schema::Grade::measured, 128'000},
      {file, 31, store_line, "global store", 1000, 32'000, 4000, schema::Grade::measured, 128'000}};
  completion.stalls = {{file, 31, store_line, "long_scoreboard", 500, 400},
                       {file, 31, store_line, "lg_throttle", 200, 100},
                       {file, 31, store_line, "selected", 100, 0},
                       {file, 33, barrier_line, "barrier", 150, 50},
                       {file, 33, barrier_line, "selected", 25, 0},
                       {"", 0, "", "wait", 25, 0}};
  completion.instructions = {
      {0x00, "executed", 128},    {0x00, "wait", 25},       {0x10, "executed", 1000},
      {0x10, "lg_throttle", 200}, {0x20, "executed", 1000}, {0x20, "long_scoreboard", 500},
      {0x20, "selected", 100},    {0x30, "executed", 128},  {0x30, "barrier", 150},
      {0x30, "selected", 25},     {0x40, "executed", 128}};
  store.complete_launches(std::span(&completion, 1));
  store.add_sources(run, std::vector<std::pair<std::string, std::string>>{{file, source_text()}});
  const std::vector<schema::CodeText> codes = {
      {file, "transpose/naive", "PTX",
       "// kernels/transpose.cu:31\n\tld.global.f32 %f1, [%rd1];\n\tret;\n"},
      machine_code()};
  store.add_codes(run, codes);
  store.end_run(run, schema::RunOutcome::done, "");
  return run;
}

}  // namespace warpmeter::reports
