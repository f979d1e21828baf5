// SPDX-License-Identifier: MIT
#include "tests/reports/sweep_runs.h"

#include <fmt/format.h>

namespace warpmeter::reports {
namespace {

schema::Launch launch_of(const Combination& combination) {
  schema::Launch launch;
  launch.family = "transpose";
  launch.variant = combination.variant;
  launch.size = combination.size;
  launch.kernel = "transpose_tiled";
  launch.counters = combination.counters;
  if (!combination.failure.empty()) {
    launch.outcome = schema::LaunchOutcome::failed;
    launch.reason = combination.failure;
    return launch;
  }
  launch.verified = true;
  if (combination.median_ns) {
    const double median = *combination.median_ns;
    launch.timing = schema::Timing{{median, median}, schema::CacheState::cold, 0, "confidence"};
    launch.timing->relative_confidence = combination.relative_confidence;
  } else {
    launch.timing_reason = "the model does not measure time";
  }
  return launch;
}

/// Faster with larger tiles, slower without padding: made up, but for the order.
double time_of(std::int64_t size, int tile, int pad) {
  const double elements = static_cast<double>(size) * static_cast<double>(size);
  const double conflicts = pad % 2 == 1 ? 1 : 1 + tile / 16.0;
  return elements / 256 * (1 + 8.0 / tile) * conflicts;
}

}  // namespace

std::vector<schema::Counter> shared_loads(double per_request) {
  return {{"shared_load_wavefronts", 1024 * per_request, schema::Grade::exact, ""},
          {"shared_load_requests", 1024, schema::Grade::exact, ""}};
}

std::int64_t add_combinations(schema::Store& store,
                              const std::vector<std::vector<Combination>>& devices) {
  schema::Run run;
  run.backend = "cupti";
  run.tool_version = "0.1.0";
  run.host = "lab3";
  run.command = "warpmeter run transpose.yaml";
  const std::int64_t id = store.begin_run(run);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    schema::Device device;
    device.backend = "cupti";
    device.name = "NVIDIA H200";
    device.compute_capability = 90;
    device.ordinal = static_cast<int>(i);
    device.uuid = fmt::format("GPU-{:08}", i);
    const std::int64_t device_id = store.add_device(id, device);
    std::vector<schema::Launch> launches;
    for (const Combination& combination : devices[i]) launches.push_back(launch_of(combination));
    store.add_launches(id, device_id, launches);
  }
  store.end_run(id, schema::RunOutcome::done, "");
  return id;
}

std::int64_t add_sweep_run(schema::Store& store) {
  std::vector<Combination> all;
  for (const std::int64_t size : {1024, 4096}) {
    all.push_back({"naive", size, time_of(size, 8, 0) * 2});
    for (const int tile : {8, 16, 32}) {
      for (const int pad : {0, 1, 2}) {
        if (tile == 8 && pad == 2) continue;  // as `where:` would
        Combination one{fmt::format("padded[TILE={},PAD={}]", tile, pad), size,
                        time_of(size, tile, pad)};
        if (tile == 32 && pad == 2) one.failure = "3 of 1048576 values are wrong";
        all.push_back(one);
      }
    }
    for (const int block : {64, 128, 256}) {
      all.push_back({fmt::format("rows[BLOCK={}]", block), size, time_of(size, block / 8, 1)});
    }
  }
  for (const char* type : {"float", "float2", "std::array<float, 4>"}) {
    all.push_back({fmt::format("typed[T={}]", type), 1024,
                   9000.0 - 100 * static_cast<double>(std::string(type).size())});
  }
  for (const int unroll : {1, 4}) {
    for (const int tile : {8, 16}) {
      for (const int pad : {0, 1}) {
        all.push_back({fmt::format("three[UNROLL={},TILE={},PAD={}]", unroll, tile, pad), 1024,
                       time_of(1024, tile, pad) - unroll});
      }
    }
  }
  return add_combinations(store, {all});
}

std::int64_t add_large_sweep_run(schema::Store& store) {
  std::vector<Combination> all;
  for (int x = 1; x <= 32; ++x) {
    for (int y = 1; y <= 32; ++y) {
      all.push_back({fmt::format("tuned[BLOCK_X={},BLOCK_Y={}]", x, y), 1024,
                     1000.0 + 40 * ((x - 20) * (x - 20) + (y - 9) * (y - 9))});
    }
  }
  return add_combinations(store, {all});
}

}  // namespace warpmeter::reports
