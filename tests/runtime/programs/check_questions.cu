// SPDX-License-Identifier: MIT
// No mistakes: errors that are answers, and memory that another process has set.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
__global__ void sum(int* to, const int* from) { atomicAdd(to, from[threadIdx.x]); }

constexpr const char* library_code = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry nothing()
{
  ret;
}
)";

static void ask() {
  cudaLibrary_t library;
  cudaKernel_t kernel;
  std::size_t bytes;
  cudaLibraryLoadData(&library, library_code, nullptr, nullptr, 0, nullptr, nullptr, 0);
  cudaLibraryGetKernel(&kernel, library, "something");
  cudaLibraryGetGlobal(nullptr, &bytes, library, "number");
  cudaLibraryUnload(library);
  cudaGraph_t one, two;
  cudaGraphNode_t node;
  cudaGraphExec_t exec;
  cudaGraphExecUpdateResultInfo info;
  cudaGraphCreate(&one, 0);
  cudaGraphCreate(&two, 0);
  cudaGraphAddEmptyNode(&node, two, nullptr, 0);
  cudaGraphInstantiate(&exec, one, 0);
  std::printf("%s\n", cudaGetErrorName(cudaGraphExecUpdate(exec, two, &info)));
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(one);
  cudaGraphDestroy(two);
}

/// Sets the numbers, and frees nothing: they are its parent's.
static int child(int from_parent) {
  cudaIpcMemHandle_t handle;
  if (read(from_parent, &handle, sizeof handle) != sizeof handle) return 1;
  void* numbers = nullptr;
  cudaIpcOpenMemHandle(&numbers, handle, cudaIpcMemLazyEnablePeerAccess);
  cudaMemset(numbers, 1, 32 * sizeof(int));
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}

int main() {
  int down[2];
  if (pipe(down) != 0) return 1;
  const pid_t id = fork();
  if (id == 0) return child(down[0]);
  int *numbers = nullptr, *total = nullptr, host = 0, status = 0;
  cudaMalloc(&numbers, 32 * sizeof(int));
  cudaMalloc(&total, sizeof(int));
  cudaMemset(total, 0, sizeof(int));
  cudaIpcMemHandle_t handle;
  cudaIpcGetMemHandle(&handle, numbers);
  if (write(down[1], &handle, sizeof handle) != sizeof handle) return 1;
  waitpid(id, &status, 0);
  sum<<<1, 32>>>(total, numbers);
  cudaMemcpy(&host, total, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("%d, child %d\n", host, status);
  ask();
  cudaFree(numbers);
  cudaFree(total);
}
