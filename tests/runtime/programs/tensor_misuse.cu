// SPDX-License-Identifier: MIT
// The answers to the creation of a tensor's descriptor, and copies of boxes that go wrong: each in
// a process of its own.
#include <cuda.h>
#include <cuda_runtime.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "runtime_program.h"
#include "tensor_program.h"
__global__ void store_box(const __grid_constant__ CUtensorMap map, Place p, unsigned offset) {
  __shared__ alignas(1024) unsigned shared[most_words];
  for (int i = threadIdx.x; i < most_words; i += blockDim.x) shared[i] = i;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x != 0) return;
  store(&map, 2, p, at(shared) + offset);
  wait_for_stores();
}

/// The descriptor stands `offset` bytes into memory.
__global__ void load_by(const char* descriptors, int offset, int rank, Place p, unsigned bytes,
                        unsigned* out, int* late) {
  __shared__ alignas(1024) unsigned shared[most_words];
  __shared__ alignas(8) std::uint64_t object;
  if (threadIdx.x == 0) {
    begin(&object, bytes);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    load(reinterpret_cast<const CUtensorMap*>(descriptors + offset), rank, p, at(shared), &object);
    *late = !wait(&object);
  }
  __syncthreads();
  out[threadIdx.x] = shared[threadIdx.x];
}

const Tensor plane{"plane", f32, {100, 50}, {416}, {32, 8}, {}};

struct Memory {
  unsigned *tensor = nullptr, *words = nullptr;
  int* late = nullptr;
  Memory() {
    cudaMallocManaged(&tensor, 4 * tensor_words);
    cudaMallocManaged(&words, 4 * most_words);
    cudaMallocManaged(&late, sizeof(*late));
    fill(tensor);
    *late = 0;
  }
};

void say(const char* name, const Memory& memory) {
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s: %s", name, cudaGetErrorName(error));
  if (error == cudaSuccess)
    std::printf(", %s, %08x", *memory.late ? "late" : "in time", memory.words[0]);
  std::printf("\n");
}

void load(const char* name, const Tensor& t, Place place, int more_bytes = 0, unsigned offset = 0) {
  Memory memory;
  CUtensorMap map;
  if (describe(t, memory.tensor, &map) != CUDA_SUCCESS) std::printf("not made: ");
  load_box<<<1, 64>>>(map, t.rank(), place, t.box_bytes() + more_bytes, offset, memory.words,
                      memory.late);
  say(name, memory);
}
void store(const char* name, const Tensor& t, Place place, unsigned offset = 0) {
  Memory memory;
  CUtensorMap map;
  if (describe(t, memory.tensor, &map) != CUDA_SUCCESS) std::printf("not made: ");
  store_box<<<1, 64>>>(map, place, offset);
  say(name, memory);
}
#define REDUCING(number, operation)                                             \
  case number:                                                                  \
    asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta." operation \
                 ".tile.bulk_group [%1, {%2, %3}], [%0];" ::"r"(at(shared)),    \
                 "l"(&map), "r"(0), "r"(0)                                      \
                 : "memory");                                                   \
    break;
__global__ void reduce(const __grid_constant__ CUtensorMap map, int how) {
  __shared__ alignas(1024) unsigned shared[most_words];
  for (int i = threadIdx.x; i < most_words; i += blockDim.x) shared[i] = 0x40404040 + i;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x != 0) return;
  switch (how) {
    REDUCING(0, "add")
    REDUCING(1, "min")
    REDUCING(2, "inc")
    REDUCING(3, "xor")
  }
  wait_for_stores();
}
void reduce(const char* name, CUtensorMapDataType type, int how) {
  Memory memory;
  CUtensorMap map;
  Tensor t = plane;
  t.type = type;
  t.box[0] = 16;
  if (describe(t, memory.tensor, &map) != CUDA_SUCCESS) std::printf("not made: ");
  reduce<<<1, 64>>>(map, how);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s: %s", name, cudaGetErrorName(error));
  if (error == cudaSuccess) std::printf(", %08x", memory.tensor[1]);
  std::printf("\n");
}

void load_with(const char* name, int offset, int rank, bool is_described = true) {
  Memory memory;
  char* descriptors = nullptr;
  cudaMallocManaged(&descriptors, 1024);
  CUtensorMap map{};
  if (is_described) describe(plane, memory.tensor, &map);
  for (unsigned i = 0; i < sizeof(map); ++i)
    descriptors[offset + i] = reinterpret_cast<char*>(&map)[i];
  load_by<<<1, 32>>>(descriptors, offset, rank, {4, 5}, plane.box_bytes(), memory.words,
                     memory.late);
  say(name, memory);
}

void apart(const std::function<void()>& what) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    what();
    std::fflush(stdout);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
}

