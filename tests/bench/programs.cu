// SPDX-License-Identifier: MIT
// A program that allocates as programs do, and one kernel of an ordinary kind; programs.py runs it
// and says what it costs without a GPU.
//
//   programs start                  one launch of one warp
//   programs many|large|managed|pitched|streams   allocates, and has kernels write all of it; the
//                                   bytes that it allocated and, in KB, the most that it had in
//                                   memory on standard output
//   programs gemm N TIMES           products of N by N: milliseconds of the processor of each
#include <cuda_runtime.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>
extern "C" __global__ void gemm(const float* a, const float* b, float* c, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[y * n + k] * b[k * n + x];
  c[y * n + x] = sum;
}

__global__ void fill(float* out, std::size_t count, float value) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) out[i] = value;
}

constexpr std::size_t mega = 1 << 20;

void set(void* memory, std::size_t bytes, cudaStream_t stream = nullptr) {
  const std::size_t count = bytes / sizeof(float);
  const auto blocks = static_cast<unsigned>(std::min<std::size_t>(count / 256 + 1, 1024));
  fill<<<blocks, 256, 0, stream>>>(static_cast<float*>(memory), count, 1);
}

std::size_t many() {
  constexpr std::size_t each = 4096, number = 20000;
  std::vector<void*> all(number);
  for (void*& one : all) cudaMalloc(&one, each);
  for (void* one : all) set(one, each);
  return each * number;
}

std::size_t large() {
  void* memory = nullptr;
  cudaMalloc(&memory, 1024 * mega);
  set(memory, 1024 * mega);
  return 1024 * mega;
}

std::size_t managed() {
  void* memory = nullptr;
  cudaMallocManaged(&memory, 512 * mega);
  set(memory, 512 * mega);
  cudaDeviceSynchronize();
  float sum = 0;
  for (std::size_t i = 0; i < 512 * mega / sizeof(float); i += 1024)
    sum += static_cast<float*>(memory)[i];
  return sum > 0 ? 512 * mega : 0;
}

std::size_t pitched() {
  std::size_t pitch = 0;
  void* memory = nullptr;
  cudaMallocPitch(&memory, &pitch, 4000, 65536);
  set(memory, pitch * 65536);
  return pitch * 65536;
}

std::size_t streams() {
  constexpr int number = 8;
  for (int i = 0; i < number; ++i) {
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    void *device = nullptr, *host = nullptr;
    cudaMallocAsync(&device, 32 * mega, stream);
    cudaMallocHost(&host, 32 * mega);
    set(device, 32 * mega, stream);
    cudaMemcpyAsync(host, device, 32 * mega, cudaMemcpyDeviceToHost, stream);
  }
  return number * 64 * mega;
}

int products(int n, int times) {
  const std::size_t bytes = std::size_t(n) * n * sizeof(float);
  float *a = nullptr, *b = nullptr, *c = nullptr;
  cudaMalloc(&a, bytes);
  cudaMalloc(&b, bytes);
  cudaMalloc(&c, bytes);
  set(a, bytes);
  set(b, bytes);
  const dim3 block(16, 16), grid(n / 16, n / 16);
  for (int i = 0; i < times; ++i) {
    cudaDeviceSynchronize();
    const std::clock_t begin = std::clock();
    gemm<<<grid, block>>>(a, b, c, n);
    cudaDeviceSynchronize();
    std::printf("ms %f\n", 1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return 0;
}

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "start";
  if (what == "gemm") return products(std::atoi(argv[2]), std::atoi(argv[3]));
  const std::size_t bytes = what == "many"      ? many()
                            : what == "large"   ? large()
                            : what == "managed" ? managed()
                            : what == "pitched" ? pitched()
                            : what == "streams" ? streams()
                                                : 0;
  if (what == "start") set(nullptr, 0);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  std::printf("bytes %zu most %ld\n", bytes, used.ru_maxrss);
  return 0;
}
