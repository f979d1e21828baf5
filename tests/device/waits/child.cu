// SPDX-License-Identifier: MIT
// A kernel waits for a flag that its process sets when a child process with work on the same GPU
// has ended.
#include <sys/wait.h>
#include <unistd.h>
#include "waiting.h"
__global__ void wait_for_child(volatile int* flag, int* data) {
  if (wait_for(flag, 1)) data[threadIdx.x] += 10;
}
int main(int argc, char** argv) {
  int* data = device_array();
  if (argc == 2) {
    add_one<<<8, 128>>>(data);
    CHECK(cudaDeviceSynchronize());
    return 0;
  }
  int* flag = nullptr;
  CHECK(cudaHostAlloc(&flag, sizeof *flag, cudaHostAllocMapped));
  *flag = 0;
  CHECK(cudaDeviceSynchronize());
  wait_for_child<<<1, 64>>>(flag, data);
  const pid_t child = fork();
  if (child == 0) {
    execl("/proc/self/exe", argv[0], "child", nullptr);
    _exit(7);
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("child %d\n", WEXITSTATUS(status));
  *static_cast<volatile int*>(flag) = 1;
  CHECK(cudaDeviceSynchronize());
  finish(data);
}
