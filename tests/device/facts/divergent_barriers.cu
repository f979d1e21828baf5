// SPDX-License-Identifier: MIT
// Records what a GPU does with the kernels of tests/collector/model/programs/barriers.cu: whether
// they end, who waited for whom, and what they answered.
//
//   divergent_barriers [FIRST [COUNT [SLOW [NUMBER,NUMBER…]]]]    cases from that number on
//
// A launch that hangs ends the program with 7; begin again with the case behind it.
#include "tests/collector/model/programs/barriers.cu"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>
struct Case {
  const char* name;
  void (*kernel)(Log*, unsigned);
  bool slow;
};
#define B(n) \
  { #n, n, true }
#define C(n) \
  { #n, n, false }
const Case cases[] = {
    B(b_all),
    B(b_if),
    C(s_reduce),
    B(b_if_slow_else),
    B(b_if_first_warp),
    B(b_if_first_warp_slow_else),
    B(b_if_then_all),
    B(b_if_then_all_first_warp),
    B(b_sides),
    B(b_sides_first_warp),
    B(b_sides_then_all),
    B(b_sides_two_and_one),
    B(b_first_lane),
    B(b_first_lane_then_all),
    B(b_first_warp_then_all),
    B(b_flag_before),
    B(b_loop_lanes),
    B(b_loop_halves),
    B(b_loop_then_all),
    B(b_break),
    B(b_continue),
    B(b_loop_if),
    B(b_loop_if_then_all),
    B(b_call),
    B(b_call_sides),
    B(b_call_then_all),
    B(b_exit),
    B(b_exit_slow),
    B(b_nested),
    B(b_switch),
    B(b_two_then_else_one_then_all),
    C(c_if),
    C(c_if_then_all),
    C(c_sides),
    C(c_first_lane),
    C(c_loop),
    C(s_reduce_interleaved),
    C(s_guard),
    C(s_guard_odd),
    C(s_scan),
    C(s_tiles),
    C(s_converge),
    C(s_exchange),
    C(s_leader),
    C(s_first_warps_last),
    B(r_count_if),
    B(r_count_if_then_all),
    B(r_count_sides),
    C(r_count_sides_small),
    B(r_or_sides),
    B(r_and_sides),
    B(r_and_if),
    B(r_count_and_sync),
    C(r_exited),
    C(r_loop),
    B(u_if),
    B(u_if_slow_else),
    B(u_sides),
    B(u_if_then_all),
    B(n_half_32),
    B(n_halves_64),
    B(n_halves_64_slow_else),
    B(n_sides_other_numbers),
    B(n_half_32_then_all),
    B(n_half_and_all),
    B(n_arrive_half),
    B(n_arrive_half_slow_else),
    C(m_shfl_if),
    B(m_shfl_if_slow),
    B(m_shfl_sides),
    C(m_shfl_exited),
    C(m_shfl_lacks),
    C(m_shfl_lacks_variable),
    B(m_syncwarp_if),
    B(m_syncwarp_if_slow),
    B(m_syncwarp_sides),
    B(m_syncwarp_sides_two_and_one),
    C(m_syncwarp_lacks),
    B(m_ballot_if),
    B(m_ballot_sides),
    C(m_ballot_lacks),
    C(m_any_all),
    B(m_active),
    B(m_reduce_if),
    B(m_reduce_sides),
    C(m_reduce_lacks),
    B(m_match_if),
    B(m_match_sides),
    B(m_tile_if),
    B(m_tile_32_if),
    B(m_coalesced),
    C(m_warp_loop),
    C(m_warp_loop_branch),
    B(u_half_32),
    B(u_halves_64),
    B(u_sides_64),
    C(n_sides_64),
    C(n_arrive_sides),
    C(b_else_waits_for_flag),
    C(m_syncwarp_flag),
    B(x_shfl_then_bar),
    B(x_syncwarp_then_bar),
    B(x_ballot_then_bar),
    B(x_reduce_then_bar),
    B(x_shfl_then_shfl),
    B(x_syncwarp_then_shfl),
    C(x_shfl_then_bar_small),
    C(x_shfl_xor_1_then_bar_small),
    C(x_syncwarp_then_bar_small),
    C(x_warp_loop_then_bar),
    C(x_warp_loop_variable_then_bar),
    C(x_shfl_guarded),
    C(x_shfl_predicated),
    C(x_bar_predicated),
    C(x_bar_predicated_first_lane),
    C(x_reduce_then_bar_rolled),
    C(x_reduce_then_bar_unrolled),
    C(x_exchange_rolled),
    C(x_leader_then_bar),
    C(x_guard_then_bar),
    C(x_tiles_then_bar),
};
constexpr int case_count = sizeof(cases) / sizeof(cases[0]);

double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

void print(const Case& c, unsigned slow, const Log* log) {
  const unsigned start = log[points * threads * words];
  for (int k = 0; k < points; ++k) {
    for (int t = 0; t < threads;) {
      const Log* const at = log + (k * threads + t) * words;
      int end = t + 1;
      while (end < threads && std::memcmp(at, log + (k * threads + end) * words, 12 * 4) == 0 &&
             at[13] == log[(k * threads + end) * words + 13] &&
             at[14] == log[(k * threads + end) * words + 14])
        ++end;
      if (at[14] != 0) {
        std::printf("%s,%x,%d,%d,%d", c.name, slow, k, t, end - 1);
        for (int i = 0; i < 12; ++i) std::printf(",%x", at[i]);
        std::printf(",%u,%d\n", at[12] - start, int(at[13]));
      }
      t = end;
    }
  }
}

int main(int argc, char** argv) {
  const int first = argc > 1 ? std::atoi(argv[1]) : 0;
  const int count = argc > 2 ? std::atoi(argv[2]) : case_count;
  const unsigned only = argc > 3 ? std::strtoul(argv[3], nullptr, 16) : ~0u;
  std::vector<int> chosen;
  if (argc > 4) {
    for (char* at = std::strtok(argv[4], ","); at != nullptr; at = std::strtok(nullptr, ",")) {
      chosen.push_back(std::atoi(at));
    }
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  Log *log = nullptr, *device = nullptr;  // the log of the host: read even when the kernel hangs
  const size_t bytes = (points * threads * words + 16) * sizeof(Log);
  if (cudaHostAlloc(&log, bytes, cudaHostAllocMapped) != cudaSuccess) return 5;
  cudaHostGetDevicePointer(&device, log, 0);
  for (int i = first; i < case_count && i < first + count; ++i) {
    if (!chosen.empty() && std::find(chosen.begin(), chosen.end(), i) == chosen.end()) continue;
    for (const unsigned slow : {0u, 1u, 2u, 0xcu, 0x15u, 0x2au}) {
      if (slow != 0 && !cases[i].slow) continue;
      if (only != ~0u && slow != only) continue;
      std::memset(log, 0, bytes);
      cases[i].kernel<<<1, threads>>>(device, slow);
      const double since = now();
      cudaError_t e = cudaGetLastError();
      if (e == cudaSuccess) {
        do e = cudaStreamQuery(0);
        while (e == cudaErrorNotReady && now() - since < 0.2);
      }
      std::printf("= %d %s %x %s\n", i, cases[i].name, slow,
                  e == cudaErrorNotReady ? "HANG"
                  : e == cudaSuccess     ? "ENDS"
                                         : cudaGetErrorName(e));
      print(cases[i], slow, log);
      if (e != cudaSuccess) {
        std::fflush(stdout);
        std::_Exit(7);
      }
    }
  }
  return 0;
}
