// SPDX-License-Identifier: MIT
// Every metric of the catalogue, derived from counters that can be worked out by hand.
#include "schema/figures/figures.h"
#include "tests/schema/fixture.h"

namespace warpmeter::schema {
namespace {

using ::testing::ElementsAre;

struct Derivation {
  const char* metric;
  std::vector<Counter> counters;
  const char* value;
};

class EveryMetric : public ::testing::TestWithParam<Derivation> {};

TEST_P(EveryMetric, IsDerivedAsDefined) {
  const Folder folder;
  Launch launch = example_launch();
  launch.counters = GetParam().counters;
  store_run(folder / "a.db", {launch});
  EXPECT_THAT(lines_of(Reader(folder / "a.db"), "SELECT value FROM results WHERE metric = :m",
                       {{":m", GetParam().metric}}),
              ElementsAre(GetParam().value));
}

INSTANTIATE_TEST_SUITE_P(
    Catalogue, EveryMetric,
    ::testing::Values(
        Derivation{"shared_load_transactions", {measured("shared_load_wavefronts", 7)}, "7"},
        Derivation{"shared_store_transactions", {measured("shared_store_wavefronts", 8)}, "8"},
        Derivation{
            "shared_load_transactions_per_request",
            {measured("shared_load_wavefronts", 786432), measured("shared_load_requests", 655360)},
            "1.2"},
        Derivation{"shared_store_transactions_per_request",
                   {measured("shared_store_wavefronts", 64), measured("shared_store_requests", 2)},
                   "32"},
        Derivation{"gld_transactions", {measured("global_load_sectors", 9)}, "9"},
        Derivation{"gst_transactions", {measured("global_store_sectors", 10)}, "10"},
        Derivation{"gld_transactions_per_request",
                   {measured("global_load_sectors", 9), measured("global_load_requests", 4)},
                   "2.25"},
        Derivation{"gst_transactions_per_request",
                   {measured("global_store_sectors", 8), measured("global_store_requests", 2)},
                   "4"},
        Derivation{
            "gld_efficiency",
            {measured("global_load_bytes", 37748736), measured("global_load_sectors", 2097152)},
            "56.25"},
        Derivation{"gst_efficiency",
                   {measured("global_store_bytes", 8), measured("global_store_sectors", 1)},
                   "25"},
        Derivation{"gld_throughput", {measured("global_load_bytes_per_second", 2.5e12)}, "2500"},
        Derivation{"gst_throughput", {measured("global_store_bytes_per_second", 1e9)}, "1"},
        Derivation{"gld_requested_throughput",
                   {measured("global_load_bytes", 1000), measured("duration_profiled", 500)},
                   "2"},
        Derivation{"gst_requested_throughput",
                   {measured("global_store_bytes", 1000), measured("duration_profiled", 250)},
                   "4"},
        Derivation{"dram_read_throughput", {measured("dram_read_bytes_per_second", 3e9)}, "3"},
        Derivation{"dram_write_throughput", {measured("dram_write_bytes_per_second", 4e9)}, "4"},
        Derivation{"inst_executed", {measured("warp_instructions", 753664)}, "753664"},
        Derivation{"warp_execution_efficiency",
                   {measured("thread_instructions", 24), measured("warp_instructions", 1)},
                   "75"},
        Derivation{
            "flop_count_sp",
            {measured("flop_sp_add", 1), measured("flop_sp_mul", 10), measured("flop_sp_fma", 100)},
            "211"},
        Derivation{
            "flop_count_dp",
            {measured("flop_dp_add", 1), measured("flop_dp_mul", 10), measured("flop_dp_fma", 100)},
            "211"},
        Derivation{"stall_constant_memory_dependency", {measured("stalled_imc_miss", 3)}, "3"},
        Derivation{"stall_exec_dependency",
                   {measured("stalled_short_scoreboard", 3), measured("stalled_wait", 4)},
                   "7"},
        Derivation{"stall_inst_fetch", {measured("stalled_no_instruction", 3)}, "3"},
        Derivation{"stall_memory_dependency", {measured("stalled_long_scoreboard", 3)}, "3"},
        Derivation{"stall_memory_throttle",
                   {measured("stalled_drain", 3), measured("stalled_lg_throttle", 4)},
                   "7"},
        Derivation{"stall_not_selected", {measured("stalled_not_selected", 3)}, "3"},
        Derivation{"stall_other",
                   {measured("stalled_branch_resolving", 1), measured("stalled_dispatch_stall", 2),
                    measured("stalled_misc", 4)},
                   "7"},
        Derivation{"stall_pipe_busy",
                   {measured("stalled_math_pipe_throttle", 3), measured("stalled_mio_throttle", 4)},
                   "7"},
        Derivation{"stall_sleeping", {measured("stalled_sleeping", 3)}, "3"},
        Derivation{
            "stall_sync", {measured("stalled_barrier", 3), measured("stalled_membar", 4)}, "7"},
        Derivation{"stall_texture", {measured("stalled_tex_throttle", 3)}, "3"}),
    [](const auto& test) { return test.param.metric; });

}  // namespace
}  // namespace warpmeter::schema
