// SPDX-License-Identifier: MIT
#include "tests/reports/runs.h"

#include "tests/reports/explained_launches.h"

#include <vector>

namespace warpmeter::reports {
namespace {

using namespace schema;

Run run_on(const std::string& backend, const std::string& label) {
  Run run;
  run.backend = backend;
  run.tool_version = "0.1.0";
  run.git_revision = "f788893";
  run.cuda_version = "13.0";
  run.host = "lab3";
  run.command = "warpmeter run transpose smem_square";
  run.label = label;
  return run;
}

Device h200(int ordinal = 0) {
  Device device;
  device.backend = "cupti";
  device.ordinal = ordinal;
  device.name = "NVIDIA H200";
  device.chip = "GH100";
  device.compute_capability = 90;
  device.uuid = "GPU-0000000" + std::to_string(ordinal);
  device.driver = "580.65.06";
  device.multiprocessors = 132;
  return device;
}

Device model() {
  Device device;
  device.backend = "model";
  device.name = "model sm_90";
  device.compute_capability = 90;
  return device;
}

DeviceState state(const std::string& phase, double sm_clock_mhz, const std::string& throttling) {
  DeviceState state;
  state.phase = phase;
  state.sm_clock_mhz = sm_clock_mhz;
  state.memory_clock_mhz = 3201;
  state.temperature_c = phase == "before" ? 31 : 44;
  state.power_w = phase == "before" ? 76.4 : 231.7;
  state.throttle_reasons = throttling;
  return state;
}

Launch launch_of(const std::string& family, const std::string& variant,
                 std::optional<std::int64_t> size) {
  Launch launch;
  launch.family = family;
  launch.variant = variant;
  launch.size = size;
  launch.kernel = family + "_" + variant;
  launch.grid[0] = launch.grid[1] = 64;
  launch.block[0] = launch.block[1] = 16;
  launch.verified = true;
  if (variant == "tiled") {
    launch.registers = 40;
    launch.static_shared_bytes = 4096;
    launch.local_bytes = 16;
  } else {
    launch.resources_reason = "nobody asked";
  }
  if (size) launch.useful_bytes_read = launch.useful_bytes_written = 4 * *size * *size;
  return launch;
}

/// Wavefronts and requests of shared loads and stores; sectors, requests and bytes of global ones.
struct Counts {
  double shared_load[2] = {0, 0}, shared_store[2] = {0, 0};
  double global_load[3] = {0, 0, 0}, global_store[3] = {0, 0, 0};
};

void add_counts(Launch& launch, const Counts& counts, Grade grade, Grade shared_load_grade) {
  const auto add = [&](const char* name, double value, Grade how = Grade::unavailable) {
    const Grade given = how == Grade::unavailable ? grade : how;
    const char* reason = given == Grade::ptx        ? "the machine code was not read"
                         : given == Grade::modelled ? "approximate: seen in one block alone"
                                                    : "";
    launch.counters.push_back({name, value, given, reason});
  };
  add("shared_load_wavefronts", counts.shared_load[0], shared_load_grade);
  add("shared_load_requests", counts.shared_load[1]);
  add("shared_store_wavefronts", counts.shared_store[0]);
  add("shared_store_requests", counts.shared_store[1]);
  add("global_load_sectors", counts.global_load[0]);
  add("global_load_requests", counts.global_load[1]);
  add("global_load_bytes", counts.global_load[2]);
  add("global_store_sectors", counts.global_store[0]);
  add("global_store_requests", counts.global_store[1]);
  add("global_store_bytes", counts.global_store[2]);
  add("shared_atomic_wavefronts", 0);
  add("global_atomic_sectors", 0);
  add("global_reduction_sectors", 0);
}

void measure(Launch& launch, const Counts& counts) {
  add_counts(launch, counts, Grade::measured, Grade::measured);
}

void time(Launch& launch, std::vector<double> samples_ns, double relative_confidence) {
  Timing timing;
  timing.samples_ns = std::move(samples_ns);
  timing.relative_confidence = relative_confidence;
  timing.stopped_by = "confidence";
  launch.timing = timing;
}

void fail(Launch& launch, const std::string& reason) {
  launch.outcome = LaunchOutcome::failed;
  launch.verified = false;
  launch.reason = reason;
}

constexpr double words = 1024.0 * 1024;  // the words of a matrix
constexpr double requests = words / 32;

Counts copy_counts() {
  return {{0, 0}, {0, 0}, {words / 8, requests, 4 * words}, {words / 8, requests, 4 * words}};
}
Counts naive_counts() {
  return {{0, 0}, {0, 0}, {words / 8, requests, 4 * words}, {words / 2, requests, 4 * words}};
}
Counts padded_counts() {
  Counts counts = copy_counts();
  counts.shared_load[0] = counts.shared_store[0] = 2 * requests;
  counts.shared_load[1] = counts.shared_store[1] = requests;
  return counts;
}

std::vector<Launch> transposes(std::int64_t size) {
  std::vector<Launch> launches;
  for (const char* variant : {"copy", "naive", "tiled", "tiled_padded"}) {
    launches.push_back(launch_of("transpose", variant, size));
  }
  launches[0].is_ceiling = true;
  return launches;
}

}  // namespace

std::int64_t add_hardware_run(Store& store) {
  const std::int64_t run = store.begin_run(run_on("cupti", "baseline"));
  const std::int64_t device = store.add_device(run, h200());
  store.add_state(run, device, state("before", 1980, ""));
  std::vector<Launch> launches = transposes(1024);
  measure(launches[0], copy_counts());
  time(launches[0], {4608, 4640, 4576}, 0.0031);
  launches[0].expectations = {{"gst_efficiency", "==", 100, "neighbouring lanes store neighbours"}};
  measure(launches[1], naive_counts());
  time(launches[1], {9216, 9248, 9184}, 0.0049);
  launches[1].expectations = {
      {"gst_efficiency", "==", 25, "a lane stores 8 bytes of each 32-byte sector"},
      {"gst_efficiency", ">=", 50, "a row of the tile should be stored at once"}};
  launches[1].lines = {{"kernels/transpose.cu", 31, "out[x * height + y] = in[y * width + x];",
                        "global store", 32768, 524288, 131072, Grade::measured, 4194304},
                       {"kernels/transpose.cu", 31, "out[x * height + y] = in[y * width + x];",
                        "global load", 32768, 131072, 131072, Grade::measured, 4194304}};
  fail(launches[2], "3 of 1048576 values are wrong, first out[17] = 0 instead of 4");
  launches[2].expectations = {{"shared_load_transactions_per_request", "==", 8,
                               "16 rows of a 16-wide tile fall into two banks each"}};
  measure(launches[3], padded_counts());
  time(launches[3], {5728, 5760, 5696, 5728}, 0.0042);
  store.add_launches(run, device, launches);

  launches = transposes(4096);
  launches.erase(launches.begin() + 2);
  for (Launch& launch : launches) measure(launch, naive_counts());
  time(launches[0], {81234.5, 81234.5}, 0.001);
  time(launches[1], {212345.25, 212345.25}, 0.002);
  time(launches[2], {90000}, 0.003);
  store.add_launches(run, device, launches);
  store.add_state(run, device, state("after", 1755, "sw_power_cap"));
  store.end_run(run, RunOutcome::failed, "1 of 7 launches failed");
  return run;
}

std::int64_t add_model_run(Store& store) {
  const std::int64_t run = store.begin_run(run_on("model", ""));
  const std::int64_t device = store.add_device(run, model());
  DeviceState none;
  none.phase = "before";
  none.unavailable = "the model has no clocks";
  store.add_state(run, device, none);
  const std::string no_time = "the model does not measure time";
  std::vector<Launch> launches = transposes(1024);
  for (Launch& launch : launches) launch.timing_reason = no_time;
  add_counts(launches[0], copy_counts(), Grade::exact, Grade::exact);
  add_counts(launches[1], naive_counts(), Grade::exact, Grade::exact);
  launches[1].lines = {{"kernels/transpose.cu", 31, "out[x * height + y] = in[y * width + x];",
                        "global store", 32768, 524288, 131072, Grade::exact, 4194304}};
  Counts tiled = padded_counts();
  tiled.shared_load[0] = 8 * requests;
  tiled.shared_store[0] = requests;
  add_counts(launches[2], tiled, Grade::exact, Grade::ptx);
  launches[2].expectations = {{"shared_load_transactions_per_request", "==", 16,
                               "16 rows of a 16-wide tile fall into two banks each"}};
  launches[2].lines = {{"kernels/transpose.cu", 52, "out[o] = tile[threadIdx.x][threadIdx.y];",
                        "shared load", 32768, 262144, 32768, Grade::ptx}};
  add_counts(launches[3], padded_counts(), Grade::exact, Grade::modelled);
  launches[3].expectations = {
      {"shared_load_transactions_per_request", "==", 2, "a warp spans two tile rows of pitch 17"}};
  store.add_launches(run, device, launches);

  const Counts row = {{16, 16}, {16, 16}, {0, 0, 0}, {128, 32, 4096}};
  const Counts column = {{512, 16}, {512, 16}, {0, 0, 0}, {128, 32, 4096}};
  for (const char* variant : {"set_row_read_row", "set_col_read_col"}) {
    Launch launch = launch_of("smem_square", variant, std::nullopt);
    launch.timing_reason = no_time;
    const bool by_row = std::string(variant) == "set_row_read_row";
    add_counts(launch, by_row ? row : column, Grade::exact, Grade::exact);
    launch.expectations = {{"shared_load_transactions_per_request", "==", by_row ? 1.0 : 32.0,
                            by_row ? "a row is 32 banks" : "a column is one bank"}};
    store.add_launch(run, device, launch);
  }
  store.end_run(run, RunOutcome::done, "");
  return run;
}

std::int64_t add_repeated_run(Store& store) {
  const std::int64_t run = store.begin_run(run_on("cupti", ""));
  const std::int64_t device = store.add_device(run, h200());
  const double durations[] = {9216, 9000, 9400};
  for (int i = 0; i < 3; ++i) {
    for (Launch& launch : transposes(1024)) {
      if (launch.variant.starts_with("tiled")) continue;
      const bool copy = launch.variant == "copy";
      Counts counts = copy ? copy_counts() : naive_counts();
      if (!copy && i == 2) {
        fail(launch, "illegal address");
      } else {
        if (!copy && i == 1) counts.global_store[0] += 1000;
        measure(launch, counts);
        const double median = copy ? 4600 : durations[i];
        time(launch, {median, median}, 0.001 * (i + 1));
      }
      launch.expectations = {{"gld_efficiency", "==", 100, "neighbours load neighbours"}};
      store.add_launch(run, device, launch);
    }
  }
  store.end_run(run, RunOutcome::failed, "1 of 6 launches failed");
  return run;
}

std::int64_t add_timing_run(Store& store) {
  const std::int64_t run = store.begin_run(run_on("cupti", "timing only"));
  const std::int64_t device = store.add_device(run, h200());
  for (const char* variant : {"block_128", "block_256"}) {
    Launch launch = launch_of("vector_add", variant, 1000);
    const double median = variant == std::string("block_128") ? 812.0 : 1624.0;
    time(launch, {median, median}, 0.0044);
    launch.counters = {
        {"shared_load_wavefronts", std::nullopt, Grade::unavailable, "no permission for counters"},
        {"shared_load_requests", std::nullopt, Grade::unavailable, "no permission for counters"}};
    store.add_launch(run, device, launch);
  }
  store.end_run(run, RunOutcome::done, "");
  return run;
}

std::int64_t add_ceilings_run(Store& store, bool ceilings) {
  const std::int64_t run = store.begin_run(run_on("cupti", "ceilings"));
  const std::int64_t device = store.add_device(run, h200());
  const auto add = [&](Launch launch, std::uint64_t flops, double median_ns, bool is_ceiling) {
    if (is_ceiling && !ceilings) return;
    launch.flops = flops;
    launch.is_ceiling = is_ceiling;
    time(launch, {median_ns, median_ns}, 0.002);
    store.add_launch(run, device, launch);
  };
  add(launch_of("transpose", "tiled_float4", 4096), 0, 36'000, false);
  add(launch_of("transpose", "copy_float4", 4096), 0, 35'000, true);
  for (const bool copy : {false, true}) {
    Launch launch = launch_of("reduction", copy ? "copy" : "shuffle", 4'194'304);
    launch.useful_bytes_read = copy ? 16 << 20 : 32 << 20;
    launch.useful_bytes_written = copy ? 16 << 20 : 0;
    add(launch, copy ? 0 : 4'190'208, copy ? 12'000 : 14'000, copy);
  }
  add(launch_of("matmul", "registers", 8192), 1'099'511'627'776, 25'000'000, false);
  add(launch_of("matmul", "cublas", 8192), 1'099'511'627'776, 20'000'000, true);
  store.end_run(run, RunOutcome::done, "");
  return run;
}

std::int64_t add_hostile_run(Store& store) {
  const std::int64_t run = store.begin_run(run_on("cupti", "a | b\n# <script> #"));
  const std::int64_t device = store.add_device(run, h200());
  Launch launch = launch_of("pro|gram", "void f<int, 4>(float*, `x`)\x1b[31m", std::nullopt);
  measure(launch, padded_counts());
  launch.lines = {
      {"a|b.cu", 1, "x[a] = b | c;\t// \xFF", "shared load", 1, 32, 1, Grade::exact},
      {"stores; drop.cu", 12, "*p = '\"`;", "global store", 4, 16, 4, Grade::modelled, 128}};
  store.add_launch(run, device, launch);
  // Each would run or load something if it reached a browser as markup.
  for (const char* name :
       {"<img src=x onerror=\"window.hacked=1\">", "</script><script>window.hacked=2</script>",
        "' onmouseover='window.hacked=3", "<!--contents--></table><style>*{display:none}",
        "[click](javascript:alert(1)) ![](http://192.0.2.1/x.png)", "'); DROP TABLE t_run; --"}) {
    launch.variant = name;
    store.add_launch(run, device, launch);
  }
  launch.variant = "\"quoted\", comma";
  fail(launch, "line one\nline two | *bold*");
  launch.counters.clear();
  launch.lines.clear();
  store.add_launch(run, device, launch);
  store.end_run(run, RunOutcome::failed, "1 of 8 launches failed");
  return run;
}

std::int64_t add_long_source_run(Store& store) {
  const std::int64_t run = store.begin_run(run_on("model", ""));
  const std::int64_t device = store.add_device(run, model());
  Launch launch = launch_of("reduction", "neighbored_strided", 4'194'304);
  add_counts(launch, padded_counts(), Grade::exact, Grade::exact);
  launch.lines = {
      {"kernels/reduction.cu", 44, "if (index < blockDim.x) tile[index] += tile[index + stride];",
       "shared load", 294912, 2613248, 548864, Grade::exact},
      {"kernels/reduction.cu", 107,
       "if (o_x < height && o_y < width) out[o_y * height + o_x] = tile[threadIdx.x][threadIdx.y];",
       "global store", 131072, 1048576, 131072, Grade::exact},
      {"kernels/reduction.cu", 31, "sum += in[i];", "global load", 131072, 524288, 524288,
       Grade::exact}};
  store.add_launch(run, device, launch);
  store.end_run(run, RunOutcome::done, "");
  return run;
}

std::int64_t add_two_device_run(Store& store) {
  const std::int64_t run = store.begin_run(run_on("cupti", ""));
  for (const int ordinal : {0, 1}) {
    const std::int64_t device = store.add_device(run, h200(ordinal));
    for (Launch& launch : transposes(1024)) {
      if (launch.variant.starts_with("tiled")) continue;
      measure(launch, launch.variant == "copy" ? copy_counts() : naive_counts());
      const double median = ordinal == 0 ? 4608.0 : 4500.0;
      time(launch, {median, median}, 0.001);
      launch.counters.push_back({"warp_instructions", 753664, Grade::measured, ""});
      launch.counters.push_back({"lts__t_sectors_op_read.sum", 131072.5, Grade::measured, ""});
      store.add_launch(run, device, launch);
    }
  }
  store.end_run(run, RunOutcome::done, "");
  return run;
}

std::int64_t add_explained_run(Store& store) {
  const std::int64_t run = store.begin_run(run_on("model", "explained"));
  const std::int64_t device = store.add_device(run, model());
  for (const Launch& launch : explained_launches()) store.add_launch(run, device, launch);
  store.end_run(run, RunOutcome::failed, "1 launch failed");
  return run;
}

std::int64_t add_empty_run(Store& store) {
  const std::int64_t run = store.begin_run(run_on("model", ""));
  store.end_run(run, RunOutcome::interrupted, "stopped from the keyboard");
  return run;
}

}  // namespace warpmeter::reports
