// SPDX-License-Identifier: MIT
// A program without a mistake that ends in the way that it is told to.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
__global__ void fill(int* out) { out[threadIdx.x] = 1; }

static void launch() {
  int* d_out = nullptr;
  cudaMalloc(&d_out, 32 * sizeof(int));
  fill<<<1, 32>>>(d_out);
  cudaDeviceSynchronize();
  cudaFree(d_out);
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  if (std::strcmp(how, "killed before a call") == 0) kill(getpid(), SIGKILL);
  if (std::strcmp(how, "no call") == 0) return 0;
  if (std::strcmp(how, "no launch") == 0) {
    cudaFree(nullptr);
    _exit(0);
  }
  if (std::strcmp(how, "another program") == 0) execl(argv[0], argv[0], "return", nullptr);
  if (std::strcmp(how, "child") == 0 && fork() != 0) return wait(nullptr) < 0;
  const bool closes = std::strcmp(how, "closes") == 0;
  if (closes || std::strcmp(how, "closes in the middle") == 0) {
    if (!closes) launch();
    for (int file = 3; file < 1024; ++file) close(file);
    sleep(2);  // as a daemon it lives on, and is seen to
  }
  launch();
  if (std::strcmp(how, "then another") == 0) execl(argv[0], argv[0], "return", nullptr);
  if (std::strcmp(how, "child") == 0 || std::strcmp(how, "_exit") == 0) _exit(0);
  if (std::strcmp(how, "abort") == 0) abort();
  return 0;
}
