// SPDX-License-Identifier: MIT
#include "tests/reports/limits_run.h"

namespace warpmeter::reports {
namespace {

constexpr const char* counters[] = {"warp_instructions",
                                    "flop_sp_add",
                                    "flop_sp_mul",
                                    "flop_sp_fma",
                                    "flop_dp_add",
                                    "flop_dp_mul",
                                    "flop_dp_fma",
                                    "flop_hp_add",
                                    "flop_hp_mul",
                                    "flop_hp_fma",
                                    "global_load_requests",
                                    "global_store_requests",
                                    "local_load_requests",
                                    "local_store_requests",
                                    "shared_load_requests",
                                    "shared_store_requests",
                                    "shared_atomic_requests",
                                    "shared_matrix_load_requests",
                                    "shared_matrix_store_requests",
                                    "global_atomic_requests",
                                    "global_reduction_requests",
                                    "shared_load_wavefronts",
                                    "shared_store_wavefronts",
                                    "shared_atomic_wavefronts",
                                    "shared_matrix_load_wavefronts",
                                    "shared_matrix_store_wavefronts",
                                    "shared_wgmma_wavefronts",
                                    "shared_wgmma_requests",
                                    "async_copy_wavefronts",
                                    "global_load_sectors",
                                    "global_store_sectors",
                                    "local_load_sectors",
                                    "local_store_sectors"};

}  // namespace

std::int64_t add_model_device(schema::Store& store, std::int64_t run) {
  schema::Device device;
  device.backend = "model";
  device.name = "model sm_90";
  device.compute_capability = 90;
  return store.add_device(run, device);
}

schema::Launch counted_launch(const std::string& variant,
                              const std::map<std::string, double>& counts, std::int64_t bytes,
                              const std::string& left_out) {
  schema::Launch launch;
  launch.family = "test";
  launch.variant = variant;
  launch.kernel = variant;
  launch.size = 1024;
  launch.verified = true;
  launch.useful_bytes_read = launch.useful_bytes_written = bytes / 2;
  for (const char* name : counters) {
    if (name == left_out) continue;
    const auto count = counts.find(name);
    launch.counters.push_back(
        {name, count == counts.end() ? 0 : count->second, schema::Grade::exact, ""});
  }
  return launch;
}

std::int64_t add_limits_run(schema::Store& store) {
  const std::int64_t run = store.begin_run({});
  const std::int64_t device = add_model_device(store, run);
  const std::map<std::string, double> base = {{"warp_instructions", 40'000},
                                              {"flop_sp_fma", 640'000},
                                              {"global_load_requests", 4'000},
                                              {"global_load_sectors", 16'000}};
  const std::pair<const char*, std::map<std::string, double>> variants[] = {
      {"issue", {}},
      {"strided", {{"global_load_sectors", 128'000}}},
      {"conflicts", {{"shared_load_requests", 2'000}, {"shared_load_wavefronts", 64'000}}},
      {"compute", {{"flop_sp_fma", 6'400'000}}}};
  for (const auto& [variant, changes] : variants) {
    std::map<std::string, double> counts = changes;
    counts.insert(base.begin(), base.end());
    store.add_launch(run, device, counted_launch(variant, counts, 65'536));
  }
  store.end_run(run, schema::RunOutcome::done, "");
  return run;
}

}  // namespace warpmeter::reports
