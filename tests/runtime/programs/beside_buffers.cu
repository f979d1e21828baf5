// Accesses beside buffers that hardware does not notice: behind an allocation, within its page, and
// behind a block's shared memory, within its last 128 bytes. With "far": beyond those, an error.
#include <cstdio>
#include <cstring>

#include <cuda_runtime.h>

__global__ void behind_an_allocation(int* data, int n) { data[n + threadIdx.x] = threadIdx.x; }

__global__ void behind_shared_memory(int* out, int offset) {
  __shared__ int s[33];  // 132 bytes, given as 256
  s[threadIdx.x] = threadIdx.x;
  s[threadIdx.x + 1 + offset] = threadIdx.x + 1;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x + 1 + offset];
}

int main(int count, char**) {
  int* data = nullptr;
  if (cudaMalloc(&data, 128) != cudaSuccess) return 9;
  behind_an_allocation<<<1, 32>>>(data, 32);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  behind_shared_memory<<<1, 32>>>(data, count > 1 ? 64 : 31);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  int last = 0;
  const cudaError_t copied = cudaMemcpy(&last, data + 31, 4, cudaMemcpyDeviceToHost);
  std::printf("%s %d\n", cudaGetErrorString(copied), last);
}
