// SPDX-License-Identifier: MIT
// Copies of boxes of tensors by pattern: a launch loads, stores or reduces one box, alone or for
// the blocks of a cluster, and prints which.
//
//   box_patterns [interleaved]     interleaved: then also tensors whose channels are interleaved
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include "tensor_program.h"

constexpr unsigned most_bytes = 32768;

__global__ void load_one(const __grid_constant__ CUtensorMap map, int rank, Place p, unsigned bytes,
                         unsigned offset) {
  extern __shared__ __align__(1024) char kept[];
  __shared__ __align__(8) std::uint64_t object;
  if (threadIdx.x != 0) return;
  begin(&object, bytes);
  load(&map, rank, p, at(kept) + offset, &object);
  if (!wait(&object)) __trap();
}

__global__ void store_one(const __grid_constant__ CUtensorMap map, int rank, Place p, unsigned,
                          unsigned offset) {
  extern __shared__ __align__(1024) char kept[];
  if (threadIdx.x != 0) return;
  store(&map, rank, p, at(kept) + offset);
  wait_for_stores();
}

#define REDUCING(operation, dim, coordinates)                                      \
  asm volatile("cp.reduce.async.bulk.tensor." dim ".global.shared::cta." operation \
               ".tile.bulk_group [%1, " coordinates "], [%0];" ::"r"(from),        \
               "l"(map), COORDINATES                                               \
               : "memory")
#define KERNEL(name, operation)                                                           \
  __global__ void name(const __grid_constant__ CUtensorMap descriptor, int rank, Place p, \
                       unsigned, unsigned offset) {                                       \
    extern __shared__ __align__(1024) char kept[];                                        \
    if (threadIdx.x != 0) return;                                                         \
    const CUtensorMap* const map = &descriptor;                                           \
    const unsigned from = at(kept) + offset;                                              \
    FIVE_WAYS(rank, operation);                                                           \
    wait_for_stores();                                                                    \
  }
#define ADD(dim, coordinates) REDUCING("add", dim, coordinates)
#define MIN(dim, coordinates) REDUCING("min", dim, coordinates)
#define XOR(dim, coordinates) REDUCING("xor", dim, coordinates)
KERNEL(add_one, ADD)
KERNEL(min_one, MIN)
KERNEL(xor_one, XOR)

#define FETCH(dim, coordinates)                                                         \
  asm volatile("cp.async.bulk.prefetch.tensor." dim ".L2.global.tile [%1, " coordinates \
               "];" ::"r"(0),                                                           \
               "l"(map), COORDINATES)
__global__ void fetch_one(const __grid_constant__ CUtensorMap descriptor, int rank, Place p,
                          unsigned, unsigned) {
  const CUtensorMap* const map = &descriptor;
  if (threadIdx.x == 0) FIVE_WAYS(rank, FETCH);
}

/// Block 0 loads for the blocks of the mask.
__global__ void load_for(const __grid_constant__ CUtensorMap map, Place p, unsigned bytes,
                         unsigned blocks) {
  extern __shared__ __align__(1024) char kept[];
  __shared__ __align__(8) std::uint64_t object;
  const bool gets = (blocks >> blockIdx.x & 1) != 0;
  if (threadIdx.x == 0) begin(&object, gets ? bytes : 0);
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(at(kept)),
        "l"(&map), "r"(p.of[0]), "r"(p.of[1]), "r"(at(&object)),
        "h"(static_cast<std::uint16_t>(blocks))
        : "memory");
  }
  if (gets && !wait(&object)) __trap();
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
}

char* memory = nullptr;
int launches = 0;
using Kernel = void (*)(CUtensorMap, int, Place, unsigned, unsigned);

void say(const char* what, const Tensor& t, const Place& p) {
  std::printf("%d %s %s, rank %u, %u bytes, at", ++launches, what, t.name, t.rank(), t.box_bytes());
  for (unsigned i = 0; i < t.rank(); ++i) std::printf(" %d", p.of[i]);
  std::printf("\n");
}

