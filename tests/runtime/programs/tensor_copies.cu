// SPDX-License-Identifier: MIT
// Copies of boxes of tensors between global and shared memory (cp.async.bulk.tensor), as a
// descriptor says that they lie.
//
//   tensor_copies [all]     all: every word that comes out, not their sum alone
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "tensor_program.h"
#define REDUCING(operation, dim, coordinates)                                      \
  asm volatile("cp.reduce.async.bulk.tensor." dim ".global.shared::cta." operation \
               ".tile.bulk_group [%1, " coordinates "], [%0];" ::"r"(from),        \
               "l"(map), COORDINATES                                               \
               : "memory")
#define ADD(dim, coordinates) REDUCING("add", dim, coordinates)
#define MIN(dim, coordinates) REDUCING("min", dim, coordinates)
#define MAX(dim, coordinates) REDUCING("max", dim, coordinates)
#define INC(dim, coordinates) REDUCING("inc", dim, coordinates)
#define DEC(dim, coordinates) REDUCING("dec", dim, coordinates)
#define AND(dim, coordinates) REDUCING("and", dim, coordinates)
#define OR(dim, coordinates) REDUCING("or", dim, coordinates)
#define XOR(dim, coordinates) REDUCING("xor", dim, coordinates)

/// `how`: 0 stores, from 1 on reduces.
__global__ void store_box(const __grid_constant__ CUtensorMap descriptor, int rank, Place p,
                          int how, const unsigned* in) {
  __shared__ alignas(1024) unsigned shared[most_words];
  for (int i = threadIdx.x; i < most_words; i += blockDim.x) shared[i] = in[i];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x != 0) return;
  const unsigned from = at(shared);
  const CUtensorMap* const map = &descriptor;
  switch (how) {
    case 0:
      store(map, rank, p, from);
      break;
    case 1:
      FIVE_WAYS(rank, ADD);
      break;
    case 2:
      FIVE_WAYS(rank, MIN);
      break;
    case 3:
      FIVE_WAYS(rank, MAX);
      break;
    case 4:
      FIVE_WAYS(rank, INC);
      break;
    case 5:
      FIVE_WAYS(rank, DEC);
      break;
    case 6:
      FIVE_WAYS(rank, AND);
      break;
    case 7:
      FIVE_WAYS(rank, OR);
      break;
    case 8:
      FIVE_WAYS(rank, XOR);
      break;
  }
  wait_for_stores();
}

/// A descriptor in global memory, of the kind that a kernel reads after another wrote it; a box
/// for two blocks.
__global__ void __cluster_dims__(2, 1, 1)
    load_for_both(const CUtensorMap* map, unsigned bytes, unsigned* out) {
  __shared__ alignas(1024) unsigned shared[512];
  __shared__ alignas(8) std::uint64_t object;
  for (int i = threadIdx.x; i < 512; i += blockDim.x) shared[i] = nothing;
  if (threadIdx.x == 0) begin(&object, bytes);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
    asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(map),
                 "r"(0), "r"(0));
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(at(shared)),
        "l"(map), "r"(4), "r"(3), "r"(at(&object)), "h"(static_cast<std::uint16_t>(3))
        : "memory");
  }
  wait(&object);
  for (int i = threadIdx.x; i < 512; i += blockDim.x) out[blockIdx.x * 512 + i] = shared[i];
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
}

unsigned *tensor = nullptr, *words = nullptr;
int* late = nullptr;
std::vector<unsigned> initial(tensor_words);
bool shows_all = false;

/// `before`: what stood there, a word or, of the tensor, each word's own.
void show(const char* what, const char* name, const unsigned* from, unsigned count,
          const unsigned* before) {
  unsigned long long sum = 0, mixed = 14695981039346656037ull, changed = 0;
  const auto is_changed = [&](unsigned i) { return from[i] != (before ? before[i] : nothing); };
  for (unsigned i = 0; i < count; ++i) {
    sum += from[i];
    mixed = (mixed ^ from[i]) * 1099511628211ull;
    changed += is_changed(i);
  }
  std::printf("%s %s: %llu words, %llu %016llx\n", what, name, changed, sum, mixed);
  for (unsigned i = 0; shows_all && i < count; ++i) {
    if (is_changed(i)) std::printf("  %u %08x\n", i, from[i]);
  }
}

bool ends(const char* what, const char* name) {
  const cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) std::printf("%s %s: %s\n", what, name, cudaGetErrorName(error));
  return error == cudaSuccess;
}

void load(const Tensor& t, Place place, unsigned offset = 0) {
  CUtensorMap map;
  if (const CUresult result = describe(t, tensor, &map); result != CUDA_SUCCESS) {
    std::printf("load %s: not made, %d\n", t.name, result);
    return;
  }
  load_box<<<1, 64>>>(map, t.rank(), place, t.box_bytes(), offset, words, late);
  if (!ends("load", t.name)) return;
  if (*late) std::printf("late: ");
  show("load", t.name, words, most_words, nullptr);
}

