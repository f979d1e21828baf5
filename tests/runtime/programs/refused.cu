// SPDX-License-Identifier: MIT
// Asks for the type of a handle, which the model does not do.
#include <cuda_runtime.h>
__global__ void ask(int* out, unsigned long long handle) {
  asm volatile("{ .reg .pred %%p; istypep.texref %%p, %1; selp.u32 %0, 1, 0, %%p; }"
               : "=r"(*out)
               : "l"(handle));
}

int main() { ask<<<1, 32>>>(nullptr, 0); }
