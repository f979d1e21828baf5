// SPDX-License-Identifier: MIT
// Barriers and exchanges that only some lanes of a warp come to. Each kernel runs as one block of
// three warps. A lane notes that it came to a point (COME), and behind it who had come to each
// point by then (WENT), with an answer (SAID). `slow`: which halves of warps are late, a bit each.
//
// An H100's answers are in tests/golden/h100_divergent_barriers.csv, recorded by
// tests/device/facts/divergent_barriers.cu. Names: b_ barriers, c_ short ones, s_ as students write
// them, r_ with a reduction, n_ for a number of threads, u_ not aligned, m_ exchanges, x_ one after
// the other.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

constexpr int threads = 96, points = 6, words = 16;
constexpr unsigned full = ~0u;
using Log = unsigned;

// A kernel a line, to be compared with its neighbours.
// clang-format off
__shared__ volatile unsigned come[4][3];
__shared__ volatile int flag;

__device__ __forceinline__ void spin(unsigned slow) {
  if (slow >> (threadIdx.x / 16) & 1) {
    const long long since = clock64();
    while (clock64() - since < 60000) {
    }
  }
}
__device__ __forceinline__ void note(int k) {
  atomicOr(const_cast<unsigned*>(&come[k][threadIdx.x / 32]), 1u << threadIdx.x % 32);
}
__device__ __forceinline__ void went(Log* log, int k, int value) {
  Log* const at = log + (k * threads + threadIdx.x) * words;
  for (int i = 0; i < 4; ++i) {
    for (int w = 0; w < 3; ++w) at[3 * i + w] = come[i][w];
  }
  at[12] = static_cast<unsigned>(clock64()) | 1;
  at[13] = value;
  at[14] = 1;
}
#define START                                                       \
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;          \
  const bool A = lane < 16;                                         \
  if (t < 12) come[t / 3][t % 3] = 0;                               \
  if (t == 0) flag = 0;                                             \
  __syncthreads();                                                  \
  if (t == 0) log[points * threads * words] = unsigned(clock64());  \
  (void)lane; (void)warp; (void)A;
#define COME(k) spin(slow), note(k)
#define WENT(k) went(log, k, 0)
#define SAID(k, value) went(log, k, value)
#define K(name) extern "C" __global__ void name(Log* log, unsigned slow)
#define END spin(0), WENT(5)

