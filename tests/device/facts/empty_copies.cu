// SPDX-License-Identifier: MIT
// cp.async.cg of which the last ones copy no bytes, as in the pipelines that Triton makes: the same
// launch twelve times, in eight blocks. Hardware's counter of the sectors that cp.async touches
// (sm__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts) gives another number each time where
// some copy nothing and a block has more than four warps; those of L1 do not
// (l1tex__t_sectors_pipe_lsu_mem_global_op_ld).
//
//   warpmeter profile -m async_copy_requests,async_copy_sectors ./empty_copies
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdio>

constexpr int blocks = 8, steps = 8, stages = 3, launches = 12, row_distance = 512;

// Rows of so many bytes; the place of a thread in shared memory is its number × 16, xor its number
// masked by `swizzle` × 2; `ahead`: groups that stay under way.
template <int warps, int row_bytes, int swizzle, int copies, int ahead, bool has_empty>
__global__ void copy(const char* in, char* out) {
  extern __shared__ char shared[];
  constexpr int threads = warps * 32, rows = threads / (row_bytes / 16);
  const int thread = static_cast<int>(threadIdx.x), row = thread / (row_bytes / 16);
  const char* from = in +
                     static_cast<std::size_t>(blockIdx.x * rows * copies + row) * row_distance +
                     thread % (row_bytes / 16) * 16;
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared)) +
                      ((thread * 16) ^ ((thread & swizzle) * 2));
  for (int step = 0; step < steps + (has_empty ? ahead : 0); ++step) {
    const int bytes = step < steps ? 16 : 0;
    for (int c = 0; c < copies; ++c) {
      asm volatile(
          "cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to + (step % stages * copies + c) *
                                                                         threads * 16),
          "l"(from + step % (row_distance / row_bytes) * row_bytes + c * rows * row_distance),
          "r"(bytes));
    }
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group %0;" ::"n"(ahead));
    __syncthreads();
  }
  asm volatile("cp.async.wait_all;");
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = shared[thread];
}

template <int warps, int row_bytes, int swizzle, int copies, int ahead, bool has_empty>
void launch(const char* in, char* out) {
  constexpr int bytes = stages * copies * warps * 512;
  const auto kernel = copy<warps, row_bytes, swizzle, copies, ahead, has_empty>;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  for (int i = 0; i < launches; ++i) kernel<<<blocks, warps * 32, bytes>>>(in, out);
}

int main() {
  char *in, *out;
  cudaMalloc(&in, std::size_t{64} << 20);
  cudaMemset(in, 1, std::size_t{64} << 20);
  cudaMalloc(&out, std::size_t{1} << 20);
  launch<8, 64, 0, 6, 2, false>(in, out);
  launch<8, 64, 24, 1, 2, false>(in, out);
  launch<8, 64, 24, 6, 2, false>(in, out);
  launch<8, 64, 24, 6, 2, true>(in, out);
  launch<8, 64, 0, 6, 2, true>(in, out);
  launch<4, 64, 24, 6, 2, true>(in, out);
  launch<4, 64, 24, 6, 2, false>(in, out);
  launch<8, 128, 56, 6, 2, false>(in, out);
  launch<8, 128, 56, 6, 2, true>(in, out);
  launch<8, 64, 24, 6, 0, false>(in, out);
  launch<1, 64, 24, 6, 2, false>(in, out);
  launch<8, 64, 8, 6, 2, false>(in, out);
  launch<8, 64, 16, 6, 2, false>(in, out);
  launch<8, 32, 0, 6, 2, false>(in, out);
  std::puts(cudaGetErrorString(cudaDeviceSynchronize()));
}
