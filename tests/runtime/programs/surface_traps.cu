// SPDX-License-Identifier: MIT
// surface_traps N: an access outside a surface, and what it ends with.
#include <cstdlib>

#include "runtime_program.h"
namespace {

__global__ void touch(cudaSurfaceObject_t s, int what, int* out) {
  int value = 0;
  switch (what) {
    case 0:
      surf2Dread<int>(&value, s, 8 * 4, 0);
      break;
    case 1:
      surf2Dread<int>(&value, s, -4, 0);
      break;
    case 2:
      surf2Dread<int>(&value, s, 0, 4);
      break;
    case 3:
      surf2Dwrite<int>(1, s, 8 * 4, 0);
      break;
    case 4:
      surf2Dwrite<int>(1, s, 0, -1);
      break;
    case 5:
      surf2Dread<int>(&value, s, 2, 0);
      break;  // between two elements
    case 6:
      surf2Dwrite<int>(1, s, 2, 0, cudaBoundaryModeZero);
      break;
    case 7:
      asm volatile("sured.b.add.2d.u32.trap [%0, {%1, %2}], %3;" ::"l"(s), "r"(64), "r"(0), "r"(1));
      break;
    case 8:
      surf2Dread<int>(&value, 0, 0, 0);
      break;  // no surface
    case 9:
      surf2Dread<int>(&value, s + 1000, 0, 0);
      break;
    case 10:
      surf2DLayeredread<int>(&value, s, 0, 0, 3);
      break;
    case 11:
      surf1Dread<int>(&value, s, 0);
      break;
    case 12:
      surf3Dread<int>(&value, s, 0, 0, 0);
      break;
    case 13:
      surf2Dwrite<int>(1, 0, 0, 0, cudaBoundaryModeZero);
      break;
    case 14:
      value = static_cast<int>(tex2D<float>(0, 0, 0));
      break;  // no texture
    case 15:
      value = static_cast<int>(tex2D<float>(s, 0, 0));
      break;  // a surface is none
    case 16:
      surf2Dread<int>(&value, s, 8 * 4, 0, cudaBoundaryModeZero);
      break;
    case 17:
      value = tex1Dfetch<int>(12345, 0);
      break;
    default:
      break;
  }
  *out = value;
}

}  // namespace

int main(int count, char** arguments) {
  const int what = count > 1 ? std::atoi(arguments[1]) : 0;
  const cudaChannelFormatDesc format{32, 0, 0, 0, cudaChannelFormatKindSigned};
  cudaArray_t array = nullptr;
  cudaMallocArray(&array, &format, 8, 4, cudaArraySurfaceLoadStore);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t surface = 0;
  cudaCreateSurfaceObject(&surface, &resource);
  int* out = nullptr;
  cudaMalloc(&out, 4);
  touch<<<1, 1>>>(surface, what, out);
  int value = -1;
  std::printf("%d:", what);
  K(cudaGetLastError());
  K(cudaDeviceSynchronize());
  K(cudaMemcpy(&value, out, 4, cudaMemcpyDeviceToHost));
  std::printf("%d\n", value);
}
