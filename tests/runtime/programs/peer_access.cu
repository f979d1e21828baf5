// SPDX-License-Identifier: MIT
// A kernel of device 1 adds to memory of device 0 (--model-devices 2), which it reaches or not.
#include <cstdio>
#include <string>
__global__ void add(int* data) { data[threadIdx.x] += 1; }

int main(int, char** words) {
  const std::string how = words[1];
  constexpr size_t bytes = 32 * sizeof(int);
  int* data = nullptr;
  cudaSetDevice(0);
  if (how == "managed") cudaMallocManaged(&data, bytes);
  if (how == "pinned") cudaHostAlloc(&data, bytes, cudaHostAllocPortable);
  if (how == "pool" || how == "open pool") {
    cudaMallocAsync(&data, bytes, 0);
    cudaStreamSynchronize(0);
  }
  if (data == nullptr) cudaMalloc(&data, bytes);
  cudaMemset(data, 0, bytes);
  cudaDeviceSynchronize();
  if (how == "open pool") {
    cudaMemPool_t pool;
    cudaDeviceGetDefaultMemPool(&pool, 0);
    cudaMemAccessDesc access{{cudaMemLocationTypeDevice, 1}, cudaMemAccessFlagsProtReadWrite};
    cudaMemPoolSetAccess(pool, &access, 1);
  }
  cudaSetDevice(1);
  if (how == "open" || how == "pool" || how == "closed again") cudaDeviceEnablePeerAccess(0, 0);
  if (how == "closed again") cudaDeviceDisablePeerAccess(0);
  if (how == "copied") {
    int* own;
    cudaMalloc(&own, bytes);
    cudaMemcpyPeer(own, 1, data, 0, bytes);
    add<<<1, 32>>>(own);
    cudaMemcpyPeer(data, 0, own, 1, bytes);
  } else {
    add<<<1, 32>>>(data);
  }
  const cudaError_t result = cudaDeviceSynchronize();
  int first = -1;
  cudaMemcpy(&first, data, sizeof first, cudaMemcpyDefault);
  std::printf("%d %d\n", static_cast<int>(result), first);
}