void store(const Tensor& t, Place place, int how = 0) {
  static const char* const names[] = {"store", "add", "min", "max", "inc",
                                      "dec",   "and", "or",  "xor"};
  CUtensorMap map;
  if (const CUresult result = describe(t, tensor, &map); result != CUDA_SUCCESS) {
    std::printf("%s %s: not made, %d\n", names[how], t.name, result);
    return;
  }
  for (int i = 0; i < most_words; ++i) words[i] = 0x3f800000u + i * 0x10203u;
  store_box<<<1, 64>>>(map, t.rank(), place, how, words);
  if (!ends(names[how], t.name)) return;
  show(names[how], t.name, tensor, tensor_words, initial.data());
  std::memcpy(tensor, initial.data(), 4 * tensor_words);
}

void loads() {
  const Tensor line{"line", u32, {1000}, {}, {64}, {}};
  for (const int x : {0, 100, -12, 980, 2000, -64, -2000000000}) load(line, {x});
  load({"bytes", u8, {1000}, {}, {112}, {}}, {32});
  load({"bytes", u8, {1003}, {}, {112}, {}}, {960});
  load({"shorts", u16, {1000}, {}, {24}, {}}, {-8});
  const Tensor plane{"plane", f32, {100, 50}, {416}, {32, 8}, {}};
  for (const Place place : {Place{0, 0}, {4, 5}, {-8, -3}, {92, 45}, {40, -20}, {40, 1000}})
    load(plane, place);
  load(plane, {4, 5}, 128);
  load({"plane of nan", f32, {100, 50}, {416}, {32, 8}, {}, plain, nan_fill}, {92, 45});
  load({"halves of nan", f16, {100, 50}, {416}, {32, 8}, {}, plain, nan_fill}, {88, 45});
  load({"bfloats of nan", bf16, {100, 50}, {416}, {32, 8}, {}, plain, nan_fill}, {88, 45});
  load({"doubles of nan", f64, {40, 50}, {416}, {8, 8}, {}, plain, nan_fill}, {36, 45});
  load({"tf32 of nan", tf32, {100, 50}, {416}, {32, 8}, {}, plain, nan_fill}, {92, 45});
  load({"flushed of nan", f32_ftz, {100, 50}, {416}, {32, 8}, {}, plain, nan_fill}, {92, 45});
  const Tensor swizzled[] = {{"by 32", f32, {100, 50}, {416}, {8, 16}, {}, by_32},
                             {"by 64", f32, {100, 50}, {416}, {16, 16}, {}, by_64},
                             {"by 128", f32, {100, 50}, {416}, {32, 16}, {}, by_128},
                             {"by 128, narrow", f32, {100, 50}, {416}, {8, 16}, {}, by_128},
                             {"by 64, narrow", f32, {100, 50}, {416}, {8, 16}, {}, by_64}};
  for (const Tensor& t : swizzled) {
    for (const unsigned offset : {0, 128, 256, 384}) load(t, {4, 2}, offset);
  }
  load({"halves by 128", f16, {200, 50}, {416}, {64, 16}, {}, by_128}, {-8, 40});
  load({"bytes by 128", u8, {400, 50}, {416}, {128, 9}, {}, by_128}, {16, 2});
  load({"bytes by 32", u8, {400, 50}, {416}, {32, 9}, {}, by_32}, {384, 45});
  load({"every second", u32, {100, 50}, {416}, {32, 8}, {2, 3}}, {4, 5});
  load({"every second row", u32, {100, 50}, {416}, {32, 9}, {1, 2}}, {4, 45});
  load({"every second, swizzled", u32, {100, 50}, {416}, {32, 8}, {2, 3}, by_128}, {84, 5});
  load({"every third of a row", u32, {100, 50}, {416}, {36, 8}, {3, 1}}, {92, 45});
  load({"every third of 32", u32, {100, 50}, {416}, {32, 8}, {3, 1}}, {4, 5});
  load({"every third of 32, swizzled", u32, {100, 50}, {416}, {32, 8}, {3, 1}, by_128}, {4, 5});
  load({"every fifth of shorts", u16, {200, 50}, {416}, {40, 8}, {5, 1}}, {0, 0});
  load({"volume", u32, {20, 10, 8}, {96, 1024}, {8, 4, 3}, {}}, {16, -1, 6});
  load({"volume by 32", u32, {20, 10, 8}, {96, 1024}, {8, 4, 3}, {}, by_32}, {4, 3, 1});
  load({"four", u16, {16, 6, 5, 4}, {48, 304, 1600}, {8, 3, 2, 2}, {}}, {8, 4, -1, 3});
  load({"five", u64, {6, 4, 3, 3, 3}, {48, 208, 640, 2048}, {2, 2, 2, 2, 2}, {}}, {2, 3, 1, 2, -1});
  load({"five of steps",
        u32,
        {12, 4, 6, 3, 3},
        {48, 208, 1248, 4096},
        {4, 4, 5, 2, 2},
        {1, 2, 2, 1, 1}},
       {0, 1, 1, 2, 0});
  load({"rows that overlap", u32, {100, 50}, {16}, {32, 8}, {}}, {4, 5});
  load({"one row again and again", u32, {100, 50}, {0}, {32, 8}, {}}, {4, 5});
  const auto small = [](const char* name, CUtensorMapDataType type) {
    return Tensor{name, type, {64}, {}, {64}, {}, plain, zero_fill, flat, 60000};
  };
  load(small("subnormals", f32), {0});
  load(small("subnormals flushed", f32_ftz), {0});
  load(small("subnormals as tf32", tf32), {0});
  load(small("subnormals as tf32, flushed", tf32_ftz), {0});
  load({"as tf32", tf32, {1000}, {}, {256}, {}}, {100});
  load({"as tf32, flushed", tf32_ftz, {1000}, {}, {256}, {}}, {100});
}

