// SPDX-License-Identifier: MIT
// A product of matrices as it is written for Hopper: one warpgroup brings boxes of both tensors to
// shared memory, two multiply them, and barrier objects say which of the stages is full or empty.
//
//   warpgroup_gemm [SIZE]     256 where none is given: a multiple of 128
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tensor_program.h"
constexpr int block_m = 128, block_n = 128, block_k = 64, stages = 3, consumers = 2;
constexpr unsigned tile_bytes = block_m * block_k * 2, stage_bytes = 2 * tile_bytes;
constexpr unsigned shared_bytes = stages * stage_bytes + 1024;

__device__ void arrive(std::uint64_t* object) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(object)) : "memory");
}
__device__ void expect(std::uint64_t* object, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(object)),
               "r"(bytes)
               : "memory");
}
__device__ void wait_for(std::uint64_t* object, unsigned parity) {
  asm volatile(
      "{ .reg .pred P;\n"
      "again: mbarrier.try_wait.parity.shared::cta.b64 P, [%0], %1;\n"
      "@P bra.uni done;\n"
      "bra.uni again;\n"
      "done: }" ::"r"(at(object)),
      "r"(parity)
      : "memory");
}

/// Rows of 128 bytes, swizzled; eight of them are 1,024 bytes.
__device__ std::uint64_t described(const void* tile) {
  return std::uint64_t{(at(tile) & 0x3ffff) >> 4} | std::uint64_t{1} << 16 |
         std::uint64_t{1024 >> 4} << 32 | std::uint64_t{1} << 62;
}

#define FOUR(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define SIXTEEN(d, i) FOUR(d, i), FOUR(d, i + 4), FOUR(d, i + 8), FOUR(d, i + 12)
__device__ void multiply(float (&d)[64], std::uint64_t a, std::uint64_t b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "%64, %65, 1, 1, 1, 0, 0;"
      : SIXTEEN(d, 0), SIXTEEN(d, 16), SIXTEEN(d, 32), SIXTEEN(d, 48)
      : "l"(a), "l"(b));
}

__global__ void __launch_bounds__(128 * (consumers + 1))
    gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
         float* c, int n, int k) {
  extern __shared__ unsigned char memory[];
  unsigned char* const tiles = memory + (1024 - at(memory) % 1024) % 1024;
  __shared__ std::uint64_t full[stages], empty[stages];
  const int warpgroup = threadIdx.x / 128, thread = threadIdx.x % 128;
  const int row = blockIdx.y * block_m, column = blockIdx.x * block_n, rounds = k / block_k;
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&full[s])));
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(&empty[s])), "r"(consumers));
    }
    asm volatile("fence.mbarrier_init.release.cluster;");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  if (warpgroup == consumers) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (thread != 0) return;
    for (int round = 0; round < rounds; ++round) {
      const int s = round % stages;
      if (round >= stages) wait_for(&empty[s], (round / stages - 1) % 2);
      unsigned char* const a = tiles + s * stage_bytes;
      expect(&full[s], stage_bytes);
      load(&map_a, 2, {round * block_k, row}, at(a), &full[s]);
      load(&map_b, 2, {round * block_k, column}, at(a + tile_bytes), &full[s]);
    }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  float d[64] = {};
  for (int round = 0; round < rounds; ++round) {
    const int s = round % stages;
    wait_for(&full[s], round / stages % 2);
    const unsigned char* const a = tiles + s * stage_bytes + warpgroup * 64 * block_k * 2;
    const unsigned char* const b = tiles + s * stage_bytes + tile_bytes;
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int i = 0; i < block_k / 16; ++i)
      multiply(d, described(a + 32 * i), described(b + 32 * i));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    if (thread == 0) arrive(&empty[s]);
  }
  const int line = row + warpgroup * 64 + thread / 32 * 16 + thread % 32 / 4;
  for (int i = 0; i < 64; ++i) {
    const int x = column + i / 4 * 8 + thread % 4 * 2 + i % 2, y = line + i / 2 % 2 * 8;
    c[y * n + x] = d[i];
  }
}

int main(int argc, char** argv) {
  const int size = argc > 1 ? std::atoi(argv[1]) : 256;
  const std::size_t count = std::size_t(size) * size;
  __nv_bfloat16 *a = nullptr, *b = nullptr;
  float* c = nullptr;
  cudaMallocManaged(&a, 2 * count);
  cudaMallocManaged(&b, 2 * count);
  cudaMallocManaged(&c, 4 * count);
  std::uint64_t state = 88172645463325252ull;
  for (std::size_t i = 0; i < 2 * count; ++i) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    (i < count ? a[i] : b[i - count]) =
        __nv_bfloat16(static_cast<float>(static_cast<int>(state >> 40) % 2001) / 1000 - 1);
  }
  const cuuint64_t side = size;
  const Tensor of_a{"a", bf16, {side, side}, {2 * side}, {block_k, block_m}, {}, by_128};
  const Tensor of_b{"b", bf16, {side, side}, {2 * side}, {block_k, block_n}, {}, by_128};
  CUtensorMap map_a, map_b;
  if (describe(of_a, a, &map_a) != CUDA_SUCCESS || describe(of_b, b, &map_b) != CUDA_SUCCESS)
    return 1;
  cudaFuncSetAttribute(gemm, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
  gemm<<<dim3(size / block_n, size / block_m), 128 * (consumers + 1), shared_bytes>>>(
      map_a, map_b, c, size, size);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorName(error));
  std::uint64_t hash = 14695981039346656037ull;
  for (std::size_t i = 0; i < count; ++i) {
    unsigned bits;
    std::memcpy(&bits, &c[i], 4);
    hash = (hash ^ bits) * 1099511628211ull;
  }
  double worst = 0;
  for (int line = 0; line < size; line += 37) {
    for (int x = 0; x < size; x += 41) {
      double sum = 0;
      for (int i = 0; i < size; ++i)
        sum += double(float(a[std::size_t(line) * size + i])) * float(b[std::size_t(x) * size + i]);
      const double difference = sum - c[std::size_t(line) * size + x];
      worst = difference > worst ? difference : -difference > worst ? -difference : worst;
    }
  }
  std::printf("%d: %016llx, %s\n", size, static_cast<unsigned long long>(hash),
              worst < 1e-4 * size ? "as the host's" : "wrong");
}
