// SPDX-License-Identifier: MIT
// A part that the driver's linker is given as a file: tests/runtime/programs/linker.cpp.
extern "C" __device__ int calls;
extern "C" __device__ int thrice(int x) {
  atomicAdd(&calls, 1);
  return 3 * x;
}
