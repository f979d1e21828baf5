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
  double sectors = 0;  // those of global memory
  for (const auto& [name, value] : counts) {
    if (name.starts_with("global_") && name.ends_with("_sectors")) sectors += value;
  }
  launch.counters.push_back({"global_bytes_moved", 32 * sectors, schema::Grade::exact, ""});
  for (const char* name :
       {"texture_load_sectors", "surface_load_sectors", "surface_store_sectors"}) {
    launch.counters.push_back({name, 0, schema::Grade::exact, ""});
  }
  return launch;
}

schema::Launch measured_launch(const std::string& variant,
                               const std::map<std::string, double>& counts, double elapsed,
                               const std::map<std::string, double>& measured) {
  schema::Launch launch = counted_launch(variant, counts, 1024);
  for (schema::Counter& counter : launch.counters) counter.grade = schema::Grade::measured;
  for (const auto& [name, value] : measured) {
    launch.counters.push_back({name, value, schema::Grade::measured, ""});
  }
  launch.counters.push_back({"elapsed_cycles_sm", elapsed, schema::Grade::measured, ""});
  return launch;
}

std::vector<schema::Launch> copying_launches() {
  const auto measured = [](std::map<std::string, double> more, double hits) {
    std::map<std::string, double> all = {{"l2_read_sectors", 1'048'576},
                                         {"l2_write_sectors", 1'048'576},
                                         {"dram_read_bytes", 33'554'432},
                                         {"dram_write_bytes", 20'971'520},
                                         {"tex_cache_hit_rate", hits},
                                         {"l2_tex_hit_rate", 56.25},
                                         {"dram_utilization", 70},
                                         {"l2_utilization", 41},
                                         {"l2_tag_utilization", 33},
                                         {"tensor_utilization", 0},
                                         {"l1_data_pipe_utilization", 12},
                                         {"achieved_occupancy", 80.5},
                                         {"alu_utilization", 9},
                                         {"fma_utilization", 3},
                                         {"xu_utilization", 0.5},
                                         {"global_atomic_sectors", 0},
                                         {"global_reduction_sectors", 0},
                                         {"async_copy_requests", 0},
                                         {"async_copy_sectors", 0},
                                         {"bulk_load_requests", 0},
                                         {"bulk_load_bytes", 0},
                                         {"bulk_store_requests", 0},
                                         {"bulk_store_bytes", 0},
                                         {"distributed_shared_load_requests", 0},
                                         {"distributed_shared_store_requests", 0},
                                         {"distributed_shared_async_store_requests", 0}};
    for (const auto& [name, value] : more) all[name] = value;
    return all;
  };
  const std::map<std::string, double> stores = {{"global_store_requests", 262'144},
                                                {"global_store_sectors", 1'048'576},
                                                {"shared_load_requests", 262'144},
                                                {"shared_load_wavefronts", 262'144}};
  const auto counts = [&](std::map<std::string, double> more) {
    more.insert(stores.begin(), stores.end());
    return more;
  };
  std::vector<schema::Launch> launches = {
      measured_launch("direct",
                      counts({{"warp_instructions", 5'000'000},
                              {"global_load_requests", 262'144},
                              {"global_load_sectors", 1'048'576},
                              {"shared_store_requests", 262'144},
                              {"shared_store_wavefronts", 2'097'152}}),
                      4'000'000, measured({}, 12.5)),
      measured_launch(
          "cp_async",
          counts({{"warp_instructions", 3'000'000},
                  {"global_load_requests", 65'536},
                  {"global_load_sectors", 1'048'576},
                  {"async_copy_wavefronts", 262'144}}),
          3'000'000,
          measured({{"async_copy_requests", 65'536}, {"async_copy_sectors", 1'048'576}}, 0)),
      measured_launch(
          "bulk", counts({{"warp_instructions", 2'000'000}}), 2'500'000,
          measured({{"bulk_load_requests", 4'096}, {"bulk_load_bytes", 33'554'432}}, 0)),
      measured_launch("cluster", counts({{"warp_instructions", 2'200'000}}), 2'400'000,
                      measured({{"bulk_load_requests", 2'048},
                                {"bulk_load_bytes", 33'554'432},
                                {"distributed_shared_load_requests", 131'072}},
                               0))};
  for (schema::Launch& launch : launches) launch.family = "copying";
  return launches;
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
  schema::Device card;
  card.backend = "cupti";
  card.name = "NVIDIA H200";
  card.compute_capability = 90;
  card.uuid = "GPU-1";
  const std::int64_t gpu = store.add_device(run, card);
  for (const schema::Launch& launch : copying_launches()) store.add_launch(run, gpu, launch);
  store.end_run(run, schema::RunOutcome::done, "");
  return run;
}

}  // namespace warpmeter::reports