K(b_all) { START COME(0); __syncthreads(); WENT(0); END; }
K(b_if) { START if (A) { COME(0); __syncthreads(); WENT(0); } END; }
K(b_if_first_warp) { START if (t < 16 || t >= 32) { COME(0); __syncthreads(); WENT(0); } END; }
K(b_if_slow_else) { START if (A) { COME(0); __syncthreads(); WENT(0); } else { spin(slow); } END; }
K(b_if_first_warp_slow_else) { START if (t < 16 || t >= 32) { COME(0); __syncthreads(); WENT(0); } else { COME(1); } END; }
K(b_if_then_all) { START if (A) { COME(0); __syncthreads(); WENT(0); } COME(1); __syncthreads(); WENT(1); END; }
K(b_if_then_all_first_warp) { START if (t < 16 || t >= 32) { COME(0); __syncthreads(); WENT(0); } COME(1); __syncthreads(); WENT(1); END; }
K(b_sides) { START if (A) { COME(0); __syncthreads(); WENT(0); } else { COME(1); __syncthreads(); WENT(1); } END; }
K(b_sides_first_warp) { START if (t < 16 || t >= 32) { COME(0); __syncthreads(); WENT(0); } else { COME(1); __syncthreads(); WENT(1); } if (warp > 0) { COME(2); } END; }
K(b_sides_then_all) { START if (A) { COME(0); __syncthreads(); WENT(0); } else { COME(1); __syncthreads(); WENT(1); } COME(2); __syncthreads(); WENT(2); END; }
K(b_sides_two_and_one) { START if (A) { COME(0); __syncthreads(); WENT(0); COME(1); __syncthreads(); WENT(1); } else { COME(2); __syncthreads(); WENT(2); } END; }
K(b_first_lane) { START if (t == 0) { COME(0); __syncthreads(); WENT(0); } END; }
K(b_first_lane_then_all) { START if (t == 0) { COME(0); __syncthreads(); WENT(0); } COME(1); __syncthreads(); WENT(1); END; }
K(b_first_warp_then_all) { START if (t < 32) { COME(0); __syncthreads(); WENT(0); } COME(1); __syncthreads(); WENT(1); END; }
K(b_else_waits_for_flag) { START if (A) { COME(0); __syncthreads(); WENT(0); flag = 1; } else { while (flag == 0) {} COME(1); } END; }
K(b_flag_before) { START if (A) { COME(0); flag = 1; __syncthreads(); WENT(0); } else { while (flag == 0) {} COME(1); __syncthreads(); WENT(1); } END; }
K(b_loop_lanes) { START for (int i = 0; i < 1 + t % 3; ++i) { COME(i); __syncthreads(); WENT(i); } END; }
K(b_loop_halves) { START for (int i = 0; i < 1 + t / 16 % 3; ++i) { COME(i); __syncthreads(); WENT(i); } END; }
K(b_loop_then_all) { START for (int i = 0; i < 1 + t % 3; ++i) { COME(i); __syncthreads(); WENT(i); } COME(3); __syncthreads(); WENT(3); END; }
K(b_break) { START for (int i = 0; i < 3; ++i) { if (lane / 8 == i) break; COME(i); __syncthreads(); WENT(i); } END; }
K(b_continue) { START for (int i = 0; i < 3; ++i) { if ((lane / 8 + i) % 2) continue; COME(i); __syncthreads(); WENT(i); } END; }
__device__ __noinline__ void apart(Log* log, unsigned slow, int k) { COME(k); __syncthreads(); WENT(k); }
K(b_loop_if) { START for (int i = 0; i < 3; ++i) { if (A) { COME(i); __syncthreads(); WENT(i); } else { note(3); } } END; }
K(b_loop_if_then_all) { START for (int i = 0; i < 3; ++i) { if (A) { COME(i); __syncthreads(); WENT(i); } note(3); __syncthreads(); WENT(3 + (i == 2)); } END; }
K(b_call) { START if (A) apart(log, slow, 0); END; }
K(b_call_sides) { START if (A) { apart(log, slow, 0); } else { spin(slow); apart(log, slow, 1); note(2); } END; }
K(b_call_then_all) { START if (A) apart(log, slow, 0); COME(1); __syncthreads(); WENT(1); END; }
K(b_exit) { START if (!A) return; COME(0); __syncthreads(); WENT(0); END; }
K(b_exit_slow) { START if (!A) { COME(1); return; } COME(0); __syncthreads(); WENT(0); END; }
K(b_nested) { START if (A) { if (lane < 8) { COME(0); __syncthreads(); WENT(0); } else { COME(1); __syncthreads(); WENT(1); } COME(2); __syncthreads(); WENT(2); } END; }
K(b_switch) { START switch (lane / 8) { case 0: COME(0); __syncthreads(); WENT(0); break; case 1: COME(1); __syncthreads(); WENT(1); break; case 2: COME(2); __syncthreads(); WENT(2); break; default: COME(3); } END; }
K(b_two_then_else_one_then_all) { START if (t < 16) { COME(0); __syncthreads(); WENT(0); COME(1); __syncthreads(); WENT(1); } COME(2); __syncthreads(); WENT(2); COME(3); __syncthreads(); WENT(3); END; }
// With a number of threads, with other numbers, arriving, reducing.
#define BAR(n, c) asm volatile("bar.sync " #n ", " #c ";" ::: "memory")
#define ARRIVE(n, c) asm volatile("bar.arrive " #n ", " #c ";" ::: "memory")
K(n_half_32) { START if (t < 16) { COME(0); BAR(1, 32); WENT(0); } END; }
K(n_halves_64) { START if (A && t < 64) { COME(0); BAR(1, 64); WENT(0); } END; }
K(n_halves_64_slow_else) { START if (A && t < 64) { COME(0); BAR(1, 64); WENT(0); } else { COME(1); } END; }
K(n_sides_64) { START if (t < 16) { COME(0); BAR(1, 64); WENT(0); } else if (t < 32) { COME(1); BAR(1, 64); WENT(1); } END; }
K(n_sides_other_numbers) { START if (A) { COME(0); BAR(1, 96); WENT(0); } else { COME(1); BAR(2, 96); WENT(1); } END; }
K(n_half_32_then_all) { START if (t < 16) { COME(0); BAR(1, 32); WENT(0); } COME(1); __syncthreads(); WENT(1); END; }
K(n_half_and_all) { START if (t < 16) { COME(0); BAR(1, 96); WENT(0); } else { COME(1); __syncthreads(); WENT(1); BAR(1, 96); } END; }
K(n_arrive_half) { START if (t < 16) { COME(0); ARRIVE(1, 64); WENT(0); } else if (warp == 1) { COME(1); BAR(1, 64); WENT(1); } END; }
K(n_arrive_half_slow_else) { START if (t < 16) { COME(0); ARRIVE(1, 64); WENT(0); } else if (warp == 1) { COME(1); BAR(1, 64); WENT(1); } else { COME(2); } END; }
K(n_arrive_sides) { START if (t < 16) { COME(0); ARRIVE(1, 96); WENT(0); } else if (t < 32) { COME(1); ARRIVE(1, 96); WENT(1); } else if (warp == 1) { COME(2); BAR(1, 96); WENT(2); } END; }
K(r_count_if) { START if (A) { COME(0); const int n = __syncthreads_count(1); SAID(0, n); } END; }
K(r_count_if_then_all) { START if (A) { COME(0); const int n = __syncthreads_count(1); SAID(0, n); } COME(1); const int m = __syncthreads_count(1); SAID(1, m); END; }
K(r_count_sides) { START if (A) { COME(0); const int n = __syncthreads_count(lane < 4); SAID(0, n); } else { COME(1); const int n = __syncthreads_count(1); SAID(1, n); } END; }
K(r_count_sides_small) { START int n; if (A) n = __syncthreads_count(lane < 4); else n = 1000 + __syncthreads_count(1); SAID(0, n); END; }
K(r_or_sides) { START if (A) { COME(0); const int n = __syncthreads_or(0); SAID(0, n); } else { COME(1); const int n = __syncthreads_or(warp == 2); SAID(1, n); } END; }
K(r_and_sides) { START if (A) { COME(0); const int n = __syncthreads_and(1); SAID(0, n); } else { COME(1); const int n = __syncthreads_and(warp != 2); SAID(1, n); } END; }
K(r_and_if) { START if (A) { COME(0); const int n = __syncthreads_and(1); SAID(0, n); } END; }
K(r_count_and_sync) { START if (A) { COME(0); const int n = __syncthreads_count(1); SAID(0, n); } else { COME(1); __syncthreads(); SAID(1, 0); } END; }
K(r_exited) { START if (!A) return; COME(0); const int n = __syncthreads_count(1), m = __syncthreads_and(1); SAID(0, n * 2 + m); END; }
K(r_loop) { START int sum = 0, i = 0; while (__syncthreads_count(i < 1 + t % 3) > 0) { sum += i; if (++i > 2 + t % 2) break; } SAID(0, sum * 8 + i); END; }
// barrier.sync: not aligned.
#define BARRIER asm volatile("barrier.sync 0;" ::: "memory")
K(u_if) { START if (A) { COME(0); BARRIER; WENT(0); } END; }
K(u_if_slow_else) { START if (A) { COME(0); BARRIER; WENT(0); } else { COME(1); } END; }
K(u_sides) { START if (A) { COME(0); BARRIER; WENT(0); } else { COME(1); BARRIER; WENT(1); } END; }
K(u_if_then_all) { START if (A) { COME(0); BARRIER; WENT(0); } COME(1); BARRIER; WENT(1); END; }
K(u_half_32) { START if (t < 16) { COME(0); asm volatile("barrier.sync 1, 32;" ::: "memory"); WENT(0); } END; }
K(u_halves_64) { START if (A && t < 64) { COME(0); asm volatile("barrier.sync 1, 64;" ::: "memory"); WENT(0); } END; }
K(u_sides_64) { START if (t < 16) { COME(0); asm volatile("barrier.sync 1, 64;" ::: "memory"); WENT(0); } else if (t < 32) { COME(1); asm volatile("barrier.sync 1, 64;" ::: "memory"); WENT(1); } END; }
// Small ones, which ptxas predicates: order shows in shared memory.
K(c_if) { START if (A) { note(0); __syncthreads(); note(1); } WENT(0); }
K(c_if_then_all) { START if (A) { note(0); __syncthreads(); } note(1); __syncthreads(); WENT(0); }
K(c_sides) { START if (A) { note(0); __syncthreads(); } else { note(1); __syncthreads(); } WENT(0); }
K(c_first_lane) { START if (t == 0) { flag = 7; __syncthreads(); } SAID(0, flag); }
K(c_loop) { START int n = 0; for (int i = 0; i < 1 + t % 3; ++i) { note(i); __syncthreads(); ++n; } SAID(0, n); }