void stores() {
  store({"line", u32, {1000}, {}, {64}, {}}, {980});
  store({"f32 to 99", f32, {99, 50}, {416}, {32, 8}, {}}, {92, 45});
  store({"bytes", u8, {1003}, {}, {112}, {}}, {960});
  const Tensor plane{"plane", f32, {100, 50}, {416}, {32, 8}, {}};
  for (const Place place : {Place{4, 5}, {92, 45}, {400, 5}}) store(plane, place);
  store({"by 32", f32, {100, 50}, {416}, {8, 16}, {}, by_32}, {4, 2});
  store({"by 128", f32, {100, 50}, {416}, {32, 16}, {}, by_128}, {4, 2});
  store({"by 64, narrow", f32, {100, 50}, {416}, {8, 16}, {}, by_64}, {4, 2});
  store({"every second", u32, {100, 50}, {416}, {32, 8}, {2, 3}}, {4, 5});
  store({"every third of 32", u32, {100, 50}, {416}, {32, 8}, {3, 1}}, {4, 5});
  store({"volume", u32, {20, 10, 8}, {96, 1024}, {8, 4, 3}, {}}, {16, 8, 6});
  store({"five", u64, {6, 4, 3, 3, 3}, {48, 208, 640, 2048}, {2, 2, 2, 2, 2}, {}}, {2, 3, 1, 2, 1});
  store({"as tf32", tf32, {1000}, {}, {64}, {}}, {100});
  store({"flushed", f32_ftz, {1000}, {}, {64}, {}}, {100});
  for (int how = 1; how <= 8; ++how) {
    store({"u32", u32, {100, 50}, {416}, {32, 8}, {}}, {92, 5}, how);
    if (how <= 3 || how >= 6) {
      store({"s32", s32, {100, 50}, {416}, {32, 8}, {}}, {4, 5}, how);
      store({"u64", u64, {50, 50}, {416}, {16, 8}, {}}, {4, 5}, how);
    }
    if (how == 2 || how == 3) store({"s64", s64, {50, 50}, {416}, {16, 8}, {}}, {4, 5}, how);
    if (how > 3) continue;
    store({"f16", f16, {200, 50}, {416}, {64, 8}, {}}, {8, 5}, how);
    store({"bf16", bf16, {200, 50}, {416}, {64, 8}, {}, by_128}, {8, 5}, how);
  }
  store({"u32 to 99", u32, {99, 50}, {416}, {32, 8}, {}}, {92, 45}, 1);
  store({"f16 to 197", f16, {197, 50}, {416}, {32, 8}, {}}, {192, 45}, 1);
  store({"f32", f32, {100, 50}, {416}, {32, 8}, {}}, {92, 45}, 1);
  store({"f32 flushed", f32_ftz, {100, 50}, {416}, {32, 8}, {}}, {92, 45}, 1);
  store({"f32, small", f32, {64}, {}, {64}, {}, plain, zero_fill, flat, 60000}, {0}, 1);
  store({"f32, small, flushed", f32_ftz, {64}, {}, {64}, {}, plain, zero_fill, flat, 60000}, {0},
        1);
  store({"f64", f64, {50, 50}, {416}, {16, 8}, {}}, {4, 5}, 1);
}

void from_memory() {
  CUtensorMap map, *on_device = nullptr;
  const Tensor plane{"plane for two", f32, {100, 50}, {416}, {32, 8}, {}};
  describe(plane, tensor, &map);
  cudaMalloc(&on_device, sizeof(map));
  cudaMemcpy(on_device, &map, sizeof(map), cudaMemcpyHostToDevice);
  load_for_both<<<2, 32>>>(on_device, plane.box_bytes(), words);
  if (ends("load", plane.name)) show("load", plane.name, words, 1024, nullptr);
  cudaFree(on_device);
}

int main(int argc, char** argv) {
  shows_all = argc > 1 && std::string(argv[1]) == "all";
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  cudaMallocManaged(&tensor, 4 * tensor_words);
  cudaMallocManaged(&words, 4 * most_words);
  cudaMallocManaged(&late, sizeof(*late));
  fill(tensor);
  std::memcpy(initial.data(), tensor, 4 * tensor_words);
  loads();
  stores();
  from_memory();
}
