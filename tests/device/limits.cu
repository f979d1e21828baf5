// SPDX-License-Identifier: MIT
// Ten kernels of the catalogue on data that is larger than the L2 cache, for
// tests/device/limits.sh. Each begins with a cache that holds nothing of the program's (quiet).
// Only these kernels lie between cudaProfilerStart and cudaProfilerStop.
//
//   nvcc -arch=sm_90 -lineinfo -I REPOSITORY -o limits_kernels limits.cu
//   limits_kernels [SHRINK]      SHRINK: the divisor of the sizes, for the model
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace of_matmul {
#include "kernels/matmul.cu"
}
namespace of_reduction {
#include "kernels/reduction.cu"
}
namespace of_transpose {
#include "kernels/transpose.cu"
}
namespace of_vector_add {
#include "kernels/vector_add.cu"
}

using namespace of_matmul;
using namespace of_reduction;
using namespace of_transpose;
using namespace of_vector_add;

#define CHECK(call)                                                                       \
  do {                                                                                    \
    const cudaError_t error = (call);                                                     \
    if (error != cudaSuccess) {                                                           \
      std::fprintf(stderr, "limits_kernels: %s: %s\n", #call, cudaGetErrorString(error)); \
      std::exit(1);                                                                       \
    }                                                                                     \
  } while (false)

/// The scripts leave it out: its name alone begins with q.
__global__ void quiet(const float4* in, std::size_t count, float* out) {
  float sum = 0;
  const std::size_t step = gridDim.x * blockDim.x;
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) sum += in[i].x;
  if (sum != 0) *out = sum;
}

template <class T>
T* zeros(std::size_t count) {
  T* memory = nullptr;
  CHECK(cudaMalloc(&memory, count * sizeof(T)));
  CHECK(cudaMemset(memory, 0, count * sizeof(T)));
  return memory;
}

int main(int argc, char** argv) {
  const int shrink = argc > 1 ? std::atoi(argv[1]) : 1;
  const int length = 64 * 1024 * 1024 / shrink / shrink, sums = length / 2;
  const int side = 8192 / shrink, small = 1024 / shrink, large = 2048 / shrink;
  const std::size_t unused_count = std::size_t{160} * 1024 * 1024 / 16 / shrink / shrink;
  auto* unused = zeros<float4>(unused_count);
  auto *a = zeros<float>(length), *b = zeros<float>(length), *c = zeros<float>(length);
  auto* data = zeros<double>(sums);
  const auto settle = [&] {
    quiet<<<1024, 256>>>(unused, unused_count, reinterpret_cast<float*>(unused));
    CHECK(cudaDeviceSynchronize());
  };
  const dim3 tile(16, 16), tiles(side / 16, side / 16);

  CHECK(cudaProfilerStart());
  settle();
  vector_add<<<length / 256, 256>>>(c, a, b, length);
  settle();
  reduction_neighbored_divergent<<<sums / 1024, 1024>>>(data, sums);
  settle();
  reduction_interleaved<<<sums / 1024, 1024>>>(data, sums);
  settle();
  reduction_shuffle_double2<<<sums / 1024, 256>>>(data, sums);
  settle();
  transpose_copy<<<tiles, tile>>>(c, a, side, side);
  settle();
  transpose_naive<<<tiles, tile>>>(c, a, side, side);
  settle();
  transpose_tiled<<<tiles, tile>>>(c, a, side, side);
  settle();
  transpose_tiled_float4<<<dim3(side / 64, side / 64), 256>>>(c, a, side, side);
  settle();
  matmul_naive<<<dim3(small / 16, small / 16), tile>>>(c, a, b, small, small, small);
  settle();
  matmul_registers_128x128<<<dim3(large / 128, large / 128), 256>>>(c, a, b, large, large, large);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaProfilerStop());
  return 0;
}
