// SPDX-License-Identifier: MIT
// Host code beyond what it has of memory that it shares with the device: the argument says where.
// The process ends there, and is told what it touched; "behind" goes on, and is told in the end.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <cuda_runtime.h>
namespace {

volatile int sum = 0;

void read_past_the_end() {
  int* managed = nullptr;
  cudaMallocManaged(&managed, 4096);
  for (int i = 0; i <= 1024; ++i) sum = sum + managed[i];
  cudaFree(managed);
}

void write_past_the_end() {
  char* pinned = nullptr;
  cudaMallocHost(&pinned, 8000);
  std::memset(pinned, 0, 8000);
  pinned[8300] = 1;
  cudaFreeHost(pinned);
}

void read_what_was_freed() {
  int* managed = nullptr;
  cudaMallocManaged(&managed, 4096);
  managed[3] = 1;
  cudaFree(managed);
  sum = sum + managed[3];
}

void read_pinned_memory_that_was_freed() {
  int* pinned = nullptr;
  cudaHostAlloc(&pinned, 4096, cudaHostAllocMapped);
  cudaFreeHost(pinned);
  sum = sum + pinned[0];
}

void write_behind() {
  int* managed = nullptr;
  cudaMallocManaged(&managed, 10 * sizeof(int));
  for (int i = 0; i <= 10; ++i) managed[i] = i + 1;
  cudaFree(managed);
}

void read_in_front() {
  int* managed = nullptr;
  cudaMallocManaged(&managed, 4096);
  for (int i = 1023; i >= -1; --i) sum = sum + managed[i];
  cudaFree(managed);
}

}  // namespace

int main(int, char** arguments) {
  const char* which = arguments[1];
  if (std::strcmp(which, "past") == 0) read_past_the_end();
  if (std::strcmp(which, "written") == 0) write_past_the_end();
  if (std::strcmp(which, "freed") == 0) read_what_was_freed();
  if (std::strcmp(which, "pinned") == 0) read_pinned_memory_that_was_freed();
  if (std::strcmp(which, "front") == 0) read_in_front();
  if (std::strcmp(which, "behind") == 0) write_behind();
}
