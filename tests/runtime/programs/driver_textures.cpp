// SPDX-License-Identifier: MIT
// Textures and surfaces by the driver's API: levels, objects, what kernels read through them and
// ask of them, and what is wrong.
#include <cstdio>
#include <cstring>
#include <vector>

#include "driver_program.h"
namespace {

constexpr int name_width = 28;

constexpr const char* kernels = R"(
.version 8.0
.target sm_75
.address_size 64
.visible .entry sample(.param .u64 texture, .param .u64 out)
{
  .reg .b64 %d<6>; .reg .b32 %r<8>; .reg .f32 %f<12>;
  ld.param.u64 %d1, [texture]; ld.param.u64 %d2, [out]; cvta.to.global.u64 %d2, %d2;
  mov.u32 %r1, %tid.x; cvt.rn.f32.u32 %f1, %r1; add.f32 %f2, %f1, 0f3E800000; mul.f32 %f2, %f2, 0f3D800000;
  mul.f32 %f3, %f1, 0f3E000000;
  tex.level.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%d1, {%f2, %f2}], %f3;
  mul.wide.u32 %d3, %r1, 16; add.u64 %d4, %d2, %d3;
  st.global.v4.f32 [%d4], {%f4, %f5, %f6, %f7};
  ret;
}
.visible .entry ask(.param .u64 texture, .param .u64 out)
{
  .reg .b64 %d<6>; .reg .b32 %r<20>;
  ld.param.u64 %d1, [texture]; ld.param.u64 %d2, [out]; cvta.to.global.u64 %d2, %d2;
  txq.width.b32 %r1, [%d1]; st.global.u32 [%d2], %r1;
  txq.height.b32 %r1, [%d1]; st.global.u32 [%d2+4], %r1;
  txq.depth.b32 %r1, [%d1]; st.global.u32 [%d2+8], %r1;
  mov.u32 %r2, 1;
  txq.level.width.b32 %r1, [%d1], %r2; st.global.u32 [%d2+12], %r1;
  txq.level.height.b32 %r1, [%d1], %r2; st.global.u32 [%d2+16], %r1;
  mov.u32 %r2, 9;
  txq.level.width.b32 %r1, [%d1], %r2; st.global.u32 [%d2+20], %r1;
  ret;
}
.visible .entry store(.param .u64 surface)
{
  .reg .b64 %d<3>; .reg .b32 %r<8>;
  ld.param.u64 %d1, [surface];
  mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, %tid.y; mad.lo.u32 %r4, %r3, 100, %r1;
  sust.b.2d.b32.trap [%d1, {%r2, %r3}], %r4;
  ret;
}
)";

CUDA_RESOURCE_DESC of_array(CUarray array) {
  CUDA_RESOURCE_DESC r{};
  r.resType = CU_RESOURCE_TYPE_ARRAY;
  r.res.array.hArray = array;
  return r;
}

/// The object is created and destroyed.
CUresult create(const CUDA_RESOURCE_DESC& r, const CUDA_TEXTURE_DESC& t,
                const CUDA_RESOURCE_VIEW_DESC* v = nullptr) {
  CUtexObject object = 0;
  const CUresult result = cuTexObjectCreate(&object, &r, &t, v);
  if (result == CUDA_SUCCESS) cuTexObjectDestroy(object);
  return result;
}

CUresult make(std::size_t w, std::size_t h, std::size_t d, CUarray_format format, unsigned channels,
              unsigned flags) {
  CUDA_ARRAY3D_DESCRIPTOR wanted{w, h, d, format, channels, flags};
  CUarray array = nullptr;
  const CUresult result = cuArray3DCreate(&array, &wanted);
  if (result == CUDA_SUCCESS) cuArrayDestroy(array);
  return result;
}

CUdeviceptr out = 0;

