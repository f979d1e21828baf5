// SPDX-License-Identifier: MIT
// The requests of texture_misuse.cu: descriptions of resources, and what is made and freed again.
#pragma once
#include "runtime_program.h"

inline cudaResourceDesc of_array(cudaArray_t array) {
  cudaResourceDesc r{};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = array;
  return r;
}

inline cudaResourceDesc of_linear(void* memory, cudaChannelFormatDesc format, std::size_t bytes) {
  cudaResourceDesc r{};
  r.resType = cudaResourceTypeLinear;
  r.res.linear.devPtr = memory;
  r.res.linear.desc = format;
  r.res.linear.sizeInBytes = bytes;
  return r;
}

inline cudaResourceDesc of_rows(void* memory, cudaChannelFormatDesc format, std::size_t width,
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
inline cudaError_t create(const cudaResourceDesc& r, const cudaTextureDesc& t,
                          const cudaResourceViewDesc* v = nullptr) {
  cudaTextureObject_t object = 0;
  const cudaError_t result = cudaCreateTextureObject(&object, &r, &t, v);
  if (result == cudaSuccess) cudaDestroyTextureObject(object);
  return result;
}

constexpr cudaChannelFormatKind f = cudaChannelFormatKindFloat, u = cudaChannelFormatKindUnsigned,
                                s = cudaChannelFormatKindSigned;

inline cudaChannelFormatDesc channels(int x, int y, int z, int w, cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

/// The object is made and freed again.
inline cudaError_t make(cudaChannelFormatDesc format, std::size_t w, std::size_t h, std::size_t d,
                        unsigned flags) {
  cudaArray_t array = nullptr;
  const cudaError_t result = cudaMalloc3DArray(&array, &format, make_cudaExtent(w, h, d), flags);
  if (result == cudaSuccess) cudaFreeArray(array);
  return result;
}
inline cudaError_t make_plane(cudaChannelFormatDesc format, std::size_t w, std::size_t h,
                              unsigned flags) {
  cudaArray_t array = nullptr;
  const cudaError_t result = cudaMallocArray(&array, &format, w, h, flags);
  if (result == cudaSuccess) cudaFreeArray(array);
  return result;
}
inline cudaError_t make_levels(cudaChannelFormatDesc format, std::size_t w, std::size_t h,
                               std::size_t d, unsigned levels, unsigned flags) {
  cudaMipmappedArray_t array = nullptr;
  const cudaError_t result =
      cudaMallocMipmappedArray(&array, &format, make_cudaExtent(w, h, d), levels, flags);
  if (result == cudaSuccess) cudaFreeMipmappedArray(array);
  return result;
}