// Students write such sums; the answer is in `value` of point 0.
K(s_reduce) {
  START __shared__ int s[256]; const int in = t * 7 % 31; s[t] = in; if (t < 32) s[96 + t] = 0; __syncthreads();
  for (int k = 64; k > 0; k >>= 1) { if (t < k) { s[t] += s[t + k]; __syncthreads(); } }
  SAID(0, t == 0 ? s[0] : 0);
}
K(s_reduce_interleaved) {
  START __shared__ int s[128]; s[t] = t * 7 % 31; if (t < 32) s[96 + t] = 0; __syncthreads();
  for (int k = 1; k < 96; k *= 2) { if (t % (2 * k) == 0) { s[t] += s[t + k]; __syncthreads(); } }
  SAID(0, t == 0 ? s[0] : 0);
}
K(s_guard) {
  START __shared__ int s[threads]; const int n = 80;
  if (t < n) { s[t] = t * 5 % 17; __syncthreads(); const int v = s[t ^ 16] + s[t / 2]; SAID(0, v); }
}
K(s_guard_odd) {
  START __shared__ int s[threads]; const int n = 75;
  if (t < n) { s[t] = t * 5 % 17; __syncthreads(); const int v = s[n - 1 - t]; __syncthreads(); s[t] = v; __syncthreads(); SAID(0, s[(t + 1) % n]); }
}
K(s_scan) {
  START __shared__ int s[threads]; s[t] = t * 5 % 17; __syncthreads();
  for (int d = 1; d < threads; d *= 2) { if (t >= d) { const int v = s[t - d]; __syncthreads(); s[t] += v; __syncthreads(); } }
  SAID(0, s[t]);
}
K(s_tiles) {  // 16 x 6 threads, columns beyond n do nothing
  START __shared__ int a[6][16], b[16][17]; const int x = t % 16, y = t / 16, n = 12; int sum = 0;
  if (x < n) {
    for (int tile = 0; tile < 2; ++tile) {
      a[y][x] = y * 3 + x + tile; for (int r = y; r < 12; r += 6) b[r][x] = r * x + tile;
      __syncthreads();
      for (int k = 0; k < 12; ++k) sum += a[y][k] * b[k][x];
      __syncthreads();
    }
  }
  SAID(0, sum);
}
K(s_converge) {
  START __shared__ int s[threads]; s[t] = t * 5 % 17; bool going = true; int rounds = 0;
  while (going) { s[t] /= 2; ++rounds; __syncthreads(); if (s[t] == 0) going = false; }
  SAID(0, rounds);
}
K(s_exchange) {
  START __shared__ int s[threads]; s[t] = t * 37 % 101; __syncthreads();
  for (int j = 16; j > 0; j >>= 1) { const int p = t ^ j; if (p > t) { if (s[t] > s[p]) { const int v = s[t]; s[t] = s[p]; s[p] = v; } __syncthreads(); } }
  SAID(0, s[t]);
}
K(s_leader) {
  START __shared__ int total; if (t == 0) { total = 42; __syncthreads(); } SAID(0, total);
}
K(s_first_warps_last) {
  START __shared__ int s[threads]; s[t] = t; __syncthreads(); if (t < 48) { s[t] += s[t + 48]; __syncthreads(); } if (t < 24) { s[t] += s[t + 24]; __syncthreads(); } if (t < 12) { s[t] += s[t + 12]; __syncthreads(); }
  if (t == 0) { int v = 0; for (int i = 0; i < 12; ++i) v += s[i]; SAID(0, v); }
}
// Lanes that exchange where not all of the mask are.
K(m_shfl_if) { START const int v = t * 3 + flag; if (A) { const int g = __shfl_down_sync(full, v, 8); SAID(0, g); } END; }
K(m_shfl_if_slow) { START const int v = t * 3 + flag; if (A) { COME(0); const int g = __shfl_xor_sync(full, v, 16); SAID(0, g); } else { COME(1); } END; }
K(m_shfl_sides) { START int v = t * 3 + flag; if (A) { COME(0); v += 1000; const int g = __shfl_xor_sync(full, v, 16); SAID(0, g); } else { COME(1); v += 2000; const int g = __shfl_xor_sync(full, v, 16); SAID(1, g); } END; }
K(m_shfl_exited) { START int v = t * 3 + flag; if (!A) return; const int g = __shfl_xor_sync(full, v, 16); SAID(0, g); END; }
K(m_shfl_lacks) { START int v = t * 3 + flag; const int g = __shfl_xor_sync(0xffffu, v, 1); SAID(0, g); END; }
K(m_shfl_lacks_variable) { START int v = t * 3 + flag; const int g = __shfl_xor_sync(0xffffu + flag, v, 1); SAID(0, g); END; }
K(m_syncwarp_if) { START if (A) { COME(0); __syncwarp(); WENT(0); } END; }
K(m_syncwarp_if_slow) { START if (A) { COME(0); __syncwarp(); WENT(0); } else { COME(1); } END; }
K(m_syncwarp_sides) { START if (A) { COME(0); __syncwarp(); WENT(0); } else { COME(1); __syncwarp(); WENT(1); } END; }
K(m_syncwarp_sides_two_and_one) { START if (A) { COME(0); __syncwarp(); WENT(0); COME(2); __syncwarp(); WENT(2); } else { COME(1); __syncwarp(); WENT(1); } END; }
K(m_syncwarp_lacks) { START COME(0); __syncwarp(0xffffu); WENT(0); END; }
K(m_syncwarp_flag) { START if (A) { COME(0); __syncwarp(); flag = 1; } else { while (flag == 0) {} } END; }
K(m_ballot_if) { START COME(2); if (A) { COME(0); const int g = __ballot_sync(full, lane != 3 + flag); SAID(0, g); } else { COME(1); } END; }
K(m_ballot_sides) { START if (A) { COME(0); const int g = __ballot_sync(full, lane != 3 + flag); SAID(0, g); } else { COME(1); const int g = __ballot_sync(full, lane != 20 + flag); SAID(1, g); } END; }
K(m_ballot_lacks) { START const int g = __ballot_sync(0xff00u + flag, lane != 3); SAID(0, g); END; }
K(m_any_all) { START if (A) { const int g = __any_sync(full, lane == 20 + flag) + 2 * __all_sync(full, lane < 16 + flag) + 4 * __all_sync(full, 1 + flag); SAID(0, g); } END; }
K(m_active) { START if (A) { COME(0); SAID(0, __activemask()); } SAID(1, __activemask()); END; }
K(m_reduce_if) { START if (A) { COME(0); const int g = __reduce_add_sync(full, 1 + flag); SAID(0, g); } END; }
K(m_reduce_sides) { START if (A) { COME(0); const int g = __reduce_add_sync(full, 1 + flag); SAID(0, g); } else { COME(1); const int g = __reduce_add_sync(full, 100 + flag); SAID(1, g); } END; }
K(m_reduce_lacks) { START const int g = __reduce_add_sync(0xff00u + flag, 1); SAID(0, g); END; }
K(m_match_if) { START if (A) { COME(0); const int g = __match_any_sync(full, t % 4 + flag); SAID(0, g); } END; }
K(m_match_sides) { START if (A) { COME(0); const int g = __match_any_sync(full, t % 4 + flag); SAID(0, g); } else { COME(1); const int g = __match_any_sync(full, t % 4 + flag); SAID(1, g); } END; }
K(m_tile_if) { START auto tile = cg::tiled_partition<16>(cg::this_thread_block()); if (lane < 8) { COME(0); tile.sync(); SAID(0, tile.shfl_xor(t, 1)); } END; }
K(m_tile_32_if) { START auto tile = cg::tiled_partition<32>(cg::this_thread_block()); if (A) { COME(0); const int g = tile.shfl_down(t, 4); tile.sync(); SAID(0, g); } END; }
K(m_coalesced) { START if (lane % 3 == 0) { COME(0); auto g = cg::coalesced_threads(); g.sync(); SAID(0, g.size() * 64 + g.thread_rank()); } END; }
K(m_warp_loop) { START int v = t; for (int i = 16; i > 0; i /= 2) { if (lane < i) v += __shfl_down_sync(full, v, i); } SAID(0, v); }
K(m_warp_loop_branch) { START int v = t; for (int i = 16; i > 0; i /= 2) { if (lane < i) { COME(0); v += __shfl_down_sync(full, v, i); } } SAID(0, v); }
// One after the other: exchanges by some lanes, then a barrier, or another exchange, by all.
K(x_shfl_then_bar) { START const int v = t * 3 + flag; int g = 0; if (A) { COME(0); g = __shfl_xor_sync(full, v, 16); SAID(0, g); } COME(1); __syncthreads(); SAID(1, g); END; }
K(x_shfl_then_bar_small) { START const int v = t * 3 + flag; int g = 0; if (A) g = __shfl_xor_sync(full, v, 16); __syncthreads(); SAID(1, g); END; }
K(x_shfl_xor_1_then_bar_small) { START const int v = t * 3 + flag; int g = 0; if (A) g = __shfl_xor_sync(full, v, 1); __syncthreads(); SAID(1, g); END; }
K(x_syncwarp_then_bar) { START if (A) { COME(0); __syncwarp(); WENT(0); } COME(1); __syncthreads(); WENT(1); END; }
K(x_syncwarp_then_bar_small) { START if (A) { note(0); __syncwarp(); note(1); } __syncthreads(); WENT(1); END; }
K(x_ballot_then_bar) { START int g = 0; if (A) { COME(0); g = __ballot_sync(full, lane != 3 + flag); SAID(0, g); } COME(1); __syncthreads(); SAID(1, g); END; }
K(x_reduce_then_bar) { START int g = 0; if (A) { COME(0); g = __reduce_add_sync(full, 1 + flag); SAID(0, g); } COME(1); __syncthreads(); SAID(1, g); END; }
K(x_warp_loop_then_bar) { START int v = t; for (int i = 16; i > 0; i /= 2) { if (lane < i) v += __shfl_down_sync(full, v, i); } __syncthreads(); SAID(0, v); }
K(x_warp_loop_variable_then_bar) { START int v = t; for (int i = 16 + flag; i > 0; i /= 2) { if (lane < i) v += __shfl_down_sync(full, v, i); } __syncthreads(); SAID(0, v); }
K(x_shfl_then_shfl) { START int v = t * 3 + flag; if (A) { COME(0); v = __shfl_xor_sync(full, v, 16); SAID(0, v); } COME(1); v += 1000; v = __shfl_xor_sync(full, v, 16); SAID(1, v); END; }
K(x_syncwarp_then_shfl) { START int v = t * 3 + flag; if (A) { COME(0); __syncwarp(); WENT(0); v += 1000; } COME(1); v = __shfl_xor_sync(full, v, 16); SAID(1, v); END; }
K(x_shfl_guarded) { START const int v = t * 3 + flag + 5; int g = -1; if (lane % 2) g = __shfl_xor_sync(full, v, 1); SAID(0, g); }
K(x_shfl_predicated) { START const int v = t * 3 + flag + 5; int g = -1; asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; @p shfl.sync.bfly.b32 %0, %1, 1, 31, -1; }" : "+r"(g) : "r"(v), "r"(lane & 1)); SAID(0, g); }
K(x_bar_predicated) { START asm volatile("{ .reg .pred p; setp.lt.s32 p, %0, 16; @p bar.sync 0; }" ::"r"(lane) : "memory"); note(0); __syncthreads(); WENT(0); }
K(x_bar_predicated_first_lane) { START int n = 0; if (t == 0) note(1); asm volatile("{ .reg .pred p; setp.eq.s32 p, %0, 0; @p bar.sync 0; }" ::"r"(t) : "memory"); note(0); __syncthreads(); SAID(0, n); }
K(x_reduce_then_bar_rolled) {
  START __shared__ int s[256]; s[t] = t * 7 % 31; if (t < 32) s[96 + t] = 0; __syncthreads();
#pragma unroll 1
  for (int k = blockDim.x * 2 / 3; k > 0; k >>= 1) { if (t < k) { s[t] += s[t + k]; __syncthreads(); } }
  __syncthreads(); SAID(0, s[0]);
}
K(x_reduce_then_bar_unrolled) {
  START __shared__ int s[256]; s[t] = t * 7 % 31; if (t < 32) s[96 + t] = 0; __syncthreads();
  for (int k = 64; k > 0; k >>= 1) { if (t < k) { s[t] += s[t + k]; __syncthreads(); } }
  __syncthreads(); SAID(0, s[0]);
}
K(x_exchange_rolled) {
  START __shared__ int s[threads]; s[t] = t * 37 % 101; __syncthreads();
#pragma unroll 1
  for (int j = 16 + flag; j > 0; j >>= 1) { const int p = t ^ j; if (p > t) { if (s[t] > s[p]) { const int v = s[t]; s[t] = s[p]; s[p] = v; } __syncthreads(); } }
  SAID(0, s[t]);
}
K(x_leader_then_bar) { START __shared__ int total; if (t == 0) { total = 42; __syncthreads(); } __syncthreads(); SAID(0, total); }
K(x_guard_then_bar) { START __shared__ int s[threads]; if (t < 80) { s[t] = t * 3; __syncthreads(); } else { s[t] = 7; } __syncthreads(); SAID(0, s[95 - t]); }
K(x_tiles_then_bar) {
  START __shared__ int a[6][16]; const int x = t % 16, y = t / 16; int sum = 0;
  for (int tile = 0; tile < 2 + flag; ++tile) { if (x < 12) { a[y][x] = y * 3 + x + tile; __syncthreads(); for (int k = 0; k < 12; ++k) sum += a[y][k] * k; } __syncthreads(); }
  SAID(0, sum);
}
// clang-format on
