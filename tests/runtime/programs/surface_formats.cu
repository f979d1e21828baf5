// SPDX-License-Identifier: MIT
// Values that a surface's store converts to what its array holds.
#include <cstdio>
#include <vector>

#include "runtime_program.h"
namespace {

/// Values converted to what the array holds.
__global__ void formatted(cudaSurfaceObject_t s, const unsigned* values, int y) {
  const int x = static_cast<int>(threadIdx.x);
  const unsigned* v = values + x * 4;
  asm volatile("sust.p.2d.v4.b32.trap [%0, {%1, %2}], {%3, %4, %5, %6};" ::"l"(s), "r"(x), "r"(y),
               "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3]));
}

cudaArray_t plane_of(const cudaChannelFormatDesc& format, int width, int height,
                     cudaSurfaceObject_t* surface) {
  cudaArray_t array = nullptr;
  cudaMallocArray(&array, &format, width, height, cudaArraySurfaceLoadStore);
  const std::size_t row =
      width * static_cast<std::size_t>(format.x + format.y + format.z + format.w) / 8;
  const std::size_t rows = height == 0 ? 1 : height;
  std::vector<unsigned char> host(row * rows);
  for (std::size_t i = 0; i < host.size(); ++i)
    host[i] = static_cast<unsigned char>(i * 37 + i / 11);
  cudaMemcpy2DToArray(array, 0, 0, host.data(), row, row, rows, cudaMemcpyHostToDevice);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaCreateSurfaceObject(surface, &resource);
  return array;
}

void show_array(const char* what, cudaArray_t array, std::size_t row, int rows) {
  std::vector<unsigned> host(row * rows / 4);
  cudaMemcpy2DFromArray(host.data(), row, array, 0, 0, row, rows, cudaMemcpyDeviceToHost);
  std::printf("%s:", what);
  for (unsigned word : host) std::printf(" %08x", word);
  std::printf(" %s\n", cudaGetErrorName(cudaGetLastError()));
}

}  // namespace

int main() {
  cudaSurfaceObject_t surface = 0;
  cudaArray_t array = nullptr;
  const float values[] = {0.0f, 0.5f,   1.0f, 1.5f,  -0.25f,  -1.0f,
                          2.5f, 300.7f, 1e9f, -1e9f, 0.3333f, 0.1f};
  const unsigned numbers[] = {0,     1,     127,        128,         255,         256,
                              65535, 65536, 0x7fffffff, 0x80000000u, 0xffffffffu, 0xffffff80u};
  const struct {
    const char* name;
    cudaChannelFormatDesc format;
  } formats[] = {{"float4", {32, 32, 32, 32, cudaChannelFormatKindFloat}},
                 {"half4", {16, 16, 16, 16, cudaChannelFormatKindFloat}},
                 {"half", {16, 0, 0, 0, cudaChannelFormatKindFloat}},
                 {"uchar4", {8, 8, 8, 8, cudaChannelFormatKindUnsigned}},
                 {"char4", {8, 8, 8, 8, cudaChannelFormatKindSigned}},
                 {"ushort2", {16, 16, 0, 0, cudaChannelFormatKindUnsigned}},
                 {"short2", {16, 16, 0, 0, cudaChannelFormatKindSigned}},
                 {"int", {32, 0, 0, 0, cudaChannelFormatKindSigned}},
                 {"uint2", {32, 32, 0, 0, cudaChannelFormatKindUnsigned}},
                 {"unorm8x4", {8, 8, 8, 8, cudaChannelFormatKindUnsignedNormalized8X4}},
                 {"snorm16x2", {16, 16, 0, 0, cudaChannelFormatKindSignedNormalized16X2}}};
  unsigned* given = nullptr;
  cudaMalloc(&given, 512);
  for (const auto& f : formats) {
    array = plane_of(f.format, 8, 4, &surface);
    cudaMemcpy(given, values, sizeof values, cudaMemcpyHostToDevice);
    formatted<<<1, 3>>>(surface, given, 1);
    cudaMemcpy(given, numbers, sizeof numbers, cudaMemcpyHostToDevice);
    formatted<<<1, 3>>>(surface, given, 2);
    const std::size_t row =
        static_cast<std::size_t>(f.format.x + f.format.y + f.format.z + f.format.w);
    show_array(f.name, array, row, 4);
    cudaFreeArray(array);
  }
}
