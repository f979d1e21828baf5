// SPDX-License-Identifier: MIT
// When a kernel's printf is written, and the host's stdout with it.
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
__global__ void k(int v) { printf("device %d\n", v); }
__global__ void quiet() {}
int main(int argc, char** argv) {
  if (argc == 1) {
    for (int i : {0, 1, 2, 3, 4, 5, 8, 9, 16, 17}) {
      int fd[2];
      if (pipe(fd)) return 1;
      pid_t c = fork();
      if (!c) {
        dup2(fd[1], 1);
        dup2(fd[1], 2);
        close(fd[0]);
        char t[9];
        sprintf(t, "%d", i);
        execl("/proc/self/exe", argv[0], t, (char*)0);
        _exit(9);
      }
      close(fd[1]);
      char b[4096];
      size_t n = 0;
      ssize_t g;
      while ((g = read(fd[0], b + n, sizeof b - 1 - n)) > 0) n += g;
      close(fd[0]);
      b[n] = 0;
      int st;
      waitpid(c, &st, 0);
      for (size_t q = 0; q < n; q++)
        if (b[q] == '\n') b[q] = '|';
      printf("%2d %s (status %x)\n", i, b, st);
    }
    fflush(stdout);
    return 0;
  }
  const int i = atoi(argv[1]);
  cudaStream_t s;
  void* p;
  cudaMalloc(&p, 64);
  cudaStreamCreate(&s);
  int h;
  cudaEvent_t e;
  cudaEventCreate(&e);
  printf("case %d host ", i);
  switch (i) {
    case 0:
      k<<<1, 1>>>(0);
      cudaDeviceSynchronize();
      break;
    case 1:
      quiet<<<1, 1>>>();
      cudaDeviceSynchronize();
      break;  // nothing printed by the device: is the host's flushed?
    case 2:
      cudaDeviceSynchronize();
      break;
    case 3:
      k<<<1, 1, 0, s>>>(3);
      cudaStreamSynchronize(s);
      break;
    case 4:
      k<<<1, 1>>>(4);
      cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost);
      break;
    case 5:
      k<<<1, 1>>>(5);
      cudaEventRecord(e);
      cudaEventSynchronize(e);
      break;
    case 8:
      k<<<1, 1>>>(8);
      cudaFree(p);
      break;
    case 9:
      k<<<1, 1>>>(9);
      cudaDeviceReset();
      break;
    case 16:
      k<<<1, 1>>>(16);
      cudaMemcpyAsync(&h, p, 4, cudaMemcpyDeviceToHost, 0);
      break;
    case 17:
      k<<<1, 1>>>(17);
      printf("after ");
      cudaDeviceSynchronize();
      printf("end ");
      fflush(stdout);
      break;
  }
  abort();
}
