// SPDX-License-Identifier: MIT
// Surfaces of every shape, read and written inside and outside, by every width; what is reduced and
// converted on the way; what an array holds afterwards.
#include <cstdio>
#include <cstring>
#include <vector>

#include "runtime_program.h"
namespace {

enum Shape { line, plane, box, lines, planes, cube, cubes, shapes };

template <class T, cudaSurfaceBoundaryMode mode>
__device__ T read(cudaSurfaceObject_t s, int shape, int x, int y, int z) {
  switch (shape) {
    case line:
      return surf1Dread<T>(s, x, mode);
    case plane:
      return surf2Dread<T>(s, x, y, mode);
    case box:
      return surf3Dread<T>(s, x, y, z, mode);
    case lines:
      return surf1DLayeredread<T>(s, x, z, mode);
    case planes:
      return surf2DLayeredread<T>(s, x, y, z, mode);
    case cube:
      return surfCubemapread<T>(s, x, y, z, mode);
    default:
      return surfCubemapLayeredread<T>(s, x, y, z, mode);
  }
}

template <class T, cudaSurfaceBoundaryMode mode>
__device__ void write(T value, cudaSurfaceObject_t s, int shape, int x, int y, int z) {
  switch (shape) {
    case line:
      return surf1Dwrite<T>(value, s, x, mode);
    case plane:
      return surf2Dwrite<T>(value, s, x, y, mode);
    case box:
      return surf3Dwrite<T>(value, s, x, y, z, mode);
    case lines:
      return surf1DLayeredwrite<T>(value, s, x, z, mode);
    case planes:
      return surf2DLayeredwrite<T>(value, s, x, y, z, mode);
    case cube:
      return surfCubemapwrite<T>(value, s, x, y, z, mode);
    default:
      return surfCubemapLayeredwrite<T>(value, s, x, y, z, mode);
  }
}

/// Reads around the array, two elements further than it goes on each side.
template <class T, cudaSurfaceBoundaryMode mode>
__global__ void read_around(cudaSurfaceObject_t s, int shape, T* out, int width, int height) {
  const int x = static_cast<int>(threadIdx.x) - 2, y = static_cast<int>(threadIdx.y) - 2;
  const int z = static_cast<int>(blockIdx.x) - 1;
  const int at = (blockIdx.x * (height + 4) + threadIdx.y) * (width + 4) + threadIdx.x;
  out[at] = read<T, mode>(s, shape, x * static_cast<int>(sizeof(T)), y, z);
}

template <class T, cudaSurfaceBoundaryMode mode>
__global__ void write_around(cudaSurfaceObject_t s, int shape, int width, int height,
                             unsigned seed) {
  const int x = static_cast<int>(threadIdx.x) - 2, y = static_cast<int>(threadIdx.y) - 2;
  const int z = static_cast<int>(blockIdx.x) - 1;
  // All threads that are clamped to one place write the same.
  const int own_x = min(max(x, 0), width - 1), own_y = min(max(y, 0), height - 1);
  T value;
  unsigned char bytes[sizeof(T)];
  for (unsigned i = 0; i < sizeof(T); ++i) {
    bytes[i] = static_cast<unsigned char>(seed + own_x * 3 + own_y * 29 + z * 101 + i * 7);
  }
  memcpy(&value, bytes, sizeof value);
  write<T, mode>(value, s, shape, x * static_cast<int>(sizeof(T)), y, z);
}

unsigned hashed(const void* data, std::size_t bytes) {
  unsigned hash = 2166136261u;
  for (std::size_t i = 0; i < bytes; ++i) {
    hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 16777619u;
  }
  return hash;
}

struct Extents {
  int width, height, depth;
  unsigned flags;
};
constexpr Extents extents[shapes] = {{11, 0, 0, 0},
                                     {11, 5, 0, 0},
                                     {11, 5, 3, 0},
                                     {11, 0, 3, cudaArrayLayered},
                                     {11, 5, 3, cudaArrayLayered},
                                     {6, 6, 6, cudaArrayCubemap},
                                     {6, 6, 12, cudaArrayCubemap | cudaArrayLayered}};

template <class T>
void of_type(const char* name, int channels, cudaChannelFormatKind kind) {
  const int bits = static_cast<int>(sizeof(T)) * 8 / channels;
  const cudaChannelFormatDesc format{bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0,
                                     channels > 2 ? bits : 0, kind};
  for (int shape = 0; shape < shapes; ++shape) {
    const Extents e = extents[shape];
    const int rows = e.height == 0 ? 1 : e.height, layers = e.depth == 0 ? 1 : e.depth;
    const std::size_t row = e.width * sizeof(T), bytes = row * rows * layers;
    std::vector<unsigned char> host(bytes);
    for (std::size_t i = 0; i < bytes; ++i) host[i] = static_cast<unsigned char>(i * 37 + i / 11);
    cudaArray_t array = nullptr;
    cudaMalloc3DArray(&array, &format, make_cudaExtent(e.width, e.height, e.depth),
                      e.flags | cudaArraySurfaceLoadStore);
    cudaMemcpy3DParms copy{};
    copy.srcPtr = make_cudaPitchedPtr(host.data(), row, e.width, rows);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(e.width, rows, layers);
    copy.kind = cudaMemcpyHostToDevice;
    cudaMemcpy3D(&copy);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaSurfaceObject_t surface = 0;
    if (cudaCreateSurfaceObject(&surface, &resource) != cudaSuccess) std::printf("no surface\n");
    T* out = nullptr;
    const std::size_t read_bytes = sizeof(T) * (e.width + 4) * (rows + 4) * (layers + 2);
    cudaMalloc(&out, read_bytes);
    const dim3 grid(layers + 2), block(e.width + 4, rows + 4);
    std::vector<unsigned char> seen(read_bytes);
    std::printf("%s %d:", name, shape);
    const auto show = [&] {
      cudaMemcpy(seen.data(), out, read_bytes, cudaMemcpyDeviceToHost);
      std::printf(" %08x", hashed(seen.data(), read_bytes));
    };
    read_around<T, cudaBoundaryModeZero><<<grid, block>>>(surface, shape, out, e.width, rows);
    show();
    read_around<T, cudaBoundaryModeClamp><<<grid, block>>>(surface, shape, out, e.width, rows);
    show();
    write_around<T, cudaBoundaryModeZero><<<grid, block>>>(surface, shape, e.width, rows, 5);
    copy = {};
    copy.srcArray = array;
    copy.dstPtr = make_cudaPitchedPtr(host.data(), row, e.width, rows);
    copy.extent = make_cudaExtent(e.width, rows, layers);
    copy.kind = cudaMemcpyDeviceToHost;
    cudaMemcpy3D(&copy);
    // All blocks have written the same places of a line and a plane.
    if (shape > plane) std::printf(" %08x", hashed(host.data(), bytes));
    std::printf(" %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    cudaFree(out);
    cudaDestroySurfaceObject(surface);
    cudaFreeArray(array);
  }
}

/// Writes beyond the edges: clamped ones land on them.
__global__ void clamped_writes(cudaSurfaceObject_t s) {
  const int x = static_cast<int>(threadIdx.x) - 3;
  surf2Dwrite<int>(100 + min(max(x, 0), 7), s, x * 4, 9, cudaBoundaryModeClamp);
}

/// Coordinates between elements, and an element of another width than the array's.
__global__ void between(cudaSurfaceObject_t s, unsigned* out) {
  const int i = static_cast<int>(threadIdx.x);
  out[i] = surf2Dread<unsigned char>(s, i, 1, cudaBoundaryModeZero);
  out[32 + i] = surf2Dread<unsigned short>(s, i * 2, 1, cudaBoundaryModeZero);
  const uint2 pair = surf2Dread<uint2>(s, i * 8, 1, cudaBoundaryModeZero);
  out[64 + i] = pair.x;
  out[96 + i] = pair.y;
}

__global__ void reduce(cudaSurfaceObject_t s) {
  const int x = static_cast<int>(threadIdx.x % 8) * 4, y = 0;
  const unsigned v = threadIdx.x * 77u + 5u;
  asm volatile("sured.b.add.2d.u32.trap [%0, {%1, %2}], %3;" ::"l"(s), "r"(x), "r"(y), "r"(v));
  asm volatile("sured.b.min.2d.s32.trap [%0, {%1, %2}], %3;" ::"l"(s), "r"(x), "r"(1),
               "r"(v - 900u));
  asm volatile("sured.b.max.2d.u32.zero [%0, {%1, %2}], %3;" ::"l"(s), "r"(x - 8), "r"(2), "r"(v));
  asm volatile("sured.b.and.2d.b32.clamp [%0, {%1, %2}], %3;" ::"l"(s), "r"(x), "r"(3), "r"(~v));
  asm volatile("sured.b.or.2d.b32.trap [%0, {%1, %2}], %3;" ::"l"(s), "r"(x), "r"(4), "r"(v));
}

__global__ void reduce_wide(cudaSurfaceObject_t s) {
  const int x = static_cast<int>(threadIdx.x % 4) * 8;
  const unsigned long long v = threadIdx.x * 0x123456789ull + 5u;
  asm volatile("sured.b.add.1d.u64.trap [%0, {%1}], %2;" ::"l"(s), "r"(x), "l"(v));
}

__global__ void sizes(cudaSurfaceObject_t s, int* out) {
  asm volatile("suq.width.b32 %0, [%1];" : "=r"(out[0]) : "l"(s));
  asm volatile("suq.height.b32 %0, [%1];" : "=r"(out[1]) : "l"(s));
  asm volatile("suq.depth.b32 %0, [%1];" : "=r"(out[2]) : "l"(s));
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

void show_sizes(const char* what, cudaSurfaceObject_t surface) {
  int* out = nullptr;
  int host[3];
  cudaMalloc(&out, sizeof host);
  cudaMemset(out, 0xff, sizeof host);
  sizes<<<1, 1>>>(surface, out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("sizes of %s:", what);
  for (int value : host) std::printf(" %d", value);
  std::printf(" %s\n", cudaGetErrorName(cudaGetLastError()));
  cudaFree(out);
}

}  // namespace

int main() {
  of_type<unsigned char>("uchar", 1, cudaChannelFormatKindUnsigned);
  of_type<uchar2>("uchar2", 2, cudaChannelFormatKindUnsigned);
  of_type<uchar4>("uchar4", 4, cudaChannelFormatKindUnsigned);
  of_type<short>("short", 1, cudaChannelFormatKindSigned);
  of_type<short4>("short4", 4, cudaChannelFormatKindSigned);
  of_type<int>("int", 1, cudaChannelFormatKindSigned);
  of_type<float>("float", 1, cudaChannelFormatKindFloat);
  of_type<float2>("float2", 2, cudaChannelFormatKindFloat);
  of_type<float4>("float4", 4, cudaChannelFormatKindFloat);

  cudaSurfaceObject_t surface = 0;
  const cudaChannelFormatDesc word{32, 0, 0, 0, cudaChannelFormatKindUnsigned};
  cudaArray_t array = plane_of(word, 8, 10, &surface);
  clamped_writes<<<1, 14>>>(surface);
  show_array("clamped", array, 32, 10);
  unsigned* out = nullptr;
  cudaMalloc(&out, 512);
  between<<<1, 32>>>(surface, out);
  std::vector<unsigned> seen(128);
  cudaMemcpy(seen.data(), out, 512, cudaMemcpyDeviceToHost);
  std::printf("between:");
  for (unsigned value : seen) std::printf(" %x", value);
  std::printf(" %s\n", cudaGetErrorName(cudaGetLastError()));
  reduce<<<1, 32>>>(surface);
  show_array("reduced", array, 32, 10);
  show_sizes("words", surface);
  const cudaChannelFormatDesc pair{32, 32, 0, 0, cudaChannelFormatKindUnsigned};
  array = plane_of(pair, 4, 0, &surface);
  reduce_wide<<<1, 32>>>(surface);
  show_array("reduced wide", array, 32, 1);
  show_sizes("pairs", surface);

  cudaArray_t layers = nullptr;
  cudaMalloc3DArray(&layers, &word, make_cudaExtent(8, 4, 3),
                    cudaArrayLayered | cudaArraySurfaceLoadStore);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = layers;
  cudaCreateSurfaceObject(&surface, &resource);
  show_sizes("layers", surface);
  cudaMalloc3DArray(&layers, &word, make_cudaExtent(8, 4, 3), cudaArraySurfaceLoadStore);
  resource.res.array.array = layers;
  cudaCreateSurfaceObject(&surface, &resource);
  show_sizes("a box", surface);
}
