// SPDX-License-Identifier: MIT
// Shared memory of a block of the cluster that has just ended, and of one that there is not.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdio>
namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) reaches(bool after_end, unsigned* out) {
  __shared__ unsigned number;
  cg::cluster_group cluster = cg::this_cluster();
  number = 40 + cluster.block_rank();
  unsigned* const other = cluster.map_shared_rank(&number, cluster.block_rank() ^ 1);
  cluster.sync();
  if (cluster.block_rank() == 1 && after_end) return;
  if (!after_end) out[cluster.block_rank()] = *other;
  cluster.sync();
  if (after_end) *other = 7;
}

__global__ void __cluster_dims__(2, 1, 1) misses(unsigned* out) {
  __shared__ unsigned number;
  number = threadIdx.x;
  unsigned read;
  asm volatile(
      "{ .reg .b32 at; mapa.shared::cluster.u32 at, %1, 7; ld.shared::cluster.u32 %0, [at]; }"
      : "=r"(read)
      : "r"(static_cast<unsigned>(__cvta_generic_to_shared(&number)))
      : "memory");
  out[0] = read;
}

int main() {
  unsigned *out, read[2] = {};
  cudaMalloc(&out, sizeof read);
  reaches<<<2, 1>>>(false, out);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaMemcpy(read, out, sizeof read, cudaMemcpyDeviceToHost);
  std::printf("%u %u\n", read[0], read[1]);
  reaches<<<2, 1>>>(true, out);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  misses<<<2, 1>>>(out);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
