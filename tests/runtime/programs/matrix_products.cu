// SPDX-License-Identifier: MIT
// Matrices multiplied by warps: wmma of half, whole numbers, tf32 and double, from shared and
// global memory, and mma with ldmatrix as PTX. Whole numbers, so that every sum is exact.
#include <cuda_fp16.h>
#include <mma.h>

#include <cstdint>
#include <cstdio>
#include <vector>
using namespace nvcuda;

constexpr int side = 64;

template <class T>
__host__ __device__ T number(int row, int column, int salt) {
  return static_cast<T>((row * 7 + column * 3 + salt) % 9 - 4);
}

template <class T>
__global__ void fill(T* to, int salt) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < side * side) to[i] = number<T>(i / side, i % side, salt);
}

/// A warp a tile of 16 × 16, its operands by way of shared memory.
__global__ void half_shared(const half* a, const half* b, float* c) {
  __shared__ half tile_a[16][24], tile_b[16][24];
  const int row = blockIdx.y * 16, column = blockIdx.x * 16;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < side; k += 16) {
    for (int i = threadIdx.x; i < 256; i += 32) {
      tile_a[i / 16][i % 16] = a[(row + i / 16) * side + k + i % 16];
      tile_b[i / 16][i % 16] = b[(k + i / 16) * side + column + i % 16];
    }
    __syncwarp();
    wmma::load_matrix_sync(left, &tile_a[0][0], 24);
    wmma::load_matrix_sync(right, &tile_b[0][0], 24);
    wmma::mma_sync(sum, left, right, sum);
    __syncwarp();
  }
  wmma::store_matrix_sync(c + row * side + column, sum, side, wmma::mem_row_major);
}

/// The same from global memory; B by columns. Elements of the accumulator are doubled one by one.
template <class In, class Out, int m, int n, int k, class Number = In>
__global__ void from_global(const In* a, const In* b, Out* c) {
  const int row = blockIdx.y * m, column = blockIdx.x * n;
  wmma::fragment<wmma::matrix_a, m, n, k, Number, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, m, n, k, Number, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, m, n, k, Out> sum;
  wmma::fill_fragment(sum, static_cast<Out>(0));
  for (int at = 0; at < side; at += k) {
    wmma::load_matrix_sync(left, a + row * side + at, side);
    wmma::load_matrix_sync(right, b + column * side + at, side);
    wmma::mma_sync(sum, left, right, sum);
  }
  for (int i = 0; i < sum.num_elements; ++i) sum.x[i] = sum.x[i] + sum.x[i];
  wmma::store_matrix_sync(c + row * side + column, sum, side, wmma::mem_row_major);
}

/// One warp: 16 × 8 of a product, k 16 at a time, by ldmatrix and mma.
__global__ void by_ptx(const half* a, const half* b, float* c) {
  __shared__ __align__(16) half tile_a[16][16], tile_b[16][8];
  const int lane = threadIdx.x, row = blockIdx.y * 16, column = blockIdx.x * 8;
  float sum[4] = {};
  for (int k = 0; k < side; k += 16) {
    for (int i = lane; i < 256; i += 32)
      tile_a[i / 16][i % 16] = a[(row + i / 16) * side + k + i % 16];
    for (int i = lane; i < 128; i += 32)
      tile_b[i / 8][i % 8] = b[(k + i / 8) * side + column + i % 8];
    __syncwarp();
    uint32_t left[4], right[2];
    const uint32_t from_a =
        static_cast<uint32_t>(__cvta_generic_to_shared(&tile_a[lane % 16][lane / 16 * 8]));
    const uint32_t from_b = static_cast<uint32_t>(__cvta_generic_to_shared(&tile_b[lane % 16][0]));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(left[0]), "=r"(left[1]), "=r"(left[2]), "=r"(left[3])
                 : "r"(from_a));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                 : "=r"(right[0]), "=r"(right[1])
                 : "r"(from_b));
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
    __syncwarp();
  }
  float* to = c + (row + lane / 4) * side + column + lane % 4 * 2;
  to[0] = sum[0];
  to[1] = sum[1];
  to[8 * side] = sum[2];
  to[8 * side + 1] = sum[3];
}

/// Compares with sums of the host's; `by_columns`: B was read so.
template <class In, class Out, class Launch>
void run(const char* name, bool by_columns, int times, Launch launch) {
  In *a, *b;
  Out* c;
  if (cudaMalloc(&a, side * side * sizeof(In)) != cudaSuccess ||
      cudaMalloc(&b, side * side * sizeof(In)) != cudaSuccess ||
      cudaMalloc(&c, side * side * sizeof(Out)) != cudaSuccess) {
    return;
  }
  fill<In><<<side * side / 256, 256>>>(a, 1);
  fill<In><<<side * side / 256, 256>>>(b, 5);
  launch(a, b, c);
  std::vector<Out> result(side * side);
  const cudaError_t error =
      cudaMemcpy(result.data(), c, result.size() * sizeof(Out), cudaMemcpyDeviceToHost);
  int wrong = 0;
  double total = 0;
  for (int row = 0; row < side; ++row) {
    for (int column = 0; column < side; ++column) {
      int sum = 0;
      for (int k = 0; k < side; ++k) {
        sum += number<int>(row, k, 1) *
               (by_columns ? number<int>(column, k, 5) : number<int>(k, column, 5));
      }
      wrong += static_cast<double>(result[row * side + column]) != times * sum;
      total += static_cast<double>(result[row * side + column]) * (row + 1);
    }
  }
  std::printf("%s: %s, %d wrong, %.0f\n", name, cudaGetErrorString(error), wrong, total);
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
}

int main() {
  run<half, float>("half from shared memory", false, 1, [](half* a, half* b, float* c) {
    half_shared<<<dim3(side / 16, side / 16), 32>>>(a, b, c);
  });
  run<half, half>("half from global memory", true, 2, [](half* a, half* b, half* c) {
    from_global<half, half, 16, 16, 16><<<dim3(4, 4), 32>>>(a, b, c);
  });
  run<half, float>("half, 8 rows", true, 2, [](half* a, half* b, float* c) {
    from_global<half, float, 8, 32, 16><<<dim3(2, 8), 32>>>(a, b, c);
  });
  run<signed char, int>("signed char, 32 rows", true, 2,
                        [](signed char* a, signed char* b, int* c) {
                          from_global<signed char, int, 32, 8, 16><<<dim3(8, 2), 32>>>(a, b, c);
                        });
#if !defined(__CUDA_ARCH_LIST__) || __CUDA_ARCH_LIST__ >= 800
  run<float, float>("tf32", true, 2, [](float* a, float* b, float* c) {
    from_global<float, float, 16, 16, 8, wmma::precision::tf32><<<dim3(4, 4), 32>>>(a, b, c);
  });
  run<double, double>("double", true, 2, [](double* a, double* b, double* c) {
    from_global<double, double, 8, 8, 4><<<dim3(8, 8), 32>>>(a, b, c);
  });
#endif
  run<half, float>("half by PTX", false, 1, [](half* a, half* b, float* c) {
    by_ptx<<<dim3(side / 8, side / 16), 32>>>(a, b, c);
  });
}
