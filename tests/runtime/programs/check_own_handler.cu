// A program that handles SIGSEGV itself, from its first call of the API on: no page is taken from
// it, and --check says what it cannot find. With "before": from before it on, where it is found.
#include <csignal>
#include <cstdio>

#include <unistd.h>

#include "races.h"

int main(int arguments, char**) {
  const auto handle = [] { std::signal(SIGSEGV, [](int) { _exit(9); }); };
  int* managed = nullptr;
  if (arguments > 1) handle();
  CHECKED(cudaMallocManaged(&managed, bytes));
  if (arguments == 1) handle();
  fill<<<blocks(count), 128>>>(managed, count, 1);
  std::printf("%d\n", managed[0]);
  CHECKED(cudaDeviceSynchronize());
  CHECKED(cudaFree(managed));
}
