// SPDX-License-Identifier: MIT
// Five kernels over one shared tile, one of them with a column access of 32 wavefronts a request.
#include <cstdio>
constexpr int n = 32;
__global__ void row_row(int* out) {
  __shared__ int tile[n][n];
  const int i = threadIdx.y * n + threadIdx.x;
  tile[threadIdx.y][threadIdx.x] = i;
  __syncthreads();
  out[i] = tile[threadIdx.y][threadIdx.x];
}
__global__ void column_column(int* out) {
  __shared__ int tile[n][n];
  const int i = threadIdx.y * n + threadIdx.x;
  tile[threadIdx.x][threadIdx.y] = i;
  __syncthreads();
  out[i] = tile[threadIdx.x][threadIdx.y];
}
__global__ void row_column(int* out) {
  __shared__ int tile[n][n];
  const int i = threadIdx.y * n + threadIdx.x;
  tile[threadIdx.y][threadIdx.x] = i;
  __syncthreads();
  out[i] = tile[threadIdx.x][threadIdx.y];
}
__global__ void row_column_padded(int* out) {
  __shared__ int tile[n][n + 1];
  const int i = threadIdx.y * n + threadIdx.x;
  tile[threadIdx.y][threadIdx.x] = i;
  __syncthreads();
  out[i] = tile[threadIdx.x][threadIdx.y];
}
extern __shared__ int dynamic_tile[];
__global__ void row_column_dynamic(int* out) {
  const int i = threadIdx.y * n + threadIdx.x;
  dynamic_tile[threadIdx.y * n + threadIdx.x] = i;
  __syncthreads();
  out[i] = dynamic_tile[threadIdx.x * n + threadIdx.y];
}
int main() {
  int* out = nullptr;
  if (cudaMalloc(&out, n * n * sizeof(int)) != cudaSuccess) return 9;
  const dim3 block(n, n);
  row_row<<<1, block>>>(out);
  column_column<<<1, block>>>(out);
  row_column<<<1, block>>>(out);
  row_column_padded<<<1, block>>>(out);
  row_column_dynamic<<<1, block, n * n * sizeof(int)>>>(out);
  int host[n * n];
  if (cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess) return 9;
  std::printf("%d %d\n", host[1], host[n]);
  return host[1] == n ? 0 : 1;
}