bool map_of(const Tensor& t, CUtensorMap* map) {
  const CUresult result = describe(t, memory, map);
  if (result != CUDA_SUCCESS) std::printf("%s: not made, %d\n", t.name, result);
  return result == CUDA_SUCCESS;
}

void run(const char* what, Kernel kernel, const Tensor& t, const Place& place,
         unsigned offset = 0) {
  CUtensorMap map;
  if (!map_of(t, &map)) return;
  kernel<<<1, 32, most_bytes>>>(map, t.rank(), place, t.box_bytes(), offset);
  say(what, t, place);
}
void load(const Tensor& t, const Place& place, unsigned offset = 0) {
  run("load", load_one, t, place, offset);
}
void store(const Tensor& t, const Place& place) { run("store", store_one, t, place); }

const Tensor plane{"plane", f32, {100, 50}, {416}, {32, 8}, {}};
const Tensor wide{"wide", f32, {512, 16}, {2048}, {64, 8}, {}};
const Tensor halves{"halves by 128", f16, {512, 32}, {1024}, {64, 16}, {}, by_128};
const Tensor volume{"volume", u32, {20, 10, 8}, {96, 1024}, {8, 4, 3}, {}};
const Tensor four{"four", u16, {16, 6, 5, 4}, {48, 304, 1600}, {8, 3, 2, 2}, {}};
const Tensor five{"five", u64, {6, 4, 3, 3, 3}, {48, 208, 640, 2048}, {2, 2, 2, 2, 2}, {}};

void loads() {
  for (const unsigned words : {4, 8, 12, 16, 24, 32, 40, 64, 256}) {
    load({"line", u32, {1024}, {}, {words}, {}}, {0});
  }
  for (const int x : {4, 8, 12, 16, 28, 100, -12, 1000, 2000, -64}) {
    load({"line of 64", u32, {1024}, {}, {64}, {}}, {x});
  }
  for (const unsigned bytes : {16, 32, 48, 112, 256}) {
    load({"bytes", u8, {1003}, {}, {bytes}, {}}, {32});
  }
  load({"bytes", u8, {1003}, {}, {112}, {}}, {944});
  load({"shorts", u16, {1000}, {}, {24}, {}}, {-8});
  for (const Place& p : {Place{0, 0}, {4, 5}, {8, 0}, {-8, -3}, {92, 45}, {40, -20}, {40, 1000}}) {
    load(plane, p);
  }
  load(plane, {4, 5}, 128);
  for (const Place& p : {Place{0, 0}, {4, 1}, {32, 0}, {480, 12}}) load(wide, p);
  load(halves, {0, 0});
  load(halves, {8, 3}, 1024);
  load({"halves by 64", f16, {512, 32}, {1024}, {32, 16}, {}, by_64}, {0, 0});
  load({"halves by 32", f16, {512, 32}, {1024}, {16, 16}, {}, by_32}, {0, 0});
  load({"halves", f16, {512, 32}, {1024}, {64, 16}, {}}, {0, 0});
  load({"halves of 8", f16, {512, 32}, {1024}, {8, 64}, {}}, {0, 0});
  load({"halves of 8, apart", f16, {512, 32}, {1024}, {8, 64}, {}}, {24, 0});
  load({"by 32", f32, {100, 50}, {416}, {8, 16}, {}, by_32}, {4, 2});
  load({"by 64", f32, {100, 50}, {416}, {16, 16}, {}, by_64}, {4, 2});
  load({"by 128", f32, {100, 50}, {416}, {32, 16}, {}, by_128}, {4, 2});
  load({"by 128, narrow", f32, {100, 50}, {416}, {8, 16}, {}, by_128}, {4, 2});
  load({"by 64, narrow", f32, {100, 50}, {416}, {8, 16}, {}, by_64}, {4, 2});
  load({"bytes by 128", u8, {400, 50}, {416}, {128, 9}, {}, by_128}, {16, 2});
  load({"doubles by 128", f64, {64, 32}, {512}, {16, 32}, {}, by_128}, {16, 0});
  load({"bfloats by 128", bf16, {512, 32}, {1024}, {64, 32}, {}, by_128}, {64, 0});
  load({"every second", u32, {100, 50}, {416}, {32, 8}, {2, 3}}, {4, 5});
  load({"every second row", u32, {100, 50}, {416}, {32, 9}, {1, 2}}, {4, 45});
  load({"every third of a row", u32, {100, 50}, {416}, {36, 8}, {3, 1}}, {92, 45});
  load({"nan", f32, {100, 50}, {416}, {32, 8}, {}, plain, nan_fill}, {92, 45});
  load({"tf32", tf32, {100, 50}, {416}, {32, 8}, {}}, {0, 0});
  for (const Place& p : {Place{0, 0, 0}, {16, -1, 6}, {4, 3, 1}, {12, 8, 0}}) load(volume, p);
  load({"volume by 32", u32, {20, 10, 8}, {96, 1024}, {8, 4, 3}, {}, by_32}, {4, 3, 1});
  load({"dense volume", f16, {64, 8, 8}, {128, 1024}, {64, 4, 4}, {}, by_128}, {0, 2, 1});
  load(four, {0, 0, 0, 0});
  load(four, {8, 4, -1, 3});
  load({"dense four", f16, {32, 4, 4, 4}, {64, 256, 1024}, {32, 4, 2, 2}, {}, by_64}, {0, 0, 1, 1});
  load(five, {0, 0, 0, 0, 0});
  load(five, {2, 3, 1, 2, -1});
  load({"dense five", f32, {8, 4, 4, 4, 4}, {32, 128, 512, 2048}, {8, 2, 2, 2, 2}, {}, by_32},
       {0, 2, 1, 1, 1});
  load({"rows that overlap", u32, {100, 50}, {16}, {32, 8}, {}}, {4, 5});
  load({"one row again and again", u32, {100, 50}, {0}, {32, 8}, {}}, {4, 5});
  for (const auto promotion : {CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_64B,
                               CU_TENSOR_MAP_L2_PROMOTION_L2_256B}) {
    Tensor t = plane;
    t.name = "plane, promoted otherwise";
    t.promotion = promotion;
    load(t, {4, 5});
  }
  run("fetch", fetch_one, plane, {4, 5});
  run("fetch", fetch_one, halves, {0, 0});
  run("fetch", fetch_one, volume, {4, 3, 1});
}

