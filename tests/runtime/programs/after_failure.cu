// SPDX-License-Identifier: MIT
// Calls that only add work do not notice that a kernel has failed: as on an H100.
#include <cstdio>
__global__ void ends() { __trap(); }
__global__ void goes_on() {}

#define SAY(call) std::printf("%s\n", cudaGetErrorName(call))

int main() {
  int* memory = nullptr;
  void* more = nullptr;
  cudaMalloc(&memory, 64);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaEvent_t event;
  cudaEventCreate(&event);
  ends<<<1, 1, 0, stream>>>();
  std::printf("%d\n", cudaGetLastError());
  SAY(cudaLaunchKernel(reinterpret_cast<void*>(goes_on), 1, 1, nullptr, 0, stream));
  SAY(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(goes_on), 1, 1, nullptr, 0, stream));
  SAY(cudaMemset2DAsync(memory, 8, 0, 8, 2, stream));
  SAY(cudaMallocAsync(&more, 64, stream));
  SAY(cudaEventRecordWithFlags(event, stream, 0));
  SAY(cudaStreamWaitEvent(stream, event, 0));
  // The call waits, as the host's memory is pageable.
  int host = 0;
  SAY(cudaMemcpyAsync(&host, memory, sizeof host, cudaMemcpyDeviceToHost, stream));
  SAY(cudaDeviceSynchronize());
  SAY(cudaEventRecordWithFlags(event, stream, 0));
}
