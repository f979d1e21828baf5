// SPDX-License-Identifier: MIT
// A call of the API in a host function, where none is permitted, on the line that names its kind at
// its end.
#include "races.h"

int main() {
  Case c;
  const auto calls = [](void* memory) {
    cudaMemsetAsync(memory, 0, 4);  // ! failed call
  };
  CHECKED(cudaLaunchHostFunc(
      c.a, [](void*) {}, nullptr));
  CHECKED(cudaLaunchHostFunc(c.a, calls, c.x));
  CHECKED(cudaStreamSynchronize(c.a));
}