void stores() {
  for (const unsigned words : {4, 8, 12, 32, 64}) {
    store({"line", u32, {1024}, {}, {words}, {}}, {0});
  }
  for (const int x : {4, 12, 28, 1000}) store({"line of 64", u32, {1024}, {}, {64}, {}}, {x});
  store({"bytes", u8, {1003}, {}, {112}, {}}, {944});
  for (const Place& p : {Place{0, 0}, {4, 5}, {92, 45}, {400, 5}}) store(plane, p);
  store(wide, {4, 1});
  store(halves, {0, 0});
  store(halves, {8, 3});
  store({"halves", f16, {512, 32}, {1024}, {64, 16}, {}}, {0, 0});
  store({"halves of 8", f16, {512, 32}, {1024}, {8, 64}, {}}, {8, 0});
  store({"by 32", f32, {100, 50}, {416}, {8, 16}, {}, by_32}, {4, 2});
  store({"by 64, narrow", f32, {100, 50}, {416}, {8, 16}, {}, by_64}, {4, 2});
  store({"every second", u32, {100, 50}, {416}, {32, 8}, {2, 3}}, {4, 5});
  store(volume, {16, 8, 6});
  store({"dense volume", f16, {64, 8, 8}, {128, 1024}, {64, 4, 4}, {}, by_128}, {0, 2, 1});
  store(four, {0, 0, 0, 0});
  store(five, {2, 3, 1, 2, 1});
}

