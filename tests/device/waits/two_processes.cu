// SPDX-License-Identifier: MIT
// Two processes share device memory (IPC): the kernel of each waits for the other's.
#include <sys/wait.h>
#include <unistd.h>
#include <string>
#include "waiting.h"
__global__ void meet(volatile int* mine, volatile int* other, int* data) {
  *mine = 1;
  __threadfence_system();
  if (wait_for(other, 1)) data[threadIdx.x] += 10;
}
int main(int argc, char** argv) {
  if (argc == 4) {  // the child: its ends of the pipes
    cudaIpcMemHandle_t handle;
    if (read(std::atoi(argv[2]), &handle, sizeof handle) != sizeof handle) return 8;
    int *shared = nullptr, *data = device_array();
    CHECK(cudaIpcOpenMemHandle(reinterpret_cast<void**>(&shared), handle,
                               cudaIpcMemLazyEnablePeerAccess));
    if (write(std::atoi(argv[3]), "r", 1) != 1) return 8;
    meet<<<1, 64>>>(shared + 1, shared, data);
    CHECK(cudaDeviceSynchronize());
    add_one<<<8, 128>>>(data);
    CHECK(cudaDeviceSynchronize());
    return 0;
  }
  int down[2], up[2];
  if (pipe(down) != 0 || pipe(up) != 0) return 8;
  const pid_t child = fork();
  if (child == 0) {
    const std::string in = std::to_string(down[0]), out = std::to_string(up[1]);
    execl("/proc/self/exe", argv[0], "child", in.c_str(), out.c_str(), nullptr);
    _exit(7);
  }
  int *shared = nullptr, *data = device_array();
  CHECK(cudaMalloc(&shared, 2 << 20));
  CHECK(cudaMemset(shared, 0, 2 << 20));
  CHECK(cudaDeviceSynchronize());
  cudaIpcMemHandle_t handle;
  CHECK(cudaIpcGetMemHandle(&handle, shared));
  char ready = 0;
  if (write(down[1], &handle, sizeof handle) != sizeof handle || read(up[0], &ready, 1) != 1)
    return 8;
  meet<<<1, 64>>>(shared, shared + 1, data);
  CHECK(cudaDeviceSynchronize());
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("child %d\n", WEXITSTATUS(status));
  finish(data);
}