void wrong_copies() {
  const auto of = [](CUtensorMapDataType type, cuuint32_t width) {
    return Tensor{"", type, {100, 50}, {416}, {width, 8}, {}};
  };
  apart([] { load("right", plane, {4, 5}); });
  apart([] { load("a column of 12 bytes", plane, {3, 5}); });
  apart([] { load("a column of -4 bytes", plane, {-1, 5}); });
  apart([&] { load("a column of 8 bytes", of(f16, 32), {4, 5}); });
  apart([&] { load("a column of 24 bytes", of(u8, 32), {24, 5}); });
  apart([] { load("a column outside", plane, {101, 5}); });
  apart([] { load("fewer bytes than awaited", plane, {4, 5}, 16); });
  apart([] { load("more bytes than awaited", plane, {4, 5}, -16); });
  apart([] { load("to 16", plane, {4, 5}, 0, 16); });
  apart([] { load("to 64", plane, {4, 5}, 0, 64); });
  apart([] { load("to 8", plane, {4, 5}, 0, 8); });
  apart([] { load("past the end of shared", plane, {4, 5}, 0, 4 * most_words - 512); });
  apart([] { store("stored", plane, {4, 5}); });
  apart([] { store("stored from 16", plane, {4, 5}, 16); });
  apart([] { store("stored to a column of 12 bytes", plane, {3, 5}); });
  apart([] { store("stored to a column of -32 bytes", plane, {-8, 5}); });
  apart([] { store("stored to a row of -1", plane, {4, -1}); });
  const Tensor far{"far", f32, {1u << 20, 50}, {1u << 22}, {32, 8}, {}, plain, zero_fill, flat, 0};
  apart([&] { load("past the memory", far, {4, 5}); });
  apart([&] { store("stored past the memory", far, {4, 5}); });
  apart([] { reduce("sums of bytes", u8, 0); });
  apart([] { reduce("sums of shorts", u16, 0); });
  apart([] { reduce("sums of s64", s64, 0); });
  apart([] { reduce("sums of tf32", tf32, 0); });
  apart([] { reduce("least of f32", f32, 1); });
  apart([] { reduce("least of f64", f64, 1); });
  apart([] { reduce("least of shorts", u16, 1); });
  apart([] { reduce("counted u64", u64, 2); });
  apart([] { reduce("counted s32", s32, 2); });
  apart([] { reduce("counted f32", f32, 2); });
  apart([] { reduce("bits of f32", f32, 3); });
  apart([] { reduce("bits of s64", s64, 3); });
  apart([] { reduce("bits of f16", f16, 3); });
  apart([] { reduce("bits of bytes", u8, 3); });
  apart([] { load_with("a descriptor in memory", 64, 2); });
  apart([] { load_with("a descriptor at 32", 32, 2); });
  apart([] { load_with("a descriptor at 16", 16, 2); });
  apart([] { load_with("a descriptor at 8", 8, 2); });
  apart([] { load_with("a descriptor of two dimensions for one", 64, 1); });
  apart([] { load_with("a descriptor of two dimensions for three", 64, 3); });
  apart([] { load_with("a descriptor of zeros", 64, 2, false); });
}

