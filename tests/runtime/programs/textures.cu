// SPDX-License-Identifier: MIT
// Textures as programs use them: an image that is scaled, a table that is looked up between its
// entries, fractions, layers, cubes, levels, gathers, linear memory and rows.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include "runtime_program.h"
namespace {

unsigned hashed(const void* data, std::size_t bytes) {
  unsigned hash = 2166136261u;
  for (std::size_t i = 0; i < bytes; ++i) {
    hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 16777619u;
  }
  return hash;
}

constexpr int lanes = 256;

template <class Sample>
__global__ void each(float4* out, Sample sample) {
  out[threadIdx.x] = sample(static_cast<int>(threadIdx.x));
}

template <class Sample>
void show(const char* what, Sample sample) {
  static float4* out = nullptr;
  if (out == nullptr) cudaMalloc(&out, lanes * sizeof(float4));
  each<<<1, lanes>>>(out, sample);
  std::vector<float4> seen(lanes);
  const cudaError_t result =
      cudaMemcpy(seen.data(), out, lanes * sizeof(float4), cudaMemcpyDeviceToHost);
  std::printf("%s: %08x %s, %a %a %a %a\n", what, hashed(seen.data(), lanes * sizeof(float4)),
              cudaGetErrorName(result), seen[77].x, seen[77].y, seen[200].z, seen[200].w);
}

template <class T>
cudaTextureObject_t texture(cudaArray_t array, cudaTextureFilterMode filter,
                            cudaTextureReadMode mode, cudaTextureAddressMode address,
                            bool is_normalized) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc description{};
  for (auto& each : description.addressMode) each = address;
  description.filterMode = filter;
  description.readMode = mode;
  description.normalizedCoords = is_normalized;
  description.borderColor[0] = 0.25f;
  cudaTextureObject_t object = 0;
  if (cudaCreateTextureObject(&object, &resource, &description, nullptr) != cudaSuccess) {
    std::printf("no texture\n");
  }
  return object;
}

template <class T>
cudaArray_t filled(int width, int height, int depth, unsigned flags) {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
  const std::size_t rows = height == 0 ? 1 : height, layers = depth == 0 ? 1 : depth;
  std::vector<unsigned char> bytes(width * sizeof(T) * rows * layers);
  unsigned state = 12345;
  for (auto& byte : bytes)
    byte = static_cast<unsigned char>((state = state * 1664525u + 1013904223u) >> 24);
  if (format.f == cudaChannelFormatKindFloat) {
    for (std::size_t i = 0; i < bytes.size() / 4; ++i) {
      const float value = static_cast<float>(i * 7919 % 1000) / 64 - 5;
      std::memcpy(&bytes[i * 4], &value, 4);
    }
  }
  cudaArray_t array = nullptr;
  cudaMalloc3DArray(&array, &format, make_cudaExtent(width, height, depth), flags);
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(bytes.data(), width * sizeof(T), width, rows);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(width, rows, layers);
  copy.kind = cudaMemcpyHostToDevice;
  cudaMemcpy3D(&copy);
  return array;
}

}  // namespace

