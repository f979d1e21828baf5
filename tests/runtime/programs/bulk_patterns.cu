// SPDX-License-Identifier: MIT
// Copies of whole stretches by pattern: a launch makes one copy, or one by each of some lanes, of
// a size and between places that it prints.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>

#include "tensor_program.h"

constexpr unsigned most_bytes = 32768;

struct Stretch {
  unsigned bytes, global, shared;  ///< where it lies in each, in bytes
  unsigned lanes, step;            ///< the lanes that copy, and the bytes from one to the next
};

#define LANE                                                                                    \
  extern __shared__ __align__(128) char kept[];                                                 \
  __shared__ __align__(8) std::uint64_t object;                                                 \
  const unsigned t = threadIdx.x;                                                               \
  const std::uint64_t global = reinterpret_cast<std::uint64_t>(memory) + s.global + t * s.step; \
  const unsigned shared = at(kept) + s.shared + t * s.step

__global__ void load_stretch(char* memory, Stretch s) {
  LANE;
  if (t == 0) begin(&object, s.bytes * s.lanes);
  __syncwarp();
  if (t < s.lanes) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
            "r"(shared),
        "l"(global), "r"(s.bytes), "r"(at(&object))
        : "memory");
  }
  if (!wait(&object)) __trap();
}

#define TO_GLOBAL(name, operation)                                                       \
  __global__ void name(char* memory, Stretch s) {                                        \
    LANE;                                                                                \
    if (t == 0) begin(&object, 0);                                                       \
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");                         \
    __syncwarp();                                                                        \
    if (t < s.lanes) {                                                                   \
      asm volatile(operation " [%0], [%1], %2;" ::"l"(global), "r"(shared), "r"(s.bytes) \
                   : "memory");                                                          \
      wait_for_stores();                                                                 \
    }                                                                                    \
  }
#define REDUCE(kind) "cp.reduce.async.bulk.global.shared::cta.bulk_group." kind
TO_GLOBAL(store_stretch, "cp.async.bulk.global.shared::cta.bulk_group")
TO_GLOBAL(add_u32, REDUCE("add.u32"))
TO_GLOBAL(add_u64, REDUCE("add.u64"))
TO_GLOBAL(add_f16, REDUCE("add.noftz.f16"))
TO_GLOBAL(add_bf16, REDUCE("add.noftz.bf16"))
TO_GLOBAL(add_f32, REDUCE("add.f32"))
TO_GLOBAL(add_f64, REDUCE("add.f64"))
TO_GLOBAL(least_s32, REDUCE("min.s32"))
TO_GLOBAL(most_s64, REDUCE("max.s64"))
TO_GLOBAL(and_b32, REDUCE("and.b32"))
TO_GLOBAL(xor_b64, REDUCE("xor.b64"))
TO_GLOBAL(count_u32, REDUCE("inc.u32"))

__global__ void fetch_stretch(char* memory, Stretch s) {
  const std::uint64_t global = reinterpret_cast<std::uint64_t>(memory) + s.global;
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(global), "r"(s.bytes));
  }
}

__device__ inline unsigned in_block(unsigned address, unsigned rank) {
  unsigned result;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(result) : "r"(address), "r"(rank));
  return result;
}
__device__ inline unsigned own_rank() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ inline void meet() {
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
}

/// Block 0 loads for the blocks of the mask.
__global__ void load_for_blocks(char* memory, Stretch s, unsigned blocks) {
  LANE;
  const bool gets = (blocks >> own_rank() & 1) != 0;
  if (t == 0) begin(&object, gets ? s.bytes : 0);
  meet();
  if (own_rank() == 0 && t == 0) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1], %2, [%3], %4;" ::"r"(shared),
        "l"(global), "r"(s.bytes), "r"(at(&object)), "h"(static_cast<std::uint16_t>(blocks))
        : "memory");
  }
  if (gets && !wait(&object)) __trap();
  meet();
}

/// Block 0 copies, or adds, from its shared memory to that of another block.
#define TO_BLOCK(name, operation)                                                             \
  __global__ void name(char* memory, Stretch s, unsigned rank) {                              \
    LANE;                                                                                     \
    const bool gets = own_rank() == rank;                                                     \
    if (t == 0) begin(&object, gets ? s.bytes : 0);                                           \
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");                              \
    meet();                                                                                   \
    if (own_rank() == 0 && t == 0 && global != 0) {                                           \
      asm volatile(operation " [%0], [%1], %2, [%3];" ::"r"(in_block(shared + s.step, rank)), \
                   "r"(shared), "r"(s.bytes), "r"(in_block(at(&object), rank))                \
                   : "memory");                                                               \
    }                                                                                         \
    if (gets && !wait(&object)) __trap();                                                     \
    meet();                                                                                   \
  }
TO_BLOCK(copy_to_block, "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes")
TO_BLOCK(add_to_block,
         "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32")
TO_BLOCK(most_in_block,
         "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.max.s32")

char* memory = nullptr;
int launches = 0;

void say(const char* what, const Stretch& s, const char* also, unsigned number) {
  std::printf("%d %s: %u bytes at %u and %u, %u lanes by %u%s", ++launches, what, s.bytes, s.global,
              s.shared, s.lanes, s.step, also);
  if (number != 0) std::printf("%u", number);
  std::printf("\n");
}

void run(const char* what, void (*kernel)(char*, Stretch), unsigned bytes, unsigned global,
         unsigned shared = 0, unsigned lanes = 1, unsigned step = 0) {
  const Stretch s{bytes, global, shared, lanes, step};
  kernel<<<1, 32, most_bytes>>>(memory, s);
  say(what, s, "", 0);
}

void run_in_cluster(const char* what, void (*kernel)(char*, Stretch, unsigned), unsigned size,
                    const Stretch& s, unsigned number) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = size;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = size;
  config.blockDim = 32;
  config.dynamicSmemBytes = most_bytes;
  config.attrs = &attribute;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, kernel, memory, s, number);
  say(what, s,
      size == 2   ? ", of 2 blocks "
      : size == 4 ? ", of 4 blocks "
                  : ", of 8 blocks ",
      number);
}

