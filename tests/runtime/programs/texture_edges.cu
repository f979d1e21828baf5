// SPDX-License-Identifier: MIT
// Which way of addressing counts for which texture: lines, rows, layers and levels, with each way
// of the axes that they have and of those that they have not.
#include <cstdio>

#include <cuda_runtime.h>
namespace {

constexpr int samples = 12;

__global__ void line(cudaTextureObject_t t, float* out) {
  for (int i = 0; i < samples; ++i) out[i] = tex1D<float>(t, i * 0.75f - 0.5f);
}
__global__ void row(cudaTextureObject_t t, float* out) {
  for (int i = 0; i < samples; ++i) out[i] = tex2D<float>(t, i * 0.75f - 0.5f, 0.0f);
}
__global__ void line_of_layer(cudaTextureObject_t t, float* out) {
  for (int i = 0; i < samples; ++i) out[i] = tex1DLayered<float>(t, i * 0.75f - 0.5f, 1);
}
__global__ void between_levels(cudaTextureObject_t t, float* out) {
  for (int i = 0; i < samples; ++i) out[i] = tex1DLod<float>(t, i * 0.09f, 0.5f);
}
__global__ void row_of_layer(cudaTextureObject_t t, float* out) {
  for (int i = 0; i < samples; ++i) out[i] = tex2DLayered<float>(t, i * 0.75f - 0.5f, 1.5f, 1);
}

void fill_layers(cudaArray_t array, float* from, size_t rows) {
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(from, 8 * sizeof(float), 8, rows);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(8, rows, 3);
  copy.kind = cudaMemcpyHostToDevice;
  std::printf("%s\n", cudaGetErrorName(cudaMemcpy3D(&copy)));
}

}  // namespace

int main() {
  float numbers[64];
  for (int i = 0; i < 64; ++i) numbers[i] = i + 1;
  float* out;
  cudaMallocManaged(&out, samples * sizeof(float));
  const cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
  cudaArray_t arrays[5] = {};
  cudaMallocArray(&arrays[0], &floats, 8);
  cudaMallocArray(&arrays[1], &floats, 8, 1);
  for (int i : {0, 1})
    cudaMemcpy2DToArray(arrays[i], 0, 0, numbers, 32, 32, 1, cudaMemcpyHostToDevice);
  cudaMalloc3DArray(&arrays[2], &floats, make_cudaExtent(8, 0, 3), cudaArrayLayered);
  fill_layers(arrays[2], numbers, 1);
  cudaMalloc3DArray(&arrays[4], &floats, make_cudaExtent(8, 2, 3), cudaArrayLayered);
  fill_layers(arrays[4], numbers, 2);
  cudaMipmappedArray_t levels;
  cudaMallocMipmappedArray(&levels, &floats, make_cudaExtent(8, 0, 0), 2);
  for (int i = 0; i < 2; ++i) {
    cudaArray_t level;
    cudaGetMipmappedArrayLevel(&level, levels, i);
    cudaMemcpy2DToArray(level, 0, 0, numbers + i * 20, 32 >> i, 32 >> i, 1, cudaMemcpyHostToDevice);
  }
  void (*const kernels[])(cudaTextureObject_t, float*) = {line, row, line_of_layer, between_levels,
                                                          row_of_layer};
  const cudaTextureAddressMode modes[] = {cudaAddressModeWrap, cudaAddressModeClamp,
                                          cudaAddressModeMirror, cudaAddressModeBorder};
  for (int which = 0; which < 5; ++which) {
    for (int choice = 0; choice < 32; ++choice) {
      const int x = choice / 16 * 2 + 1, y = choice / 4 % 4, z = choice / 2 % 2 * 3, f = choice % 2;
      const bool has_levels = which == 3;
      cudaResourceDesc resource = {};
      resource.resType = has_levels ? cudaResourceTypeMipmappedArray : cudaResourceTypeArray;
      if (has_levels) {
        resource.res.mipmap.mipmap = levels;
      } else {
        resource.res.array.array = arrays[which];
      }
      cudaTextureDesc wanted = {};
      wanted.addressMode[0] = modes[x];
      wanted.addressMode[1] = modes[y];
      wanted.addressMode[2] = modes[z];
      wanted.filterMode = f != 0 ? cudaFilterModeLinear : cudaFilterModePoint;
      wanted.borderColor[0] = 100;
      wanted.normalizedCoords = has_levels;
      wanted.mipmapFilterMode = has_levels ? cudaFilterModeLinear : cudaFilterModePoint;
      wanted.maxMipmapLevelClamp = has_levels;
      cudaTextureObject_t texture;
      cudaError_t error = cudaCreateTextureObject(&texture, &resource, &wanted, nullptr);
      if (error == cudaSuccess) {
        kernels[which]<<<1, 1>>>(texture, out);
        error = cudaDeviceSynchronize();
        cudaDestroyTextureObject(texture);
      }
      std::printf("%d x%d y%d z%d f%d %s:", which, x, y, z, f,
                  error != cudaSuccess ? cudaGetErrorName(error) : "");
      for (int i = 0; i < samples; ++i) std::printf(" %g", out[i]);
      std::printf("\n");
    }
  }
}