int main() {
  const auto linear = cudaFilterModeLinear;
  const auto point = cudaFilterModePoint;
  const auto plain = cudaReadModeElementType;
  const auto fraction = cudaReadModeNormalizedFloat;
  cudaArray_t image = filled<uchar4>(40, 30, 0, cudaArrayTextureGather);
  auto t = texture<uchar4>(image, linear, fraction, cudaAddressModeWrap, true);
  show("scaled image",
       [=] __device__(int i) { return tex2D<float4>(t, i % 16 * 0.07f - 0.2f, i / 16 * 0.09f); });
  t = texture<uchar4>(image, point, plain, cudaAddressModeMirror, true);
  show("image", [=] __device__(int i) {
    const uchar4 c = tex2D<uchar4>(t, i * 0.013f - 1, i * 0.02f);
    return make_float4(c.x, c.y, c.z, c.w);
  });
  show("gathered", [=] __device__(int i) {
    const uchar4 c = tex2Dgather<uchar4>(t, i * 0.013f - 1, i * 0.02f, 2);
    return make_float4(c.x, c.y, c.z, c.w);
  });
  t = texture<float>(filled<float>(100, 0, 0, 0), linear, plain, cudaAddressModeClamp, false);
  show("table",
       [=] __device__(int i) { return make_float4(tex1D<float>(t, i * 0.41f - 1), 0, 0, i); });
  t = texture<float2>(filled<float2>(33, 17, 0, 0), linear, plain, cudaAddressModeBorder, false);
  show("pairs", [=] __device__(int i) {
    const float2 v = tex2D<float2>(t, i % 16 * 2.3f - 1, i / 16 * 1.1f - 0.3f);
    return make_float4(v.x, v.y, 0, 0);
  });
  t = texture<float>(filled<float>(20, 12, 9, 0), linear, plain, cudaAddressModeClamp, true);
  show("volume", [=] __device__(int i) {
    return make_float4(tex3D<float>(t, i * 0.004f, i * 0.0037f, i * 0.0031f), 0, 0, 0);
  });
  t = texture<short2>(filled<short2>(20, 12, 0, 0), linear, fraction, cudaAddressModeClamp, false);
  show("shorts", [=] __device__(int i) {
    const float2 v = tex2D<float2>(t, i * 0.09f, i * 0.05f);
    return make_float4(v.x, v.y, 0, 0);
  });
  t = texture<int>(filled<int>(50, 7, 5, cudaArrayLayered), point, plain, cudaAddressModeClamp,
                   false);
  show("layers", [=] __device__(int i) {
    return make_float4(static_cast<float>(tex2DLayered<int>(t, i * 0.2f, i % 7, i % 6) % 1000), 0,
                       0, 0);
  });
  t = texture<float>(filled<float>(16, 16, 12, cudaArrayCubemap | cudaArrayLayered), point, plain,
                     cudaAddressModeClamp, true);
  show("cubes", [=] __device__(int i) {
    return make_float4(
        texCubemapLayered<float>(t, i % 16 - 7.3f, i / 16 - 6.1f, i % 5 * 2 - 3.7f, i & 1), 0, 0,
        0);
  });

  // Levels: each half of the one before.
  cudaMipmappedArray_t mip = nullptr;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaMallocMipmappedArray(&mip, &format, make_cudaExtent(64, 32, 0), 6);
  for (int level = 0; level < 6; ++level) {
    const int width = 64 >> level, height = 32 >> level == 0 ? 1 : 32 >> level;
    std::vector<float> values(width * height);
    for (int i = 0; i < width * height; ++i) values[i] = static_cast<float>(i % 100 + 1000 * level);
    cudaArray_t array = nullptr;
    cudaGetMipmappedArrayLevel(&array, mip, level);
    cudaMemcpy2DToArray(array, 0, 0, values.data(), width * 4, width * 4, height,
                        cudaMemcpyHostToDevice);
  }
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeMipmappedArray;
  resource.res.mipmap.mipmap = mip;
  cudaTextureDesc description{};
  description.addressMode[0] = description.addressMode[1] = cudaAddressModeWrap;
  description.filterMode = description.mipmapFilterMode = cudaFilterModeLinear;
  description.normalizedCoords = 1;
  description.maxMipmapLevelClamp = 5;
  cudaCreateTextureObject(&t, &resource, &description, nullptr);
  show("levels", [=] __device__(int i) {
    return make_float4(tex2DLod<float>(t, i * 0.017f, i * 0.013f, i * 0.021f),
                       tex2D<float>(t, i * 0.01f, 0.5f), 0, 0);
  });

  // Memory that is no array.
  std::vector<unsigned short> shorts(1000);
  for (int i = 0; i < 1000; ++i) shorts[i] = static_cast<unsigned short>(i * 77);
  void* memory = nullptr;
  std::size_t pitch = 0;
  cudaMalloc(&memory, 2000);
  cudaMemcpy(memory, shorts.data(), 2000, cudaMemcpyHostToDevice);
  resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = memory;
  resource.res.linear.desc = cudaCreateChannelDesc<unsigned short>();
  resource.res.linear.sizeInBytes = 2000;
  description = {};
  cudaCreateTextureObject(&t, &resource, &description, nullptr);
  show("linear memory", [=] __device__(int i) {
    return make_float4(tex1Dfetch<unsigned short>(t, i * 3), tex1Dfetch<unsigned short>(t, 900 + i),
                       tex1Dfetch<unsigned short>(t, -i), 0);
  });
  cudaMallocPitch(&memory, &pitch, 50 * sizeof(float4), 10);
  std::vector<float4> rows(500);
  for (int i = 0; i < 500; ++i) rows[i] = make_float4(i, i * 0.5f, -i, i % 7);
  cudaMemcpy2D(memory, pitch, rows.data(), 50 * sizeof(float4), 50 * sizeof(float4), 10,
               cudaMemcpyHostToDevice);
  resource = {};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = memory;
  resource.res.pitch2D.desc = cudaCreateChannelDesc<float4>();
  resource.res.pitch2D.width = 50;
  resource.res.pitch2D.height = 10;
  resource.res.pitch2D.pitchInBytes = pitch;
  description.addressMode[0] = description.addressMode[1] = cudaAddressModeClamp;
  description.filterMode = cudaFilterModeLinear;
  cudaCreateTextureObject(&t, &resource, &description, nullptr);
  show("rows", [=] __device__(int i) { return tex2D<float4>(t, i * 0.21f, i * 0.04f); });
}
