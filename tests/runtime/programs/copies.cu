// Copies, and no kernel.
#include <cstdio>

int main() {
  int host[4] = {1, 2, 3, 4}, back[4] = {};
  int* device = nullptr;
  cudaMalloc(&device, sizeof host);
  cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemcpy(back, device, sizeof back, cudaMemcpyDeviceToHost);
  cudaFree(device);
  std::printf("%d\n", back[3]);
}
