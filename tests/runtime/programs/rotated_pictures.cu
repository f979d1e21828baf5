// SPDX-License-Identifier: MIT
// Texture fetches beside functions and divisions in one kernel: pictures of 128 by 128 floats, a
// line for each way with a hash of all bits of its result. The output of an H200 lies in expected/.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

namespace {

constexpr int width = 128;

template <int WAY>
__device__ float looked_up(cudaTextureObject_t t, int x, int y, float angle) {
  const float w = width;
  switch (WAY) {
    case 0:
      return tex2D<float>(t, (x * cosf(angle) - y * sinf(angle)) / w + 0.5f,
                          (y * cosf(angle) + x * sinf(angle)) / w + 0.5f);
    case 1:
      return tex2D<float>(t, x * cosf(angle) / w, y * 0.01f);
    case 2:
      return tex2D<float>(t, x / (w * 1.5f), 0.3f) + cosf(angle);
    case 3:
      return tex2D<float>(t, x / (w + x * 0.01f), y * 0.01f);
    case 4:
      return tex2D<float>(t, x * cosf(angle), y * 0.01f) / (w + y) + 1;
    default:
      return tex2D<float>(t, sqrtf(x * angle) / w, atan2f(y, x + 1.0f));
  }
}

template <int WAY>
__global__ void rotate(float* out, float angle, cudaTextureObject_t t) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  out[y * width + x] = looked_up<WAY>(t, x, y, angle);
}

template <int WAY>
void show(float* out, cudaTextureObject_t t, const char* how) {
  cudaMemset(out, 0, width * width * 4);
  rotate<WAY><<<dim3(width / 16, width / 16), dim3(16, 16)>>>(out, 0.5f, t);
  const cudaError_t result = cudaDeviceSynchronize();
  std::vector<float> values(width * width);
  cudaMemcpy(values.data(), out, width * width * 4, cudaMemcpyDeviceToHost);
  std::uint64_t hash = 14695981039346656037u;
  int zeros = 0;
  for (const float value : values) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, 4);
    hash = (hash ^ bits) * 1099511628211u;
    zeros += value == 0;
  }
  std::printf("%s, way %d: %s, %d zeros, %016llx\n", how, WAY, cudaGetErrorName(result), zeros,
              static_cast<unsigned long long>(hash));
}

void show_all(float* out, cudaArray_t array, bool is_linear) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc texture = {};
  texture.normalizedCoords = 1;
  texture.filterMode = is_linear ? cudaFilterModeLinear : cudaFilterModePoint;
  texture.addressMode[0] = texture.addressMode[1] = cudaAddressModeWrap;
  cudaTextureObject_t t;
  cudaCreateTextureObject(&t, &resource, &texture, nullptr);
  const char* how = is_linear ? "linear" : "point";
  show<0>(out, t, how);
  show<1>(out, t, how);
  show<2>(out, t, how);
  show<3>(out, t, how);
  show<4>(out, t, how);
  show<5>(out, t, how);
  cudaDestroyTextureObject(t);
}

}  // namespace

int main() {
  std::vector<float> picture(width * width);
  for (int i = 0; i < width * width; ++i) picture[i] = 1 + i % 97;
  float* out;
  cudaMalloc(&out, width * width * 4);
  cudaArray_t array;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaMallocArray(&array, &format, width, width);
  cudaMemcpy2DToArray(array, 0, 0, picture.data(), width * 4, width * 4, width,
                      cudaMemcpyHostToDevice);
  show_all(out, array, false);
  show_all(out, array, true);
  cudaFreeArray(array);
  cudaFree(out);
}
