// SPDX-License-Identifier: MIT
// Three launches, then an end without order: what was measured before must be kept.
#include <signal.h>
#include <unistd.h>
#include <cstdlib>
#include <string>
__global__ void before_the_crash(int* data) { data[threadIdx.x] = threadIdx.x; }
int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "abort";
  int* data = nullptr;
  if (cudaMalloc(&data, 4096) != cudaSuccess) return 9;
  for (int i = 0; i < 3; ++i) before_the_crash<<<1, 128>>>(data);
  cudaDeviceSynchronize();
  if (how == "_exit") _exit(3);
  if (how == "kill") kill(getpid(), SIGKILL);
  if (how == "segfault") raise(SIGSEGV);
  std::abort();
}
