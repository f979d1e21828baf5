// SPDX-License-Identifier: MIT
// The program that public scripts profile: y = a x + y for 1,024 numbers, twice, and a sum of rows.
// A launch of axpy is one fused multiply-add a thread: 2,048 floating-point operations.
#include <cstdio>
#include <vector>

constexpr int count = 1024;

__global__ void axpy(float a, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = a * x[i] + y[i];
}

template <int side>
__global__ void add_rows(const float* values, float* sums) {
  __shared__ float tile[side][side];
  tile[threadIdx.y][threadIdx.x] = values[threadIdx.y * side + threadIdx.x];
  __syncthreads();
  if (threadIdx.y != 0) return;
  float sum = 0;
  for (int i = 0; i < side; ++i) sum += tile[threadIdx.x][i];
  sums[threadIdx.x] = sum;
}

int main() {
  std::vector<float> host(count, 1);
  float *x = nullptr, *y = nullptr;
  if (cudaMalloc(&x, count * sizeof(float)) != cudaSuccess) return 3;
  if (cudaMalloc(&y, count * sizeof(float)) != cudaSuccess) return 3;
  cudaMemcpy(x, host.data(), count * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(y, 0, count * sizeof(float));
  for (int i = 0; i < 2; ++i) axpy<<<count / 128, 128>>>(2, x, y);
  add_rows<32><<<1, dim3(32, 32)>>>(y, x);
  if (cudaMemcpy(host.data(), x, 32 * sizeof(float), cudaMemcpyDeviceToHost) != cudaSuccess) {
    return 3;
  }
  cudaFree(x);
  cudaFree(y);
  std::printf("%g\n", static_cast<double>(host[0]));
  return host[0] == 128 ? 0 : 1;
}