int main() {
  cudaMalloc(&memory, 1 << 16);
  cudaMemset(memory, 0, 1 << 16);
  for (const unsigned bytes : {16, 32, 48, 64, 96, 112, 128, 144, 256, 272, 512, 1024, 4096, 16384})
    run("load", load_stretch, bytes, 0);
  for (const unsigned global : {16, 32, 48, 64, 80, 96, 112}) {
    run("load", load_stretch, 128, global);
    run("load", load_stretch, 1040, global, 48);
  }
  run("load", load_stretch, 64, 0, 0, 32, 64);
  run("load", load_stretch, 16, 16, 0, 7, 48);
  run("load", load_stretch, 256, 128, 0, 2, 8192);
  for (const unsigned bytes : {16, 32, 48, 64, 112, 128, 144, 272, 1024, 16384})
    run("store", store_stretch, bytes, 0);
  for (const unsigned global : {16, 32, 48, 80, 112}) {
    run("store", store_stretch, 128, global);
    run("store", store_stretch, 1040, global, 16);
  }
  run("store", store_stretch, 64, 0, 0, 16, 64);
  run("store", store_stretch, 48, 16, 0, 5, 80);
  for (const unsigned bytes : {16, 32, 48, 128, 272, 1024, 4096}) run("add u32", add_u32, bytes, 0);
  for (const unsigned global : {16, 48, 112}) run("add u32", add_u32, 144, global);
  for (const unsigned bytes : {16, 144, 1040}) {
    run("add u64", add_u64, bytes, 16);
    run("add f16", add_f16, bytes, 16);
    run("add bf16", add_bf16, bytes, 32);
    run("add f32", add_f32, bytes, 48);
    run("add f64", add_f64, bytes, 64);
  }
  run("least s32", least_s32, 256, 0);
  run("most s64", most_s64, 256, 16);
  run("and b32", and_b32, 256, 0);
  run("xor b64", xor_b64, 256, 0);
  run("count u32", count_u32, 256, 0);
  run("add u32", add_u32, 64, 0, 0, 8, 64);
  run("fetch", fetch_stretch, 256, 0);
  run("fetch", fetch_stretch, 4112, 16);
  for (const unsigned bytes : {16, 128, 272, 1024, 8192}) {
    run_in_cluster("load for", load_for_blocks, 2, {bytes, 0, 0, 1, 0}, 3);
    run_in_cluster("load for", load_for_blocks, 4, {bytes, 16, 0, 1, 0}, 0xf);
  }
  for (const unsigned blocks : {1, 2, 5, 0xe}) {
    run_in_cluster("load for", load_for_blocks, 4, {1024, 0, 0, 1, 0}, blocks);
  }
  run_in_cluster("load for", load_for_blocks, 8, {2048, 0, 0, 1, 0}, 0xff);
  for (const unsigned bytes : {16, 32, 48, 64, 128, 144, 272, 1024, 8192}) {
    run_in_cluster("copy to", copy_to_block, 2, {bytes, 0, 0, 1, 0}, 1);
  }
  run_in_cluster("copy to", copy_to_block, 2, {256, 0, 16, 1, 0}, 1);
  run_in_cluster("copy to", copy_to_block, 2, {256, 0, 0, 1, 16}, 1);
  run_in_cluster("copy to", copy_to_block, 2, {256, 0, 16, 1, 96}, 1);
  run_in_cluster("copy to", copy_to_block, 2, {256, 0, 0, 1, 1024}, 0);
  run_in_cluster("copy to", copy_to_block, 4, {256, 0, 0, 1, 0}, 3);
  for (const unsigned bytes : {16, 48, 128, 1024}) {
    run_in_cluster("add to", add_to_block, 2, {bytes, 0, 0, 1, 0}, 1);
  }
  run_in_cluster("add to", add_to_block, 2, {256, 0, 16, 1, 32}, 1);
  run_in_cluster("most in", most_in_block, 2, {256, 0, 0, 1, 0}, 1);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaFree(memory);
}
