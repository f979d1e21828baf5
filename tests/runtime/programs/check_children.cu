// SPDX-License-Identifier: MIT
// Four processes with the same mistake each: one finding, four times.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
__global__ void fill(float* out) { out[threadIdx.x + 1] = 1.0f; }

int main(int argc, char** argv) {
  if (argc == 1) {
    for (int i = 0; i < 4; ++i) {
      if (fork() == 0) {
        execl("/proc/self/exe", argv[0], "child", nullptr);
        _exit(127);
      }
    }
    int status = 0, failed = 0;
    while (wait(&status) > 0) failed += status != 0;
    return failed;
  }
  float* d_out = nullptr;
  cudaMalloc(&d_out, 32 * sizeof(float));
  fill<<<1, 32>>>(d_out);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaFree(d_out);
  return error;
}
