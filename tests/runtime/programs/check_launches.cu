// SPDX-License-Identifier: MIT
// A kernel that another one launches goes past its buffer and reads what nothing has set; what is
// handed over by the device's runtime, and what a child wrote, counts as set.
#include <cstdio>
__global__ void child(const int* in, int* out, int n) {
  const int i = threadIdx.x;
  if (i <= n) out[i] = in[i];
}

__global__ void fill(int* data) { data[threadIdx.x] = threadIdx.x; }

__global__ void parent(int* data, const int* unset, int* out) {
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  fill<<<1, 16, 0, stream>>>(data);
  cudaStreamDestroy(stream);
  int device;
  cudaGetDevice(&device);
  if (device == 0) child<<<1, 32>>>(data, out, 15);
  child<<<1, 32>>>(unset, out, 3);
  child<<<1, 32>>>(data, out, 16);
}

int main() {
  int *data, *unset, *out;
  cudaMalloc(&data, 16 * sizeof(int));
  cudaMalloc(&unset, 16 * sizeof(int));
  cudaMalloc(&out, 16 * sizeof(int));
  parent<<<1, 1>>>(data, unset, out);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaFree(data), cudaFree(unset), cudaFree(out);
  std::printf("%s\n", cudaGetErrorString(error));
  return 0;
}