void wrong_descriptors() {
  const Encode encode = encoder();
  CUtensorMap map;
  void* tensor = nullptr;
  cudaMalloc(&tensor, 1 << 20);
  const auto say = [&](const Tensor& t) {
    std::printf("%s: %d\n", t.name, describe(t, tensor, &map));
  };
  say({"right", f32, {100, 50}, {416}, {32, 8}, {}});
  say({"no dimension", f32, {}, {}, {}, {}});
  say({"six dimensions",
       f32,
       {4, 4, 4, 4, 4, 4},
       {16, 64, 256, 1024, 4096},
       {4, 1, 1, 1, 1, 1},
       {}});
  say({"an address of 8", f32, {100, 50}, {416}, {32, 8}, {}, plain, zero_fill, flat, 8});
  say({"a stride of 8", f32, {100, 50}, {408}, {32, 8}, {}});
  say({"a stride of 0", f32, {100, 50}, {0}, {32, 8}, {}});
  say({"a stride below the row", f32, {100, 50}, {16}, {32, 8}, {}});
  say({"a stride of 2^40", f32, {100, 50}, {1ull << 40}, {32, 8}, {}});
  say({"no elements", f32, {0, 50}, {416}, {32, 8}, {}});
  say({"2^32 elements", u8, {1ull << 32, 50}, {1ull << 33}, {32, 8}, {}});
  say({"more than 2^32 elements", u8, {(1ull << 32) + 1, 50}, {1ull << 34}, {32, 8}, {}});
  say({"an empty box", f32, {100, 50}, {416}, {0, 8}, {}});
  say({"a box of 256", u8, {1000, 500}, {1024}, {256, 8}, {}});
  say({"a box of 257", u8, {1000, 500}, {1024}, {16, 257}, {}});
  say({"a row of 12 bytes", f32, {100, 50}, {416}, {3, 8}, {}});
  say({"a step of 0", f32, {100, 50}, {416}, {32, 8}, {0, 1}});
  say({"a step of 8", f32, {100, 50}, {416}, {32, 8}, {8, 1}});
  say({"a step of 9", f32, {100, 50}, {416}, {32, 8}, {9, 1}});
  say({"rows of 64 by 32", f32, {100, 50}, {416}, {16, 8}, {}, by_32});
  say({"rows of 256 by 128", f32, {100, 50}, {416}, {64, 8}, {}, by_128});
  say({"integers of nan", u32, {100, 50}, {416}, {32, 8}, {}, plain, nan_fill});
  say({"a type of 40", static_cast<CUtensorMapDataType>(40), {100, 50}, {416}, {32, 8}, {}});
  say({"a large box", f32, {256, 256}, {1024}, {256, 256}, {}});
  say({"a box of 224 KiB", f32, {256, 256}, {1024}, {256, 224}, {}});
  say({"a box of 227 KiB", f32, {256, 256}, {1024}, {256, 227}, {}});
  say({"a box of 228 KiB", f32, {256, 256}, {1024}, {256, 228}, {}});
  say({"a box of 255 KiB", f32, {256, 256}, {1024}, {256, 255}, {}});
  say({"a box of 512 KiB, every second",
       f32,
       {256, 256, 9},
       {1024, 1 << 18},
       {256, 256, 2},
       {2, 2, 1}});
  say({"a row of 256 by 128, every second", f32, {256, 256}, {1024}, {64, 8}, {2, 1}, by_128});
  say({"a row of 24 bytes, every second", u16, {256, 256}, {1024}, {24, 8}, {2, 1}});
  say({"a row of 16 bytes, every second", u16, {256, 256}, {1024}, {8, 8}, {2, 1}});
  say({"a swizzle of 4", f32, {100, 50}, {416}, {32, 8}, {}, static_cast<CUtensorMapSwizzle>(4)});
  say({"four bits", static_cast<CUtensorMapDataType>(13), {256, 50}, {416}, {128, 8}, {}});
  say({"a swizzle of 9", f32, {100, 50}, {416}, {32, 8}, {}, static_cast<CUtensorMapSwizzle>(9)});
  const Tensor right{"right", f32, {100, 50}, {416}, {32, 8}, {1, 1}};
  const auto result = [&](CUtensorMap* to, void* words, const cuuint64_t* extents,
                          const cuuint64_t* strides, const cuuint32_t* box,
                          const cuuint32_t* steps) {
    return encode(to, f32, 2, words, extents, strides, box, steps, flat, plain,
                  CU_TENSOR_MAP_L2_PROMOTION_NONE, zero_fill);
  };
  const auto *extents = right.extents.data(), *strides = right.strides.data();
  const auto *box = right.box.data(), *steps = right.steps.data();
  I(result(nullptr, tensor, extents, strides, box, steps));
  I(result(&map, nullptr, extents, strides, box, steps));
  I(result(&map, tensor, nullptr, strides, box, steps));
  I(result(&map, tensor, extents, nullptr, box, steps));
  I(result(&map, tensor, extents, strides, nullptr, steps));
  I(result(&map, tensor, extents, strides, box, nullptr));
  const cuuint64_t line[] = {1000};
  I(encode(&map, f32, 1, tensor, line, nullptr, box, steps, flat, plain,
           CU_TENSOR_MAP_L2_PROMOTION_NONE, zero_fill));
  I(encode(&map, f32, 2, tensor, extents, strides, box, steps, flat, plain,
           static_cast<CUtensorMapL2promotion>(7), zero_fill));
  I(encode(&map, f32, 2, tensor, extents, strides, box, steps, flat, plain,
           CU_TENSOR_MAP_L2_PROMOTION_NONE, static_cast<CUtensorMapFloatOOBfill>(7)));
  using Replace = CUresult (*)(CUtensorMap*, void*);
  cudaDriverEntryPointQueryResult found;
  Replace replace = nullptr;
  cudaGetDriverEntryPointByVersion("cuTensorMapReplaceAddress", reinterpret_cast<void**>(&replace),
                                   12000, cudaEnableDefault, &found);
  I(result(&map, tensor, extents, strides, box, steps));
  I(replace(&map, nullptr));
  I(replace(&map, static_cast<char*>(tensor) + 8));
  I(replace(&map, static_cast<char*>(tensor) + 16));
  int on_stack[8] = {};
  I(result(&map, on_stack, extents, strides, box, steps));
  alignas(64) char place[sizeof(CUtensorMap) + 64];
  I(result(reinterpret_cast<CUtensorMap*>(place + 8), tensor, extents, strides, box, steps));
  I(result(reinterpret_cast<CUtensorMap*>(place + 32), tensor, extents, strides, box, steps));
}

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  wrong_copies();
  apart(wrong_descriptors);
}