void ask(CUfunction kernel, const char* what, const CUDA_RESOURCE_DESC& r,
         const CUDA_TEXTURE_DESC& t) {
  CUtexObject object = 0;
  const CUresult made = cuTexObjectCreate(&object, &r, &t, nullptr);
  cuMemsetD32(out, 0xffffffffu, 16);
  void* arguments[] = {&object, &out};
  cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr);
  int told[6];
  const CUresult result = cuMemcpyDtoH(told, out, sizeof told);
  std::printf("%s:", what);
  for (int value : told) std::printf(" %d", value);
  std::printf(" %s %s\n", name_of(made), name_of(result));
  cuTexObjectDestroy(object);
}

}  // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction sample = nullptr, asking = nullptr, store = nullptr;
  cuInit(0);
  cuDeviceGet(&device, 0);
  cuDevicePrimaryCtxRetain(&context, device);
  cuCtxSetCurrent(context);
  SAY(cuModuleLoadData(&module, kernels));
  SAY(cuModuleGetFunction(&sample, module, "sample"));
  SAY(cuModuleGetFunction(&asking, module, "ask"));
  SAY(cuModuleGetFunction(&store, module, "store"));
  cuMemAlloc(&out, 4096);

  // Levels.
  CUDA_ARRAY3D_DESCRIPTOR wanted{16, 16, 0, CU_AD_FORMAT_FLOAT, 1, 0};
  CUmipmappedArray mip = nullptr;
  CUarray level = nullptr, again = nullptr;
  SAY(cuMipmappedArrayCreate(&mip, &wanted, 0));
  SAY(cuMipmappedArrayCreate(&mip, &wanted, 9));
  SAY(cuMipmappedArrayCreate(&mip, &wanted, 5));
  SAY(cuMipmappedArrayGetLevel(&level, mip, 5));
  for (unsigned i = 0; i < 5; ++i) {
    SAY(cuMipmappedArrayGetLevel(&level, mip, i));
    const unsigned side = 16u >> i;
    std::vector<float> values(side * side);
    for (unsigned k = 0; k < side * side; ++k)
      values[k] = static_cast<float>(k * k % 97) + 1000.0f * i;
    CUDA_MEMCPY2D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = values.data();
    copy.srcPitch = side * 4;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = level;
    copy.WidthInBytes = side * 4;
    copy.Height = side;
    SAY(cuMemcpy2D(&copy));
  }
  SAY(cuMipmappedArrayGetLevel(&again, mip, 4));
  SAY(cuArrayDestroy(level));
  CUDA_ARRAY3D_DESCRIPTOR known{};
  SAY(cuArray3DGetDescriptor(&known, again));
  std::printf("%zu x %zu x %zu, %u channels, flags %u\n", known.Width, known.Height, known.Depth,
              known.NumChannels, known.Flags);

  CUDA_RESOURCE_DESC r{};
  r.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
  r.res.mipmap.hMipmappedArray = mip;
  CUDA_TEXTURE_DESC t{};
  t.addressMode[0] = t.addressMode[1] = t.addressMode[2] = CU_TR_ADDRESS_MODE_MIRROR;
  t.filterMode = CU_TR_FILTER_MODE_LINEAR;
  t.mipmapFilterMode = CU_TR_FILTER_MODE_LINEAR;
  t.flags = CU_TRSF_NORMALIZED_COORDINATES;
  t.maxMipmapLevelClamp = 10;
  CUtexObject object = 0;
  SAY(cuTexObjectCreate(&object, &r, &t, nullptr));
  void* arguments[] = {&object, &out};
  SAY(cuLaunchKernel(sample, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
  std::vector<float> seen(128);
  SAY(cuMemcpyDtoH(seen.data(), out, 512));
  for (int i = 0; i < 32; ++i) std::printf("%a %g\n", seen[i * 4], seen[i * 4 + 3]);
  CUDA_TEXTURE_DESC told{};
  CUDA_RESOURCE_DESC resource{};
  CUDA_RESOURCE_VIEW_DESC view{};
  SAY(cuTexObjectGetTextureDesc(&told, object));
  std::printf("%d %d %d, %d, flags %u, %g\n", told.addressMode[0], told.addressMode[1],
              told.addressMode[2], told.filterMode, told.flags, told.maxMipmapLevelClamp);
  SAY(cuTexObjectGetResourceDesc(&resource, object));
  std::printf("%d %d\n", resource.resType, resource.res.mipmap.hMipmappedArray == mip);
  SAY(cuTexObjectGetResourceViewDesc(&view, object));
  SAY(cuTexObjectGetTextureDesc(&told, 12345));
  SAY(cuTexObjectDestroy(object));
  SAY(cuTexObjectDestroy(object));
  SAY(cuTexObjectDestroy(0));
  ask(asking, "levels", r, t);

  // Arrays.
  wanted = {8, 4, 0, CU_AD_FORMAT_SIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST};
  CUarray array = nullptr;
  SAY(cuArray3DCreate(&array, &wanted));
  CUsurfObject surface = 0;
  r = of_array(array);
  SAY(cuSurfObjectCreate(&surface, &r));
  arguments[0] = &surface;
  SAY(cuLaunchKernel(store, 1, 1, 1, 8, 4, 1, 0, nullptr, arguments, nullptr));
  CUDA_MEMCPY2D copy{};
  int stored[32];
  copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.srcArray = array;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = stored;
  copy.dstPitch = 32;
  copy.WidthInBytes = 32;
  copy.Height = 4;
  SAY(cuMemcpy2D(&copy));
  for (int value : stored) std::printf("%d ", value);
  std::printf("\n");
  SAY(cuSurfObjectGetResourceDesc(&resource, surface));
  SAY(cuSurfObjectGetResourceDesc(&resource, 999));
  SAY(cuSurfObjectDestroy(surface));
  SAY(cuSurfObjectDestroy(surface));
  t = {};
  t.flags = CU_TRSF_READ_AS_INTEGER;
  ask(asking, "an array", r, t);
  t.addressMode[0] = CU_TR_ADDRESS_MODE_CLAMP;
  t.addressMode[1] = CU_TR_ADDRESS_MODE_BORDER;
  ask(asking, "an array clamped", r, t);
  t.flags = 0;
  SAY(create(r, t));
  t.filterMode = CU_TR_FILTER_MODE_LINEAR;
  SAY(create(r, t));
  t.flags = CU_TRSF_READ_AS_INTEGER;
  SAY(create(r, t));
  t = {};
  t.flags = 0x100;
  SAY(create(r, t));
  t.flags = CU_TRSF_SRGB;
  SAY(create(r, t));
  r.flags = 1;
  t.flags = 0;
  SAY(create(r, t));
  CUDA_RESOURCE_DESC linear{};
  linear.resType = CU_RESOURCE_TYPE_LINEAR;
  linear.res.linear.devPtr = out;
  linear.res.linear.format = CU_AD_FORMAT_UNSIGNED_INT8;
  linear.res.linear.numChannels = 4;
  linear.res.linear.sizeInBytes = 256;
  SAY(create(linear, t));
  ask(asking, "linear", linear, t);
  linear.res.linear.numChannels = 3;
  SAY(create(linear, t));
  linear.res.linear.numChannels = 4;
  linear.res.linear.devPtr = out + 4;
  SAY(create(linear, t));
  linear.res.linear.devPtr = out;
  linear.res.linear.format = static_cast<CUarray_format>(0x77);
  SAY(create(linear, t));
  CUDA_RESOURCE_DESC rows{};
  rows.resType = CU_RESOURCE_TYPE_PITCH2D;
  rows.res.pitch2D.devPtr = out;
  rows.res.pitch2D.format = CU_AD_FORMAT_HALF;
  rows.res.pitch2D.numChannels = 2;
  rows.res.pitch2D.width = 8;
  rows.res.pitch2D.height = 8;
  rows.res.pitch2D.pitchInBytes = 64;
  t.addressMode[0] = CU_TR_ADDRESS_MODE_BORDER;
  ask(asking, "rows", rows, t);
  t.flags = CU_TRSF_NORMALIZED_COORDINATES;
  ask(asking, "rows, normalized", rows, t);
  rows.res.pitch2D.pitchInBytes = 60;
  SAY(create(rows, t));
  SAY(make(8, 8, 4, CU_AD_FORMAT_HALF, 2, CUDA_ARRAY3D_LAYERED));
  SAY(make(8, 8, 6, CU_AD_FORMAT_UNSIGNED_INT8, 4, CUDA_ARRAY3D_CUBEMAP));
  SAY(make(8, 8, 7, CU_AD_FORMAT_UNSIGNED_INT8, 4, CUDA_ARRAY3D_CUBEMAP));
  SAY(make(8, 8, 7, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0x4000));
  SAY(make(8, 8, 7, CU_AD_FORMAT_UNSIGNED_INT8, 4, CUDA_ARRAY3D_TEXTURE_GATHER));
  SAY(make(8, 8, 0, CU_AD_FORMAT_UNORM_INT8X4, 4, 0));
  SAY(make(8, 8, 0, CU_AD_FORMAT_UNORM_INT8X4, 1, 0));
  SAY(make(0, 8, 0, CU_AD_FORMAT_HALF, 2, 0));
  CUDA_ARRAY3D_DESCRIPTOR boxes[] = {
      {8, 0, 0, CU_AD_FORMAT_FLOAT, 1, 0},
      {8, 0, 3, CU_AD_FORMAT_FLOAT, 2, CUDA_ARRAY3D_LAYERED},
      {8, 6, 3, CU_AD_FORMAT_HALF, 4, CUDA_ARRAY3D_LAYERED},
      {8, 6, 3, CU_AD_FORMAT_UNSIGNED_INT16, 1, 0},
      {8, 8, 6, CU_AD_FORMAT_SIGNED_INT8, 1, CUDA_ARRAY3D_CUBEMAP},
      {8, 8, 12, CU_AD_FORMAT_SIGNED_INT16, 1, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED}};
  t = {};
  t.addressMode[0] = CU_TR_ADDRESS_MODE_MIRROR;
  t.addressMode[1] = CU_TR_ADDRESS_MODE_WRAP;
  t.addressMode[2] = CU_TR_ADDRESS_MODE_CLAMP;
  t.flags = CU_TRSF_NORMALIZED_COORDINATES;
  for (const CUDA_ARRAY3D_DESCRIPTOR& box : boxes) {
    SAY(cuArray3DCreate(&array, &box));
    ask(asking, "a box", of_array(array), t);
  }
  SAY(cuMipmappedArrayDestroy(mip));
  std::size_t most = 0;
  SAY(cuDeviceGetTexture1DLinearMaxWidth(&most, CU_AD_FORMAT_FLOAT, 4, device));
  std::printf("%zu\n", most);
}
