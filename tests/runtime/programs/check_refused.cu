// SPDX-License-Identifier: MIT
// A kernel that the model refuses would have written what is copied back: nobody can say that it is
// unwritten.
#include <cstdio>
__global__ void ask(const void* handle, unsigned* out) {
  unsigned answer;
  asm volatile("{ .reg .pred p; istypep.texref p, %1; selp.u32 %0, 1, 0, p; }"
               : "=r"(answer)
               : "l"(handle));
  for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = answer;
}

int main() {
  unsigned *device, host[128];
  if (cudaMalloc(&device, sizeof(host)) != cudaSuccess) return 1;
  ask<<<1, 32>>>(device, device);
  const cudaError_t launched = cudaGetLastError();
  if (cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  std::printf("%s\n", launched == cudaSuccess ? "launched" : "refused");
  return cudaFree(device) == cudaSuccess ? 0 : 1;
}
