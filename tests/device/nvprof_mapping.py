# SPDX-License-Identifier: MIT
"""NVIDIA's table "nvprof metric comparison" (Nsight Compute, guide to the command line), for nvprof_names.py: the formula
that replaces each metric and event, over PerfWorks names as ncu prints them.

A row is: name = formula, or name = formula | factor, where the factor leads to warpmeter's unit (GB/s, per cent, one
multiprocessor). A mark says where the formula is not NVIDIA's:
  +  NVIDIA has none
  !  NVIDIA's formula is wrong or does not exist on today's chips; the comment above the row says how
"""
import re

ACTIVE, ELAPSED = ".avg.pct_of_peak_sustained_active", ".avg.pct_of_peak_sustained_elapsed"
TABLE = """
achieved_occupancy = sm__warps_active{A}
atomic_transactions = l1tex__t_set_accesses_pipe_lsu_mem_global_op_atom.sum + l1tex__t_set_accesses_pipe_lsu_mem_global_op_red.sum + l1tex__t_set_accesses_pipe_tex_mem_surface_op_atom.sum + l1tex__t_set_accesses_pipe_tex_mem_surface_op_red.sum
atomic_transactions_per_request = (l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum + l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum) / (l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum + l1tex__t_requests_pipe_lsu_mem_global_op_red.sum)
branch_efficiency = smsp__sass_average_branch_targets_threads_uniform.pct
cf_executed = smsp__inst_executed_pipe_cbu.sum + smsp__inst_executed_pipe_adu.sum
+cf_fu_utilization = smsp__inst_executed_pipe_cbu{A}
double_precision_fu_utilization = smsp__inst_executed_pipe_fp64{A}
dram_read_bytes = dram__bytes_read.sum
dram_read_throughput = dram__bytes_read.sum.per_second | 1e-9
dram_read_transactions = dram__sectors_read.sum
dram_utilization = dram__throughput{E}
dram_write_bytes = dram__bytes_write.sum
dram_write_throughput = dram__bytes_write.sum.per_second | 1e-9
dram_write_transactions = dram__sectors_write.sum
eligible_warps_per_cycle = smsp__warps_eligible.sum.per_cycle_active
flop_count_dp = smsp__sass_thread_inst_executed_op_dadd_pred_on.sum + smsp__sass_thread_inst_executed_op_dmul_pred_on.sum + smsp__sass_thread_inst_executed_op_dfma_pred_on.sum * 2
flop_count_dp_add = smsp__sass_thread_inst_executed_op_dadd_pred_on.sum
flop_count_dp_fma = smsp__sass_thread_inst_executed_op_dfma_pred_on.sum
flop_count_dp_mul = smsp__sass_thread_inst_executed_op_dmul_pred_on.sum
flop_count_hp = smsp__sass_thread_inst_executed_op_hadd_pred_on.sum + smsp__sass_thread_inst_executed_op_hmul_pred_on.sum + smsp__sass_thread_inst_executed_op_hfma_pred_on.sum * 2
flop_count_hp_add = smsp__sass_thread_inst_executed_op_hadd_pred_on.sum
flop_count_hp_fma = smsp__sass_thread_inst_executed_op_hfma_pred_on.sum
flop_count_hp_mul = smsp__sass_thread_inst_executed_op_hmul_pred_on.sum
flop_count_sp = smsp__sass_thread_inst_executed_op_fadd_pred_on.sum + smsp__sass_thread_inst_executed_op_fmul_pred_on.sum + smsp__sass_thread_inst_executed_op_ffma_pred_on.sum * 2
flop_count_sp_add = smsp__sass_thread_inst_executed_op_fadd_pred_on.sum
flop_count_sp_fma = smsp__sass_thread_inst_executed_op_ffma_pred_on.sum
flop_count_sp_mul = smsp__sass_thread_inst_executed_op_fmul_pred_on.sum
flop_dp_efficiency = smsp__sass_thread_inst_executed_ops_dadd_dmul_dfma_pred_on{E}
flop_hp_efficiency = smsp__sass_thread_inst_executed_ops_hadd_hmul_hfma_pred_on{E}
flop_sp_efficiency = smsp__sass_thread_inst_executed_ops_fadd_fmul_ffma_pred_on{E}
gld_efficiency = smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct
+gld_requested_throughput = smsp__sass_data_bytes_mem_global_op_ld.sum / gpu__time_duration.sum
gld_throughput = l1tex__t_bytes_pipe_lsu_mem_global_op_ld.sum.per_second | 1e-9
gld_transactions = l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
gld_transactions_per_request = l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio
global_atomic_requests = l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum
global_hit_rate = (l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum + l1tex__t_sectors_pipe_lsu_mem_global_op_st_lookup_hit.sum + l1tex__t_sectors_pipe_lsu_mem_global_op_red_lookup_hit.sum + l1tex__t_sectors_pipe_lsu_mem_global_op_atom_lookup_hit.sum) / (l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum + l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum + l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum + l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum) | 100
global_load_requests = l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum
global_reduction_requests = l1tex__t_requests_pipe_lsu_mem_global_op_red.sum
global_store_requests = l1tex__t_requests_pipe_lsu_mem_global_op_st.sum
gst_efficiency = smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct
+gst_requested_throughput = smsp__sass_data_bytes_mem_global_op_st.sum / gpu__time_duration.sum
gst_throughput = l1tex__t_bytes_pipe_lsu_mem_global_op_st.sum.per_second | 1e-9
gst_transactions = l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
gst_transactions_per_request = l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio
# The pipe fp16 is a part of the pipe fma since AD102 and GH100.
!half_precision_fu_utilization = smsp__inst_executed_pipe_fma_type_fp16{A}
inst_bit_convert = smsp__sass_thread_inst_executed_op_conversion_pred_on.sum
inst_compute_ld_st = smsp__sass_thread_inst_executed_op_memory_pred_on.sum
inst_control = smsp__sass_thread_inst_executed_op_control_pred_on.sum
inst_executed = smsp__inst_executed.sum
inst_executed_global_atomics = smsp__sass_inst_executed_op_global_atom.sum
inst_executed_global_loads = smsp__inst_executed_op_global_ld.sum
inst_executed_global_reductions = smsp__inst_executed_op_global_red.sum
inst_executed_global_stores = smsp__inst_executed_op_global_st.sum
inst_executed_local_loads = smsp__inst_executed_op_local_ld.sum
inst_executed_local_stores = smsp__inst_executed_op_local_st.sum
# NVIDIA adds dot_alu and dot_cas, which are parts of the first.
!inst_executed_shared_atomics = smsp__inst_executed_op_shared_atom.sum
inst_executed_shared_loads = smsp__inst_executed_op_shared_ld.sum
inst_executed_shared_stores = smsp__inst_executed_op_shared_st.sum
inst_executed_surface_atomics = smsp__inst_executed_op_surface_atom.sum
# NVIDIA adds two counters of shared atomics.
!inst_executed_surface_loads = smsp__inst_executed_op_surface_ld.sum
inst_executed_surface_reductions = smsp__inst_executed_op_surface_red.sum
inst_executed_surface_stores = smsp__inst_executed_op_surface_st.sum
inst_executed_tex_ops = smsp__inst_executed_op_texture.sum
inst_fp_16 = smsp__sass_thread_inst_executed_op_fp16_pred_on.sum
inst_fp_32 = smsp__sass_thread_inst_executed_op_fp32_pred_on.sum
inst_fp_64 = smsp__sass_thread_inst_executed_op_fp64_pred_on.sum
inst_integer = smsp__sass_thread_inst_executed_op_integer_pred_on.sum
inst_inter_thread_communication = smsp__sass_thread_inst_executed_op_inter_thread_communication_pred_on.sum
inst_issued = smsp__inst_issued.sum
inst_misc = smsp__sass_thread_inst_executed_op_misc_pred_on.sum
inst_per_warp = smsp__average_inst_executed_per_warp.ratio
+inst_replay_overhead = (smsp__inst_issued.sum - smsp__inst_executed.sum) / smsp__inst_executed.sum
ipc = smsp__inst_executed.avg.per_cycle_active | 4
issue_slot_utilization = smsp__issue_active{A}
issue_slots = smsp__inst_issued.sum
issued_ipc = smsp__inst_issued.avg.per_cycle_active | 4
l1_sm_lg_utilization = l1tex__lsu_writeback_active{A}
l2_atomic_throughput = 2 * (lts__t_sectors_op_atom.sum.per_second + lts__t_sectors_op_red.sum.per_second) | 32e-9
l2_atomic_transactions = 2 * (lts__t_sectors_op_atom.sum + lts__t_sectors_op_red.sum)
# lts__t_bytes_equiv_l1sectormiss_… is not on AD102, GH100 and later.
!l2_global_atomic_store_bytes = l1tex__m_l1tex2xbar_write_bytes_mem_global_op_atom.sum
!l2_global_load_bytes = l1tex__t_bytes_pipe_lsu_mem_global_op_ld_lookup_miss.sum
!l2_global_reduction_bytes = l1tex__m_l1tex2xbar_write_bytes_mem_global_op_red.sum
!l2_local_global_store_bytes = l1tex__m_l1tex2xbar_write_bytes_mem_lg_op_st.sum
!l2_local_load_bytes = l1tex__t_bytes_pipe_lsu_mem_local_op_ld_lookup_miss.sum
!l2_surface_atomic_store_bytes = l1tex__m_l1tex2xbar_write_bytes_mem_surface_op_atom.sum
!l2_surface_load_bytes = l1tex__m_xbar2l1tex_read_bytes_mem_surface_op_ld.sum
!l2_surface_reduction_bytes = l1tex__m_l1tex2xbar_write_bytes_mem_surface_op_red.sum
!l2_surface_store_bytes = l1tex__m_l1tex2xbar_write_bytes_mem_surface_op_st.sum
l2_read_throughput = lts__t_sectors_op_read.sum.per_second + lts__t_sectors_op_atom.sum.per_second + lts__t_sectors_op_red.sum.per_second | 32e-9
l2_read_transactions = lts__t_sectors_op_read.sum + lts__t_sectors_op_atom.sum + lts__t_sectors_op_red.sum
l2_tex_hit_rate = lts__t_sector_hit_rate.pct
l2_tex_read_hit_rate = lts__t_sector_op_read_hit_rate.pct
l2_tex_read_throughput = lts__t_sectors_srcunit_tex_op_read.sum.per_second | 32e-9
l2_tex_read_transactions = lts__t_sectors_srcunit_tex_op_read.sum
l2_tex_write_hit_rate = lts__t_sector_op_write_hit_rate.pct
l2_tex_write_throughput = lts__t_sectors_srcunit_tex_op_write.sum.per_second | 32e-9
l2_tex_write_transactions = lts__t_sectors_srcunit_tex_op_write.sum
l2_utilization = lts__t_sectors{E}
l2_write_throughput = lts__t_sectors_op_write.sum.per_second + lts__t_sectors_op_atom.sum.per_second + lts__t_sectors_op_red.sum.per_second | 32e-9
l2_write_transactions = lts__t_sectors_op_write.sum + lts__t_sectors_op_atom.sum + lts__t_sectors_op_red.sum
+ldst_executed = smsp__inst_executed_op_global_ld.sum + smsp__inst_executed_op_global_st.sum + smsp__inst_executed_op_local_ld.sum + smsp__inst_executed_op_local_st.sum + smsp__inst_executed_op_shared_ld.sum + smsp__inst_executed_op_shared_st.sum + smsp__inst_executed_op_generic_ld.sum + smsp__inst_executed_op_generic_st.sum + smsp__inst_executed_op_texture.sum
ldst_fu_utilization = smsp__inst_executed_pipe_lsu{A}
+local_hit_rate = (l1tex__t_sectors_pipe_lsu_mem_local_op_ld_lookup_hit.sum + l1tex__t_sectors_pipe_lsu_mem_local_op_st_lookup_hit.sum) / (l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum + l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum) | 100
local_load_requests = l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum
local_load_throughput = l1tex__t_bytes_pipe_lsu_mem_local_op_ld.sum.per_second | 1e-9
local_load_transactions = l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum
local_load_transactions_per_request = l1tex__average_t_sectors_per_request_pipe_lsu_mem_local_op_ld.ratio
+local_memory_overhead = (l1tex__t_bytes_pipe_lsu_mem_local_op_ld_lookup_miss.sum + l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum * 32) / (lts__t_sectors_srcunit_tex_op_read.sum * 32 + lts__t_sectors_srcunit_tex_op_write.sum * 32) | 100
local_store_requests = l1tex__t_requests_pipe_lsu_mem_local_op_st.sum
local_store_throughput = l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum.per_second | 32e-9
local_store_transactions = l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum
local_store_transactions_per_request = l1tex__average_t_sectors_per_request_pipe_lsu_mem_local_op_st.ratio
nvlink_overhead_data_received = (nvlrx__bytes_data_protocol.sum / nvlrx__bytes.sum) * 100
nvlink_overhead_data_transmitted = (nvltx__bytes_data_protocol.sum / nvltx__bytes.sum) * 100
nvlink_receive_throughput = nvlrx__bytes.sum.per_second | 1e-9
nvlink_total_data_received = nvlrx__bytes.sum
nvlink_total_data_transmitted = nvltx__bytes.sum
+nvlink_total_response_data_received = nvlrx__bytes_packet_response.sum
nvlink_transmit_throughput = nvltx__bytes.sum.per_second | 1e-9
nvlink_user_data_received = nvlrx__bytes_data_user.sum
nvlink_user_data_transmitted = nvltx__bytes_data_user.sum
+nvlink_user_response_data_received = nvlrx__bytes_packet_response_data_user.sum
pcie_total_data_received = pcie__read_bytes.sum
pcie_total_data_transmitted = pcie__write_bytes.sum
shared_efficiency = smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct
shared_load_throughput = l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum.per_second | 128e-9
# NVIDIA's l1tex__data_pipe_lsu_wavefronts_mem_shared_op_… adds arbitration, which moves from run to run.
!shared_load_transactions = smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum
+shared_load_transactions_per_request = smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum / smsp__sass_inst_executed_op_shared_ld.sum
shared_store_throughput = l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum.per_second | 128e-9
!shared_store_transactions = smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum
+shared_store_transactions_per_request = smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum / smsp__sass_inst_executed_op_shared_st.sum
shared_utilization = l1tex__data_pipe_lsu_wavefronts_mem_shared{E}
single_precision_fu_utilization = smsp__pipe_fma_cycles_active{A}
sm_efficiency = smsp__cycles_active{E}
sm_tex_utilization = l1tex__texin_sm2tex_req_cycles_active{A}
special_fu_utilization = smsp__inst_executed_pipe_xu{A}
stall_constant_memory_dependency = smsp__warp_issue_stalled_imc_miss_per_warp_active.pct
stall_exec_dependency = smsp__warp_issue_stalled_short_scoreboard_per_warp_active.pct + smsp__warp_issue_stalled_wait_per_warp_active.pct
stall_inst_fetch = smsp__warp_issue_stalled_no_instruction_per_warp_active.pct
stall_memory_dependency = smsp__warp_issue_stalled_long_scoreboard_per_warp_active.pct
stall_memory_throttle = smsp__warp_issue_stalled_drain_per_warp_active.pct + smsp__warp_issue_stalled_lg_throttle_per_warp_active.pct
stall_not_selected = smsp__warp_issue_stalled_not_selected_per_warp_active.pct
# NVIDIA leaves the resolving of branches out of every reason.
!stall_other = smsp__warp_issue_stalled_dispatch_stall_per_warp_active.pct + smsp__warp_issue_stalled_misc_per_warp_active.pct + smsp__warp_issue_stalled_branch_resolving_per_warp_active.pct
stall_pipe_busy = smsp__warp_issue_stalled_math_pipe_throttle_per_warp_active.pct + smsp__warp_issue_stalled_mio_throttle_per_warp_active.pct
stall_sleeping = smsp__warp_issue_stalled_sleeping_per_warp_active.pct
stall_sync = smsp__warp_issue_stalled_barrier_per_warp_active.pct + smsp__warp_issue_stalled_membar_per_warp_active.pct
stall_texture = smsp__warp_issue_stalled_tex_throttle_per_warp_active.pct
surface_atomic_requests = l1tex__t_requests_pipe_tex_mem_surface_op_atom.sum
surface_load_requests = l1tex__t_requests_pipe_tex_mem_surface_op_ld.sum
surface_reduction_requests = l1tex__t_requests_pipe_tex_mem_surface_op_red.sum
surface_store_requests = l1tex__t_requests_pipe_tex_mem_surface_op_st.sum
sysmem_read_bytes = lts__t_sectors_aperture_sysmem_op_read.sum * 32
sysmem_read_throughput = lts__t_sectors_aperture_sysmem_op_read.sum.per_second | 32e-9
sysmem_read_transactions = lts__t_sectors_aperture_sysmem_op_read.sum
sysmem_write_bytes = lts__t_sectors_aperture_sysmem_op_write.sum * 32
sysmem_write_throughput = lts__t_sectors_aperture_sysmem_op_write.sum.per_second | 32e-9
sysmem_write_transactions = lts__t_sectors_aperture_sysmem_op_write.sum
tensor_precision_fu_utilization = sm__pipe_tensor_op_hmma_cycles_active{A}
tensor_int_fu_utilization = sm__pipe_tensor_op_imma_cycles_active{A}
tex_cache_hit_rate = l1tex__t_sector_hit_rate.pct
+tex_cache_throughput = l1tex__lsu_writeback_active.sum.per_second + l1tex__tex_writeback_active.sum.per_second | 128e-9
# NVIDIA's formula is the same two in per cent of their peak, which is no count.
!tex_cache_transactions = l1tex__lsu_writeback_active.sum + l1tex__tex_writeback_active.sum
tex_fu_utilization = smsp__inst_executed_pipe_tex{A}
tex_sm_tex_utilization = l1tex__f_tex2sm_cycles_active{E}
tex_sm_utilization = sm__mio2rf_writeback_active{E}
+tex_utilization = l1tex__throughput{E}
texture_load_requests = l1tex__t_requests_pipe_tex_mem_texture.sum
+unique_warps_launched = smsp__warps_launched.sum
warp_execution_efficiency = smsp__thread_inst_executed_per_inst_executed.ratio | 3.125
# NVIDIA's smsp__thread_inst_executed_per_inst_executed.pct does not look at guards.
!warp_nonpred_execution_efficiency = smsp__thread_inst_executed_pred_on_per_inst_executed.ratio | 3.125
event active_cycles = sm__cycles_active.sum
event active_cycles_sys = sys__cycles_active.sum
event active_warps = sm__warps_active.sum
event inst_executed_atomics = smsp__inst_executed_op_generic_atom_dot_alu.sum
event elapsed_cycles_sm = sm__cycles_elapsed.sum
event elapsed_cycles_sys = sys__cycles_elapsed.sum
event inst_executed_compare_and_swaps = smsp__inst_executed_op_generic_atom_dot_cas.sum
event inst_executed_pipe_fma = smsp__inst_executed_pipe_fma.sum
# As half_precision_fu_utilization.
!event inst_executed_pipe_fp16 = smsp__inst_executed_pipe_fma_type_fp16.sum
event inst_executed_pipe_fp64 = smsp__inst_executed_pipe_fp64.sum
event cycles_without_issue = smsp__issue_inst0.sum
event l2_read_misses = lts__t_sectors_op_read_lookup_miss.sum
event l2_write_misses = lts__t_sectors_op_write_lookup_miss.sum
event l2_tex_read_hits = lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum
event l2_tex_write_hits = lts__t_sectors_srcunit_tex_op_write_lookup_hit.sum
event thread_instructions_pred_on = smsp__thread_inst_executed_pred_on.sum
event blocks_launched = sm__ctas_launched.sum
event inst_executed_generic_loads = smsp__inst_executed_op_generic_ld.sum
event inst_executed_generic_stores = smsp__inst_executed_op_generic_st.sum
# NVIDIA's smsp__inst_executed_shared_atom_dot_cas.sum lacks its op_.
!event inst_executed_shared_compare_and_swaps = smsp__inst_executed_op_shared_atom_dot_cas.sum
event shared_ld_bank_conflict = l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum
event shared_st_bank_conflict = l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum
event tensor_pipe_active_cycles = smsp__pipe_tensor_cycles_active.sum
event thread_instructions = smsp__thread_inst_executed.sum
"""
PERFWORKS = re.compile(r"\b[a-z0-9]+__[a-z0-9_.]+")


class Row:
    """`name`: the catalogue's; `mark`: "", "+" or "!"."""

    def __init__(self, line):
        found = re.fullmatch(r"([+!]?)(event )?(\w+) = (.*?)(?: \| ([\de.-]+))?", line)
        self.mark, event, self.name, formula, factor = found.groups()
        self.is_event, self.factor = bool(event), float(factor or 1)
        self.formula = formula.replace("{A}", ACTIVE).replace("{E}", ELAPSED)

    def metrics(self):
        return PERFWORKS.findall(self.formula)

    def value(self, of):
        """The formula's value for a row of ncu's; None where ncu has no number for one or divides by 0."""
        if any(of.get(metric) is None for metric in self.metrics()):
            return None
        try:
            return self.factor * eval(PERFWORKS.sub(lambda m: f"({of[m.group()]!r})", self.formula), {"__builtins__": {}})
        except ZeroDivisionError:
            return None

    def is_of_link(self):
        return self.formula.lstrip("(").startswith(("nvl", "pcie"))


ROWS = [Row(line) for line in TABLE.strip().split("\n") if not line.startswith("#")]
