// Textures, surfaces and arrays asked for in right and wrong ways, and what each call returns.
#include <cstring>

#include "runtime_program.h"

namespace {

cudaResourceDesc of_array(cudaArray_t array) {
  cudaResourceDesc r{};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = array;
  return r;
}

cudaResourceDesc of_linear(void* memory, cudaChannelFormatDesc format, std::size_t bytes) {
  cudaResourceDesc r{};
  r.resType = cudaResourceTypeLinear;
  r.res.linear.devPtr = memory;
  r.res.linear.desc = format;
  r.res.linear.sizeInBytes = bytes;
  return r;
}

cudaResourceDesc of_rows(void* memory, cudaChannelFormatDesc format, std::size_t width,
                         std::size_t height, std::size_t pitch) {
  cudaResourceDesc r{};
  r.resType = cudaResourceTypePitch2D;
  r.res.pitch2D.devPtr = memory;
  r.res.pitch2D.desc = format;
  r.res.pitch2D.width = width;
  r.res.pitch2D.height = height;
  r.res.pitch2D.pitchInBytes = pitch;
  return r;
}

__global__ void nothing() {}

/// Each is created and destroyed.
cudaError_t create(const cudaResourceDesc& r, const cudaTextureDesc& t,
                   const cudaResourceViewDesc* v = nullptr) {
  cudaTextureObject_t object = 0;
  const cudaError_t result = cudaCreateTextureObject(&object, &r, &t, v);
  if (result == cudaSuccess) cudaDestroyTextureObject(object);
  return result;
}

constexpr cudaChannelFormatKind f = cudaChannelFormatKindFloat, u = cudaChannelFormatKindUnsigned,
                                s = cudaChannelFormatKindSigned;

cudaChannelFormatDesc channels(int x, int y, int z, int w, cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

/// Made and freed again.
cudaError_t make(cudaChannelFormatDesc format, std::size_t w, std::size_t h, std::size_t d,
                 unsigned flags) {
  cudaArray_t array = nullptr;
  const cudaError_t result = cudaMalloc3DArray(&array, &format, make_cudaExtent(w, h, d), flags);
  if (result == cudaSuccess) cudaFreeArray(array);
  return result;
}
cudaError_t make_plane(cudaChannelFormatDesc format, std::size_t w, std::size_t h, unsigned flags) {
  cudaArray_t array = nullptr;
  const cudaError_t result = cudaMallocArray(&array, &format, w, h, flags);
  if (result == cudaSuccess) cudaFreeArray(array);
  return result;
}
cudaError_t make_levels(cudaChannelFormatDesc format, std::size_t w, std::size_t h, std::size_t d,
                        unsigned levels, unsigned flags) {
  cudaMipmappedArray_t array = nullptr;
  const cudaError_t result =
      cudaMallocMipmappedArray(&array, &format, make_cudaExtent(w, h, d), levels, flags);
  if (result == cudaSuccess) cudaFreeMipmappedArray(array);
  return result;
}

void arrays() {
  const auto word = channels(32, 0, 0, 0, f);
  R(make_plane(word, 0, 0, 0));
  R(make_plane(word, 0, 4, 0));
  R(make_plane(word, 131072, 0, 0));
  R(make_plane(word, 131073, 0, 0));
  R(make_plane(word, 131072, 1, 0));
  R(make_plane(word, 131073, 1, 0));
  R(make_plane(word, 1, 65536, 0));
  R(make_plane(word, 1, 65537, 0));
  R(make_plane(word, 32768, 0, cudaArraySurfaceLoadStore));
  R(make_plane(word, 32769, 0, cudaArraySurfaceLoadStore));
  R(make_plane(word, 131072, 1, cudaArraySurfaceLoadStore));
  R(make_plane(word, 131073, 1, cudaArraySurfaceLoadStore));
  R(make_plane(word, 32768, 32768, cudaArrayTextureGather));
  R(make_plane(word, 32769, 1, cudaArrayTextureGather));
  R(make_plane(word, 16, 0, cudaArrayTextureGather));
  R(make_plane(word, 16, 16, cudaArrayLayered));
  R(make_plane(word, 16, 0, cudaArrayLayered));
  R(make_plane(word, 16, 16, cudaArrayCubemap));
  R(make_plane(word, 16, 16, 0x100));
  R(make_plane(channels(32, 32, 32, 0, f), 16, 16, 0));
  R(make_plane(channels(32, 0, 32, 0, f), 16, 16, 0));
  R(make_plane(channels(8, 8, 8, 0, u), 16, 16, 0));
  R(make_plane(channels(8, 16, 0, 0, u), 16, 16, 0));
  R(make_plane(channels(64, 0, 0, 0, u), 16, 16, 0));
  R(make_plane(channels(8, 0, 0, 0, f), 16, 16, 0));
  R(make_plane(channels(24, 0, 0, 0, u), 16, 16, 0));
  R(make_plane(channels(0, 0, 0, 0, u), 16, 16, 0));
  R(make_plane(channels(0, 32, 0, 0, u), 16, 16, 0));
  R(make_plane(channels(32, 0, 0, 0, cudaChannelFormatKindNone), 16, 16, 0));
  R(make_plane(channels(8, 8, 8, 8, cudaChannelFormatKindUnsignedNormalized8X4), 16, 16, 0));
  R(make_plane(channels(8, 0, 0, 0, cudaChannelFormatKindUnsignedNormalized8X4), 16, 16, 0));
  R(make_plane(channels(16, 16, 0, 0, cudaChannelFormatKindSignedNormalized16X2), 16, 16, 0));
  R(make(word, 0, 0, 0, 0));
  R(make(word, 16384, 1, 1, 0));
  R(make(word, 16385, 1, 1, 0));
  R(make(word, 1, 16384, 1, 0));
  R(make(word, 1, 16385, 1, 0));
  R(make(word, 1, 1, 16384, 0));
  R(make(word, 1, 1, 16385, 0));
  R(make(word, 16, 0, 4, 0));
  R(make(word, 16, 0, 4, cudaArrayLayered));
  R(make(word, 16, 4, 0, cudaArrayLayered));
  R(make(word, 32768, 0, 2048, cudaArrayLayered));
  R(make(word, 32769, 0, 2, cudaArrayLayered));
  R(make(word, 8, 0, 2049, cudaArrayLayered));
  R(make(word, 8, 8, 2048, cudaArrayLayered));
  R(make(word, 8, 8, 2049, cudaArrayLayered));
  R(make(word, 32769, 8, 2, cudaArrayLayered));
  R(make(word, 8, 8, 6, cudaArrayCubemap));
  R(make(word, 8, 8, 5, cudaArrayCubemap));
  R(make(word, 8, 8, 0, cudaArrayCubemap));
  R(make(word, 8, 7, 6, cudaArrayCubemap));
  R(make(word, 8, 8, 12, cudaArrayCubemap));
  R(make(word, 8, 8, 12, cudaArrayCubemap | cudaArrayLayered));
  R(make(word, 8, 8, 13, cudaArrayCubemap | cudaArrayLayered));
  R(make(word, 8, 8, 2046, cudaArrayCubemap | cudaArrayLayered));
  R(make(word, 8, 8, 2052, cudaArrayCubemap | cudaArrayLayered));
  R(make(word, 32769, 32769, 6, cudaArrayCubemap));
  R(make(word, 8, 8, 4, cudaArrayTextureGather));
  R(make(word, 8, 8, 4, cudaArrayTextureGather | cudaArrayLayered));
  R(make(word, 8, 8, 6, cudaArraySurfaceLoadStore | cudaArrayCubemap));
  R(make(word, 8, 8, 4, cudaArraySparse));
  R(make_levels(word, 16, 0, 0, 5, 0));
  R(make_levels(word, 16, 0, 0, 6, 0));
  R(make_levels(word, 16, 0, 0, 0, 0));
  R(make_levels(word, 16, 8, 0, 5, 0));
  R(make_levels(word, 16, 8, 4, 5, 0));
  R(make_levels(word, 4, 4, 16, 5, 0));
  R(make_levels(word, 4, 4, 16, 4, cudaArrayLayered));
  R(make_levels(word, 4, 4, 16, 3, cudaArrayLayered));
  R(make_levels(word, 4, 4, 6, 3, cudaArrayCubemap));
  R(make_levels(word, 4, 4, 6, 3, cudaArrayCubemap | cudaArraySurfaceLoadStore));
  R(make_levels(word, 32768, 0, 0, 1, 0));
  R(make_levels(word, 32769, 0, 0, 1, 0));
  R(make_levels(word, 32768, 4, 0, 1, 0));
  R(make_levels(word, 32769, 4, 0, 1, 0));
  R(make_levels(word, 0, 0, 0, 1, 0));
  cudaMipmappedArray_t mip = nullptr;
  cudaArray_t level = nullptr, first = nullptr, again = nullptr;
  R(cudaMallocMipmappedArray(nullptr, &word, make_cudaExtent(16, 8, 0), 3));
  R(cudaMallocMipmappedArray(&mip, nullptr, make_cudaExtent(16, 8, 0), 3));
  R(cudaMallocMipmappedArray(&mip, &word, make_cudaExtent(16, 8, 0), 3));
  R(cudaGetMipmappedArrayLevel(&first, mip, 0));
  R(cudaGetMipmappedArrayLevel(&again, mip, 0));
  I(first == again);
  R(cudaGetMipmappedArrayLevel(&level, mip, 2));
  R(cudaGetMipmappedArrayLevel(&again, mip, 3));
  R(cudaGetMipmappedArrayLevel(nullptr, mip, 0));
  R(cudaGetMipmappedArrayLevel(&again, nullptr, 0));
  cudaExtent extent{};
  cudaChannelFormatDesc format{};
  unsigned flags = 7;
  R(cudaArrayGetInfo(&format, &extent, &flags, level));
  I(extent.width);
  I(extent.height);
  I(extent.depth);
  I(flags);
  R(cudaFreeArray(level));
  R(cudaGetMipmappedArrayLevel(&again, mip, 2));
  R(cudaFreeMipmappedArray(mip));
  R(cudaFreeMipmappedArray(nullptr));
  R(cudaMalloc3DArray(&first, &word, make_cudaExtent(8, 8, 4),
                      cudaArrayLayered | cudaArraySurfaceLoadStore));
  R(cudaArrayGetInfo(nullptr, &extent, &flags, first));
  I(extent.depth);
  I(flags);
  R(cudaFreeArray(first));
}

void textures() {
  cudaTextureDesc plain{};
  plain.addressMode[0] = plain.addressMode[1] = plain.addressMode[2] = cudaAddressModeClamp;
  const auto word = channels(32, 0, 0, 0, f), byte = channels(8, 0, 0, 0, u),
             number = channels(32, 0, 0, 0, s);
  cudaArray_t array = nullptr, bytes = nullptr, numbers = nullptr, layers = nullptr;
  cudaMallocArray(&array, &word, 16, 16, cudaArraySurfaceLoadStore);
  cudaMallocArray(&bytes, &byte, 16, 16, 0);
  cudaMallocArray(&numbers, &number, 16, 16, 0);
  cudaMalloc3DArray(&layers, &word, make_cudaExtent(16, 16, 4), cudaArrayLayered);
  cudaMipmappedArray_t mip = nullptr;
  cudaMallocMipmappedArray(&mip, &word, make_cudaExtent(16, 16, 0), 4);
  cudaMipmappedArray_t byte_mip = nullptr;
  cudaMallocMipmappedArray(&byte_mip, &byte, make_cudaExtent(16, 16, 0), 4);
  cudaResourceDesc r = of_array(array);
  cudaTextureObject_t object = 0;
  R(cudaCreateTextureObject(nullptr, &r, &plain, nullptr));
  R(cudaCreateTextureObject(&object, nullptr, &plain, nullptr));
  R(cudaCreateTextureObject(&object, &r, nullptr, nullptr));
  R(cudaCreateTextureObject(&object, &r, &plain, nullptr));
  I(object != 0);
  cudaTextureDesc told{};
  cudaResourceDesc resource{};
  cudaResourceViewDesc view{};
  R(cudaGetTextureObjectTextureDesc(&told, object));
  I(told.addressMode[0]);
  I(told.readMode);
  I(told.filterMode);
  I(told.normalizedCoords);
  R(cudaGetTextureObjectTextureDesc(nullptr, object));
  R(cudaGetTextureObjectTextureDesc(&told, 0));
  R(cudaGetTextureObjectTextureDesc(&told, 123456));
  R(cudaGetTextureObjectResourceDesc(&resource, object));
  I(resource.resType);
  I(resource.res.array.array == array);
  R(cudaGetTextureObjectResourceDesc(nullptr, object));
  R(cudaGetTextureObjectResourceDesc(&resource, 123456));
  R(cudaGetTextureObjectResourceViewDesc(&view, object));
  R(cudaGetTextureObjectResourceViewDesc(nullptr, object));
  R(cudaGetTextureObjectResourceViewDesc(&view, 123456));
  R(cudaDestroyTextureObject(object));
  R(cudaDestroyTextureObject(object));
  R(cudaGetTextureObjectTextureDesc(&told, object));
  R(cudaDestroyTextureObject(0));
  R(cudaDestroyTextureObject(123456));
  cudaResourceDesc nothing{};
  R(create(nothing, plain));
  nothing.resType = static_cast<cudaResourceType>(9);
  R(create(nothing, plain));
  cudaTextureDesc t = plain;
  t.filterMode = cudaFilterModeLinear;
  R(create(of_array(array), t));
  R(create(of_array(bytes), t));
  R(create(of_array(numbers), t));
  t.readMode = cudaReadModeNormalizedFloat;
  R(create(of_array(array), t));
  R(create(of_array(bytes), t));
  R(create(of_array(numbers), t));
  t.filterMode = cudaFilterModePoint;
  R(create(of_array(numbers), t));
  t = plain;
  for (int mode = 0; mode < 6; ++mode) {
    t.addressMode[0] = static_cast<cudaTextureAddressMode>(mode);
    R(create(of_array(array), t));
  }
  t = plain;
  t.addressMode[0] = cudaAddressModeWrap;
  R(cudaCreateTextureObject(&object, &r, &t, nullptr));
  R(cudaGetTextureObjectTextureDesc(&told, object));
  I(told.addressMode[0]);
  R(cudaDestroyTextureObject(object));
  t = plain;
  t.filterMode = static_cast<cudaTextureFilterMode>(5);
  R(create(of_array(array), t));
  t = plain;
  t.readMode = static_cast<cudaTextureReadMode>(5);
  R(create(of_array(array), t));
  t = plain;
  t.sRGB = 1;
  R(create(of_array(array), t));
  R(create(of_array(bytes), t));
  t.readMode = cudaReadModeNormalizedFloat;
  R(create(of_array(bytes), t));
  t = plain;
  t.normalizedCoords = 5;
  R(create(of_array(array), t));
  t = plain;
  t.maxAnisotropy = 17;
  R(create(of_array(array), t));
  t.maxAnisotropy = 1000;
  R(create(of_array(array), t));
  t = plain;
  t.mipmapFilterMode = static_cast<cudaTextureFilterMode>(4);
  R(create(of_array(array), t));
  t = plain;
  t.minMipmapLevelClamp = 3;
  R(create(of_array(array), t));
  t = plain;
  t.mipmapFilterMode = cudaFilterModeLinear;
  R(create(of_array(numbers), t));
  // Levels want normalized coordinates.
  cudaResourceDesc m{};
  m.resType = cudaResourceTypeMipmappedArray;
  m.res.mipmap.mipmap = mip;
  R(create(m, plain));
  t = plain;
  t.normalizedCoords = 1;
  R(create(m, t));
  t.maxMipmapLevelClamp = -1;
  R(create(m, t));
  t.minMipmapLevelClamp = 2;
  t.maxMipmapLevelClamp = 1;
  R(create(m, t));
  t = plain;
  t.normalizedCoords = 1;
  t.mipmapFilterMode = cudaFilterModeLinear;
  R(create(m, t));
  m.res.mipmap.mipmap = byte_mip;
  R(create(m, t));
  t.readMode = cudaReadModeNormalizedFloat;
  R(create(m, t));
  m.res.mipmap.mipmap = nullptr;
  R(create(m, t));
  R(create(of_array(nullptr), plain));
  // Layers, and modes of unnormalized coordinates.
  R(create(of_array(layers), plain));
  t = plain;
  t.filterMode = cudaFilterModeLinear;
  t.addressMode[2] = cudaAddressModeMirror;
  R(create(of_array(layers), t));
  // Linear memory.
  char* memory = nullptr;
  cudaMalloc(&memory, 1 << 20);
  R(create(of_linear(memory, word, 1024), plain));
  R(create(of_linear(memory, word, 1023), plain));
  R(create(of_linear(memory, word, 3), plain));
  R(create(of_linear(memory, word, 0), plain));
  R(create(of_linear(nullptr, word, 1024), plain));
  for (int offset : {4, 16, 32, 64, 128, 256, 512}) {
    std::printf("%d: ", offset);
    R(create(of_linear(memory + offset, word, 1024), plain));
  }
  R(create(of_linear(memory, word, (1 << 20) + 4), plain));
  R(create(of_linear(memory, word, 3u << 20), plain));
  R(create(of_linear(memory, channels(32, 32, 32, 0, f), 1024), plain));
  R(create(of_linear(memory, channels(0, 0, 0, 0, f), 1024), plain));
  R(create(of_linear(memory, word, std::size_t{4} << 27), plain));
  R(create(of_linear(memory, word, std::size_t{4} << 28), plain));
  R(create(of_linear(memory, word, (std::size_t{4} << 28) + 4), plain));
  R(create(of_linear(memory, byte, std::size_t{1} << 28), plain));
  R(create(of_linear(memory, byte, (std::size_t{1} << 28) + 1), plain));
  t = plain;
  t.filterMode = cudaFilterModeLinear;
  R(create(of_linear(memory, word, 1024), t));
  t = plain;
  t.normalizedCoords = 1;
  R(create(of_linear(memory, word, 1024), t));
  t.addressMode[0] = cudaAddressModeWrap;
  R(create(of_linear(memory, word, 1024), t));
  float host[256];
  R(create(of_linear(host, word, 1024), plain));
  void* pinned = nullptr;
  cudaMallocHost(&pinned, 4096);
  R(create(of_linear(pinned, word, 1024), plain));
  void* managed = nullptr;
  cudaMallocManaged(&managed, 4096);
  R(create(of_linear(managed, word, 1024), plain));
  // Rows.
  R(create(of_rows(memory, word, 16, 16, 64), plain));
  for (int pitch : {4, 16, 32, 60, 63, 80, 96, 128, 512}) {
    std::printf("%d: ", pitch);
    R(create(of_rows(memory, word, 1, 4, pitch), plain));
  }
  R(create(of_rows(memory, word, 17, 16, 64), plain));
  R(create(of_rows(memory + 32, word, 16, 16, 64), plain));
  R(create(of_rows(memory + 256, word, 16, 16, 64), plain));
  R(create(of_rows(memory + 512, word, 16, 16, 64), plain));
  R(create(of_rows(memory, word, 0, 16, 64), plain));
  R(create(of_rows(memory, word, 16, 0, 64), plain));
  R(create(of_rows(memory, word, 16, 16, 0), plain));
  R(create(of_rows(nullptr, word, 16, 16, 64), plain));
  R(create(of_rows(memory, byte, 131072, 1, 131072), plain));
  R(create(of_rows(memory, byte, 131073, 1, 131104), plain));
  R(create(of_rows(memory, byte, 1, 65000, 32), plain));
  R(create(of_rows(memory, byte, 1, 65001, 32), plain));
  R(create(of_rows(memory, byte, 1, 1, 2097120), plain));
  R(create(of_rows(memory, byte, 1, 1, 2097152), plain));
  t = plain;
  t.addressMode[0] = cudaAddressModeWrap;
  R(create(of_rows(memory, word, 16, 16, 64), t));
  t.normalizedCoords = 1;
  R(create(of_rows(memory, word, 16, 16, 64), t));
  // Views.
  cudaResourceViewDesc v{};
  R(create(of_array(array), plain, &v));
  v.format = cudaResViewFormatFloat1;
  R(create(of_array(array), plain, &v));
  v.width = 16;
  v.height = 16;
  R(create(of_array(array), plain, &v));
  v.width = 8;
  R(create(of_array(array), plain, &v));
  v.width = 16;
  v.format = cudaResViewFormatUnsignedInt1;
  R(create(of_array(array), plain, &v));
  v.format = cudaResViewFormatUnsignedChar4;
  R(create(of_array(array), plain, &v));
  v.format = cudaResViewFormatFloat2;
  R(create(of_array(array), plain, &v));
  v.format = cudaResViewFormatUnsignedBlockCompressed1;
  R(create(of_array(array), plain, &v));
  v.format = cudaResViewFormatNone;
  R(create(of_array(array), plain, &v));
  v.format = cudaResViewFormatFloat1;
  v.depth = 1;
  R(create(of_array(array), plain, &v));
  v.depth = 0;
  v.lastMipmapLevel = 1;
  R(create(of_array(array), plain, &v));
  v.lastMipmapLevel = 0;
  v.firstLayer = 1;
  v.lastLayer = 2;
  R(create(of_array(array), plain, &v));
  v.depth = 4;
  R(create(of_array(layers), plain, &v));
  v.depth = 2;
  R(create(of_array(layers), plain, &v));
  v.lastLayer = 4;
  R(create(of_array(layers), plain, &v));
  v = {};
  v.format = cudaResViewFormatFloat1;
  v.width = v.height = 16;
  v.lastMipmapLevel = 3;
  t = plain;
  t.normalizedCoords = 1;
  m.res.mipmap.mipmap = mip;
  R(create(m, t, &v));
  v.lastMipmapLevel = 4;
  R(create(m, t, &v));
  v.firstMipmapLevel = 2;
  v.lastMipmapLevel = 3;
  R(create(m, t, &v));
  v.firstMipmapLevel = 3;
  v.lastMipmapLevel = 2;
  R(create(m, t, &v));
  v = {};
  v.format = cudaResViewFormatFloat1;
  v.width = 16;
  R(create(of_linear(memory, word, 64), plain, &v));
  v.height = 4;
  R(create(of_rows(memory, word, 16, 4, 64), plain, &v));
  v.height = 16;
  R(cudaCreateTextureObject(&object, &r, &plain, &v));
  view = {};
  R(cudaGetTextureObjectResourceViewDesc(&view, object));
  I(view.format);
  I(view.width);
  I(view.height);
  R(cudaDestroyTextureObject(object));
  // Surfaces.
  cudaSurfaceObject_t surface = 0;
  R(cudaCreateSurfaceObject(nullptr, &r));
  R(cudaCreateSurfaceObject(&surface, nullptr));
  R(cudaCreateSurfaceObject(&surface, &r));
  I(surface != 0);
  R(cudaGetSurfaceObjectResourceDesc(&resource, surface));
  I(resource.res.array.array == array);
  R(cudaGetSurfaceObjectResourceDesc(nullptr, surface));
  R(cudaGetSurfaceObjectResourceDesc(&resource, 123456));
  R(cudaGetTextureObjectResourceDesc(&resource, surface));
  R(cudaDestroyTextureObject(surface));
  R(cudaDestroySurfaceObject(surface));
  R(cudaDestroySurfaceObject(surface));
  R(cudaDestroySurfaceObject(0));
  R(cudaDestroySurfaceObject(123456));
  r = of_array(bytes);
  R(cudaCreateSurfaceObject(&surface, &r));
  r = of_linear(memory, word, 1024);
  R(cudaCreateSurfaceObject(&surface, &r));
  r = of_rows(memory, word, 16, 16, 64);
  R(cudaCreateSurfaceObject(&surface, &r));
  R(cudaCreateSurfaceObject(&surface, &m));
  r = of_array(nullptr);
  R(cudaCreateSurfaceObject(&surface, &r));
  cudaArray_t level = nullptr;
  cudaMipmappedArray_t stored = nullptr;
  R(cudaMallocMipmappedArray(&stored, &word, make_cudaExtent(16, 16, 0), 4,
                             cudaArraySurfaceLoadStore));
  R(cudaGetMipmappedArrayLevel(&level, stored, 1));
  r = of_array(level);
  R(cudaCreateSurfaceObject(&surface, &r));
  R(cudaDestroySurfaceObject(surface));
  R(create(of_array(level), plain));
  // What lies under an object may go first.
  r = of_array(array);
  R(cudaCreateTextureObject(&object, &r, &plain, nullptr));
  R(cudaFreeArray(array));
  R(cudaGetTextureObjectResourceDesc(&resource, object));
  R(cudaDestroyTextureObject(object));
  R(create(of_array(array), plain));
  std::size_t most = 0;
  R(cudaDeviceGetTexture1DLinearMaxWidth(&most, &word, 0));
  I(most);
  const auto four = channels(32, 32, 32, 32, f);
  R(cudaDeviceGetTexture1DLinearMaxWidth(&most, &four, 0));
  I(most);
  R(cudaDeviceGetTexture1DLinearMaxWidth(&most, &byte, 0));
  I(most);
  R(cudaDeviceGetTexture1DLinearMaxWidth(nullptr, &byte, 0));
  R(cudaDeviceGetTexture1DLinearMaxWidth(&most, nullptr, 0));
  R(cudaDeviceGetTexture1DLinearMaxWidth(&most, &byte, 99));
  cudaArrayMemoryRequirements requirements{};
  R(cudaArrayGetMemoryRequirements(&requirements, layers, 0));
  cudaArray_t plane = nullptr;
  R(cudaArrayGetPlane(&plane, layers, 0));
  cudaArraySparseProperties sparse{};
  R(cudaArrayGetSparseProperties(&sparse, layers));
}

}  // namespace

int main() {
  nothing<<<1, 1>>>();
  arrays();
  textures();
  cudaDeviceProp p{};
  cudaGetDeviceProperties(&p, 0);
  I(p.textureAlignment);
  I(p.texturePitchAlignment);
  I(p.surfaceAlignment);
}
