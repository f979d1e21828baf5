// SPDX-License-Identifier: MIT
// Samples what texture_samples.h describes and prints a hash of each texture's samples:
// tests/golden/texture_samples.csv, of those that the model samples as an H100 does.
#include <cstdio>
#include <cstdlib>

#include "tests/device/facts/texture_configs.h"
using namespace samples_of_textures;

template <int F, class V>
__global__ void sample(cudaTextureObject_t t, const Sample* in, V* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Sample s = in[i];
  float x = s.c[0], y = s.c[1], z = s.c[2];
  int l = __float_as_int(s.c[3]);
  float d = s.a[0];
  float2 a2 = make_float2(s.a[0], s.a[1]), b2 = make_float2(s.b[0], s.b[1]);
  float4 a4 = make_float4(s.a[0], s.a[1], s.a[2], 0), b4 = make_float4(s.b[0], s.b[1], s.b[2], 0);
  V v{};
  if constexpr (F == F_fetch1d) v = tex1Dfetch<V>(t, __float_as_int(x));
  if constexpr (F == F_1d) v = tex1D<V>(t, x);
  if constexpr (F == F_2d) v = tex2D<V>(t, x, y);
  if constexpr (F == F_3d) v = tex3D<V>(t, x, y, z);
  if constexpr (F == F_1dl) v = tex1DLayered<V>(t, x, l);
  if constexpr (F == F_2dl) v = tex2DLayered<V>(t, x, y, l);
  if constexpr (F == F_cube) v = texCubemap<V>(t, x, y, z);
  if constexpr (F == F_cubel) v = texCubemapLayered<V>(t, x, y, z, l);
  if constexpr (F == F_1d_lod) v = tex1DLod<V>(t, x, d);
  if constexpr (F == F_2d_lod) v = tex2DLod<V>(t, x, y, d);
  if constexpr (F == F_3d_lod) v = tex3DLod<V>(t, x, y, z, d);
  if constexpr (F == F_1dl_lod) v = tex1DLayeredLod<V>(t, x, l, d);
  if constexpr (F == F_2dl_lod) v = tex2DLayeredLod<V>(t, x, y, l, d);
  if constexpr (F == F_cube_lod) v = texCubemapLod<V>(t, x, y, z, d);
  if constexpr (F == F_cubel_lod) v = texCubemapLayeredLod<V>(t, x, y, z, l, d);
  if constexpr (F == F_1d_grad) v = tex1DGrad<V>(t, x, a2.x, b2.x);
  if constexpr (F == F_2d_grad) v = tex2DGrad<V>(t, x, y, a2, b2);
  if constexpr (F == F_3d_grad) v = tex3DGrad<V>(t, x, y, z, a4, b4);
  if constexpr (F == F_1dl_grad) v = tex1DLayeredGrad<V>(t, x, l, a2.x, b2.x);
  if constexpr (F == F_2dl_grad) v = tex2DLayeredGrad<V>(t, x, y, l, a2, b2);
  if constexpr (F == F_cube_grad) v = texCubemapGrad<V>(t, x, y, z, a4, b4);
  if constexpr (F == F_cubel_grad) v = texCubemapLayeredGrad<V>(t, x, y, z, l, a4, b4);
  if constexpr (F == F_g0) v = tex2Dgather<V>(t, x, y, 0);
  if constexpr (F == F_g1) v = tex2Dgather<V>(t, x, y, 1);
  if constexpr (F == F_g2) v = tex2Dgather<V>(t, x, y, 2);
  if constexpr (F == F_g3) v = tex2Dgather<V>(t, x, y, 3);
  out[i] = v;
}
template <class V>
void launch(int f, cudaTextureObject_t t, const Sample* in, void* out, int n) {
  int g = (n + 127) / 128;
  V* o = (V*)out;
#define L(k)                               \
  case k:                                  \
    sample<k, V><<<g, 128>>>(t, in, o, n); \
    break;
  switch (f) {
    L(0);
    L(1);
    L(2);
    L(3);
    L(4);
    L(5);
    L(6);
    L(7);
    L(8);
    L(9);
    L(10);
    L(11);
    L(12);
    L(13);
    L(14);
    L(15);
    L(16);
    L(17);
    L(18);
    L(19);
    L(20);
    L(21);
    L(22);
    L(23);
    L(24);
    L(25);
  }
}
#define OK(x)                                                        \
  do {                                                               \
    cudaError_t e_ = (x);                                            \
    if (e_ != cudaSuccess) {                                         \
      snprintf(why, sizeof why, "%s: %s", #x, cudaGetErrorName(e_)); \
      cudaGetLastError();                                            \
      return false;                                                  \
    }                                                                \
  } while (0)
static char why[300];
static std::vector<unsigned char> level_bytes(const Config& c, int level, int& w, int& h, int& d) {
  w = c.w >> level;
  if (w < 1) w = 1;
  h = c.h ? c.h >> level : 0;
  if (c.h && h < 1) h = 1;
  d = c.layered || c.cube ? c.d : c.d ? c.d >> level : 0;
  if (c.d && d < 1) d = 1;
  int element = c.bits * c.channels / 8;
  std::vector<unsigned char> bytes((size_t)w * (h ? h : 1) * (d ? d : 1) * element);
  size_t at = 0;
  for (int z = 0; z < (d ? d : 1); ++z)
    for (int y = 0; y < (h ? h : 1); ++y)
      for (int x = 0; x < w; ++x)
        for (int k = 0; k < c.channels; ++k) {
          u32 bits = texel_bits(c, x, y, z, level, k);
          memcpy(&bytes[at], &bits, c.bits / 8);
          at += c.bits / 8;
        }
  return bytes;
}
static bool run(const Config& c, std::vector<u32>& result) {
  cudaChannelFormatDesc f{};
  int* parts[4] = {&f.x, &f.y, &f.z, &f.w};
  for (int k = 0; k < c.channels; ++k) *parts[k] = c.bits;
  f.f = c.type == 'f'   ? cudaChannelFormatKindFloat
        : c.type == 'u' ? cudaChannelFormatKindUnsigned
                        : cudaChannelFormatKindSigned;
  cudaResourceDesc r{};
  cudaArray_t array = nullptr;
  cudaMipmappedArray_t mip = nullptr;
  void* memory = nullptr;
  int element = c.bits * c.channels / 8;
  unsigned flags = (c.layered ? cudaArrayLayered : 0) | (c.cube ? cudaArrayCubemap : 0) |
                   (c.gather ? cudaArrayTextureGather : 0);
  cudaExtent e = make_cudaExtent(c.w, c.h, c.d);
  if (c.source == S_array) {
    if (c.levels)
      OK(cudaMallocMipmappedArray(&mip, &f, e, c.levels, flags));
    else if (c.d == 0)
      OK(cudaMallocArray(&array, &f, c.w, c.h, flags));
    else
      OK(cudaMalloc3DArray(&array, &f, e, flags));
    for (int level = 0; level < (c.levels ? c.levels : 1); ++level) {
      int w, h, d;
      std::vector<unsigned char> bytes = level_bytes(c, level, w, h, d);
      cudaArray_t to = array;
      if (c.levels) OK(cudaGetMipmappedArrayLevel(&to, mip, level));
      cudaMemcpy3DParms p{};
      p.srcPtr = make_cudaPitchedPtr(bytes.data(), (size_t)w * element, w, h ? h : 1);
      p.dstArray = to;
      p.extent = make_cudaExtent(w, h ? h : 1, d ? d : 1);
      p.kind = cudaMemcpyHostToDevice;
      OK(cudaMemcpy3D(&p));
    }
    if (c.levels) {
      r.resType = cudaResourceTypeMipmappedArray;
      r.res.mipmap.mipmap = mip;
    } else {
      r.resType = cudaResourceTypeArray;
      r.res.array.array = array;
    }
  } else {
    int w, h, d;
    std::vector<unsigned char> bytes = level_bytes(c, 0, w, h, d);
    if (c.source == S_linear) {
      OK(cudaMalloc(&memory, bytes.size()));
      OK(cudaMemcpy(memory, bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
      r.resType = cudaResourceTypeLinear;
      r.res.linear.devPtr = memory;
      r.res.linear.desc = f;
      r.res.linear.sizeInBytes = bytes.size();
    } else {
      size_t pitch;
      OK(cudaMallocPitch(&memory, &pitch, (size_t)w * element, h));
      OK(cudaMemcpy2D(memory, pitch, bytes.data(), (size_t)w * element, (size_t)w * element, h,
                      cudaMemcpyHostToDevice));
      r.resType = cudaResourceTypePitch2D;
      r.res.pitch2D.devPtr = memory;
      r.res.pitch2D.desc = f;
      r.res.pitch2D.width = w;
      r.res.pitch2D.height = h;
      r.res.pitch2D.pitchInBytes = pitch;
    }
  }
  cudaTextureDesc t{};
  for (int k = 0; k < 3; ++k) t.addressMode[k] = (cudaTextureAddressMode)c.addr[k];
  t.filterMode = c.linear ? cudaFilterModeLinear : cudaFilterModePoint;
  t.readMode = c.norm ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  t.sRGB = c.srgb;
  for (int k = 0; k < 4; ++k) t.borderColor[k] = c.border[k];
  t.normalizedCoords = c.unit;
  t.maxAnisotropy = c.aniso;
  t.mipmapFilterMode = c.miplinear ? cudaFilterModeLinear : cudaFilterModePoint;
  t.mipmapLevelBias = c.bias;
  t.minMipmapLevelClamp = c.minl;
  t.maxMipmapLevelClamp = c.maxl;
  t.disableTrilinearOptimization = c.notrilinear;
  t.seamlessCubemap = c.seamless;
  cudaResourceViewDesc v{};
  if (c.view) {
    v.format = (cudaResourceViewFormat)c.view;
    v.width = c.w;
    v.height = c.h;
    v.depth = c.d;
  }
  cudaTextureObject_t o = 0;
  OK(cudaCreateTextureObject(&o, &r, &t, c.view ? &v : nullptr));
  std::vector<Sample> s = samples(c);
  Sample* in;
  u32* out;
  OK(cudaMalloc((void**)&in, s.size() * sizeof(Sample)));
  OK(cudaMalloc((void**)&out, s.size() * 16));
  OK(cudaMemcpy(in, s.data(), s.size() * sizeof(Sample), cudaMemcpyHostToDevice));
  OK(cudaMemset(out, 0xee, s.size() * 16));
  bool floats = c.view ? c.view >= 0x13 : c.type == 'f' || c.norm;
  if (floats)
    launch<float4>(c.fetch, o, in, out, c.n);
  else if (c.view ? c.view < 0x10 : c.type == 'u')
    launch<uint4>(c.fetch, o, in, out, c.n);
  else
    launch<int4>(c.fetch, o, in, out, c.n);
  OK(cudaGetLastError());
  OK(cudaDeviceSynchronize());
  result.resize(s.size() * 4);
  OK(cudaMemcpy(result.data(), out, s.size() * 16, cudaMemcpyDeviceToHost));
  cudaFree(in);
  cudaFree(out);
  cudaDestroyTextureObject(o);
  if (array) cudaFreeArray(array);
  if (mip) cudaFreeMipmappedArray(mip);
  if (memory) cudaFree(memory);
  return true;
}
int main() {
  std::printf("texture,samples,hash\n");
  for (const Config& config : configs()) {
    std::vector<u32> registers;
    if (!run(config, registers)) {
      std::fprintf(stderr, "%s: %s\n", config.name.c_str(), why);
      continue;
    }
    Hash hash;
    for (const u32 bits : registers) hash.add(bits);
    std::printf("%s,%d,%08x\n", config.name.c_str(), config.n, hash.value);
  }
}