void reductions() {
  for (const unsigned words : {4, 8, 12, 32, 64}) {
    run("add", add_one, {"line", u32, {1024}, {}, {words}, {}}, {4});
  }
  for (const Place& p : {Place{0, 0}, {4, 5}, {92, 45}}) {
    run("add", add_one, {"words", u32, {100, 50}, {416}, {32, 8}, {}}, p);
  }
  run("add", add_one, {"f32", f32, {100, 50}, {416}, {32, 8}, {}, by_128}, {4, 5});
  run("add", add_one, {"f16", f16, {200, 50}, {416}, {64, 8}, {}}, {8, 5});
  run("add", add_one, {"f16, by 128", f16, {512, 32}, {1024}, {64, 16}, {}, by_128}, {0, 0});
  run("add", add_one, {"bf16", bf16, {200, 50}, {416}, {64, 8}, {}}, {8, 5});
  run("add", add_one, {"u64", u64, {50, 50}, {416}, {16, 8}, {}}, {4, 5});
  run("add", add_one, {"f64", f64, {64, 32}, {512}, {16, 8}, {}}, {0, 0});
  run("add", add_one, {"s32", s32, {100, 50}, {416}, {8, 16}, {}}, {4, 5});
  run("add", add_one, volume, {16, 8, 6});
  run("add", add_one, five, {2, 3, 1, 2, 1});
  run("min", min_one, {"s32", s32, {100, 50}, {416}, {32, 8}, {}}, {4, 5});
  run("min", min_one, {"f16", f16, {200, 50}, {416}, {64, 8}, {}}, {8, 5});
  run("xor", xor_one, {"u32", u32, {100, 50}, {416}, {32, 8}, {}}, {4, 5});
}

void loads_for_blocks() {
  struct Case {
    const Tensor& tensor;
    Place place;
    unsigned size, blocks;
  };
  const Case cases[] = {{plane, {0, 0}, 2, 3},    {plane, {4, 5}, 2, 3},  {plane, {92, 45}, 2, 3},
                        {plane, {4, 5}, 2, 2},    {plane, {4, 5}, 2, 1},  {halves, {0, 0}, 2, 3},
                        {halves, {0, 0}, 4, 0xf}, {halves, {8, 3}, 4, 5}, {halves, {0, 0}, 8, 0xff},
                        {wide, {0, 0}, 4, 0xe}};
  for (const Case& c : cases) {
    CUtensorMap map;
    if (!map_of(c.tensor, &map)) continue;
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = c.size;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = c.size;
    config.blockDim = 32;
    config.dynamicSmemBytes = most_bytes;
    config.attrs = &attribute;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, load_for, map, c.place, c.tensor.box_bytes(), c.blocks);
    say("load for blocks", c.tensor, c.place);
    std::printf("  %x of %u\n", c.blocks, c.size);
  }
}

void interleaved() {
  constexpr auto by_16 = CU_TENSOR_MAP_INTERLEAVE_16B, in_32 = CU_TENSOR_MAP_INTERLEAVE_32B;
  const Tensor sixteen{"interleaved by 16", f16,  {8, 16, 8}, {16, 256}, {8, 8, 4}, {}, plain,
                       zero_fill,           by_16};
  const Tensor thirty_two{"interleaved by 32", f16,  {16, 16, 8}, {32, 512}, {16, 8, 4}, {}, by_32,
                          zero_fill,           in_32};
  const Tensor four_axes{"four interleaved by 16",
                         f16,
                         {8, 8, 4, 4},
                         {16, 128, 512},
                         {8, 4, 2, 2},
                         {},
                         plain,
                         zero_fill,
                         by_16};
  for (const Tensor& t : {sixteen, thirty_two}) {
    load(t, {0, 0, 0});
    load(t, {0, 3, 1});
    load(t, {0, 12, 6});
    store(t, {0, 3, 1});
    run("add", add_one, t, {0, 3, 1});
  }
  load(four_axes, {0, 1, 1, 1});
}

int main(int argc, char** argv) {
  cudaMalloc(&memory, 1 << 16);
  cudaMemset(memory, 0, 1 << 16);
  loads();
  stores();
  reductions();
  loads_for_blocks();
  if (argc > 1 && std::string(argv[1]) == "interleaved") interleaved();
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaFree(memory);
}
