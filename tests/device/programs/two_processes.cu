// SPDX-License-Identifier: MIT
// Starts itself as a child, and both compute.
#include <sys/wait.h>
#include <unistd.h>
#include <cstdio>
__global__ void parent_kernel(int* data) { atomicAdd(data, 1); }
__global__ void child_kernel(int* data) { data[threadIdx.x] = threadIdx.x; }
int main(int argc, char** argv) {
  pid_t child = 0;
  if (argc == 1) {
    child = fork();
    if (child == 0) {
      execl("/proc/self/exe", argv[0], "child", nullptr);
      _exit(9);
    }
  }
  int* data = nullptr;
  if (cudaMalloc(&data, 4096) != cudaSuccess) return 9;
  cudaMemset(data, 0, 4096);
  if (argc == 1) {
    parent_kernel<<<4, 64>>>(data);
  } else {
    child_kernel<<<1, 96>>>(data);
    child_kernel<<<1, 64>>>(data);
  }
  if (cudaDeviceSynchronize() != cudaSuccess) return 8;
  int status = 0;
  if (child != 0) waitpid(child, &status, 0);
  return status == 0 ? 0 : 1;
}
