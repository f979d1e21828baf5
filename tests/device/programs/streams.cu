// SPDX-License-Identifier: MIT
// Two host threads, four streams, templated kernels in a namespace.
#include <cstdio>
#include <thread>
namespace work {
template <int Stride>
__global__ void strided(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i * Stride < n) out[i * Stride] = 2 * in[i * Stride];
}
}  // namespace work
constexpr int n = 1 << 18;
template <int Stride>
void use_two_streams(const float* in, float* out) {
  cudaStream_t streams[2];
  for (cudaStream_t& stream : streams) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  for (int i = 0; i < 8; ++i)
    work::strided<Stride><<<n / 256, 256, 0, streams[i % 2]>>>(in, out, n);
  for (cudaStream_t& stream : streams) cudaStreamSynchronize(stream);
}
int main() {
  float *in = nullptr, *out = nullptr;
  if (cudaMalloc(&in, n * sizeof(float)) != cudaSuccess) return 9;
  if (cudaMalloc(&out, n * sizeof(float)) != cudaSuccess) return 9;
  cudaMemset(in, 0, n * sizeof(float));
  std::thread other(use_two_streams<8>, in, out);
  use_two_streams<1>(in, out);
  other.join();
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
