// SPDX-License-Identifier: MIT
// Ordinary kernels, one after the other: milliseconds of each on standard error, a hash of its
// result on standard output. With "tiny BYTES LAUNCHES THREADS" launches of next to nothing, from
// as many threads, each in a stream of its own, in a program with so much memory: microseconds of a
// launch. uncounted.py runs it.
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>
__global__ void gemm(const float* a, const float* b, float* c, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[y * n + k] * b[k * n + x];
  c[y * n + x] = sum;
}

__global__ void gemm_tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[16][16], tile_b[16][16];
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  float sum = 0;
  for (int t = 0; t < n; t += 16) {
    tile_a[threadIdx.y][threadIdx.x] = a[y * n + t + threadIdx.x];
    tile_b[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + x];
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
    __syncthreads();
  }
  c[y * n + x] = sum;
}

__global__ void gemm_double(const double* a, const double* b, double* c, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  double sum = 0;
  for (int k = 0; k < n; ++k) sum += 1.5 * a[y * n + k] * b[k * n + x];
  c[y * n + x] = sum;
}

__global__ void transpose(const float* in, float* out, int n) {
  __shared__ float tile[16][17];
  tile[threadIdx.y][threadIdx.x] =
      in[(blockIdx.y * 16 + threadIdx.y) * n + blockIdx.x * 16 + threadIdx.x];
  __syncthreads();
  const int x = blockIdx.y * 16 + threadIdx.x, y = blockIdx.x * 16 + threadIdx.y;
  out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void stencil(const float* in, float* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x == 0 || y == 0 || x >= n - 1 || y >= n - 1) return;
  out[y * n + x] = 0.2f * (in[y * n + x] + in[y * n + x - 1] + in[y * n + x + 1] +
                           in[(y - 1) * n + x] + in[(y + 1) * n + x]);
}

__global__ void reduce(const float* in, float* out, int n) {
  __shared__ float parts[256];
  float sum = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) sum += in[i];
  parts[threadIdx.x] = sum;
  __syncthreads();
  for (int width = 128; width > 0; width /= 2) {
    if (threadIdx.x < width) parts[threadIdx.x] += parts[threadIdx.x + width];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = parts[0];
}

__global__ void nbody(const float4* bodies, float4* forces, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 me = bodies[i];
  float x = 0, y = 0, z = 0;
  for (int j = 0; j < n; ++j) {
    const float4 other = bodies[j];
    const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
    const float near = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
    const float pull = other.w * near * near * near;
    x += pull * dx;
    y += pull * dy;
    z += pull * dz;
  }
  forces[i] = make_float4(x, y, z, 0);
}

__global__ void mandelbrot(int* out, int n) {
  const int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  const float cx = -2.0f + 3.0f * px / n, cy = -1.5f + 3.0f * py / n;
  float x = 0, y = 0;
  int i = 0;
  for (; i < 200 && x * x + y * y < 4; ++i) {
    const float next = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = next;
  }
  out[py * n + px] = i;
}

__global__ void saxpy(float a, const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void hashes(unsigned* out, int rounds) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned hash = i;
  for (int r = 0; r < rounds; ++r) {
    hash ^= hash >> 16;
    hash *= 0x85ebca6b;
    hash ^= hash >> 13;
    hash *= 0xc2b2ae35;
    hash ^= hash >> 16;
    hash += r;
  }
  out[i] = hash;
}

__global__ void spmv(const int* rows, const int* columns, const float* values, const float* x,
                     float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int k = rows[i]; k < rows[i + 1]; ++k) sum += values[k] * x[columns[k]];
  y[i] = sum;
}

// A permutation in global memory, and a table in shared memory that is looked up everywhere.
__global__ void permute(const int* places, const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[places[i]] = in[places[n - 1 - i]];
}

__global__ void lookup(const int* keys, float* out, int n) {
  __shared__ float table[1024];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) table[i] = 1.0f / (1 + i);
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 16; ++k) sum += table[(keys[i] >> k) & 1023];
  if (i < n) out[i] = sum;
}

__global__ void histogram(const int* keys, int* bins, int n) {
  __shared__ int own[256];
  own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
    atomicAdd(&own[keys[i] & 255], 1);
  }
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

// Each block sorts 512 numbers by odd-even merges after Batcher (1968), in his bitonic form.
__global__ void sort(const int* in, int* out) {
  __shared__ int part[512];
  const int first = blockIdx.x * 512;
  part[threadIdx.x] = in[first + threadIdx.x];
  part[threadIdx.x + 256] = in[first + threadIdx.x + 256];
  for (int size = 2; size <= 512; size *= 2) {
    for (int step = size / 2; step > 0; step /= 2) {
      __syncthreads();
      const int low = 2 * threadIdx.x - (threadIdx.x & (step - 1)), high = low + step;
      const int a = part[low], b = part[high];
      if ((a > b) == ((low & size) == 0)) {
        part[low] = b;
        part[high] = a;
      }
    }
  }
  __syncthreads();
  out[first + threadIdx.x] = part[threadIdx.x];
  out[first + threadIdx.x + 256] = part[threadIdx.x + 256];
}

__global__ void tiny(int* counts) { counts[threadIdx.x] += 1; }

int launch_tiny(std::size_t bytes, int launches, int threads) {
  int* memory = nullptr;
  if (cudaMalloc(&memory, bytes) != cudaSuccess) return 1;
  cudaMemset(memory, 0, bytes);
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::thread> all;
  for (int thread = 0; thread < threads; ++thread) {
    all.emplace_back([=] {
      cudaStream_t stream;
      cudaStreamCreate(&stream);
      for (int i = 0; i < launches; ++i) tiny<<<1, 32, 0, stream>>>(memory + 32 * thread);
      cudaStreamSynchronize(stream);
    });
  }
  for (std::thread& thread : all) thread.join();
  const std::chrono::duration<double, std::micro> passed = std::chrono::steady_clock::now() - begin;
  std::vector<int> counts(32 * static_cast<std::size_t>(threads));
  cudaMemcpy(counts.data(), memory, counts.size() * sizeof(int), cudaMemcpyDeviceToHost);
  for (const int count : counts) {
    if (count != launches) return 1;
  }
  std::printf("launch %f\n", passed.count() / launches / threads);
  return 0;
}

template <class T>
T* copied(const std::vector<T>& values) {
  T* device = nullptr;
  cudaMalloc(&device, values.size() * sizeof(T));
  cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  return device;
}

template <class T>
T* filled(std::size_t count) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(i % 13) / 2 + 1;
  return copied(values);
}

template <class Launch>
void run(const char* name, int times, const void* result, std::size_t bytes, Launch launch) {
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  cudaEventRecord(begin);
  for (int i = 0; i < times; ++i) launch();
  cudaEventRecord(end);
  cudaEventSynchronize(end);
  float milliseconds = 0;
  cudaEventElapsedTime(&milliseconds, begin, end);
  std::vector<unsigned> words(bytes / sizeof(unsigned));
  cudaMemcpy(words.data(), result, bytes, cudaMemcpyDeviceToHost);
  unsigned long long hash = 14695981039346656037ull;
  for (const unsigned word : words) hash = (hash ^ word) * 1099511628211ull;
  std::fprintf(stderr, "time %s %f\n", name, milliseconds);
  std::printf("%s %llx\n", name, hash);
}

int main(int argc, char** argv) {
  if (argc == 5 && std::strcmp(argv[1], "tiny") == 0) {
    return launch_tiny(std::strtoull(argv[2], nullptr, 10), std::atoi(argv[3]), std::atoi(argv[4]));
  }
  const int scale = argc > 1 ? std::atoi(argv[1]) : 1;
  constexpr int n = 256, rows = 16384, each = 16;
  float *a = filled<float>(1 << 20), *b = filled<float>(1 << 20), *c = filled<float>(1 << 20);
  double *da = filled<double>(n * n), *db = filled<double>(n * n), *dc = filled<double>(n * n);
  std::vector<int> begins(rows + 1), columns(rows * each);
  for (int i = 0; i <= rows; ++i) begins[i] = i * each;
  unsigned random = 1;
  for (int& column : columns)
    column = static_cast<int>((random = random * 1664525 + 1013904223) >> 18);
  const int *row_begins = copied(begins), *row_columns = copied(columns);
  std::vector<int> order(rows * each), keys(rows * each);
  for (int i = 0; i < rows * each; ++i) order[i] = i;
  for (int i = rows * each - 1; i > 0; --i) {
    random = random * 1664525 + 1013904223;
    std::swap(order[i], order[random % static_cast<unsigned>(i + 1)]);
    keys[i] = static_cast<int>(random >> 4);
  }
  const int *places = copied(order), *random_keys = copied(keys);
  const dim3 block(16, 16), grid(n / 16, n / 16);
  const std::size_t all = std::size_t{4} << 20;

  run("gemm", 2 * scale, c, n * n * 4, [&] { gemm<<<grid, block>>>(a, b, c, n); });
  run("gemm_tiled", 2 * scale, c, n * n * 4, [&] { gemm_tiled<<<grid, block>>>(a, b, c, n); });
  const dim3 large(1024 / 16, 1024 / 16);
  run("gemm_1024", 1, c, all, [&] { gemm<<<large, block>>>(a, b, c, 1024); });
  run("gemm_tiled_1024", 1, c, all, [&] { gemm_tiled<<<large, block>>>(a, b, c, 1024); });
  run("transpose", 10 * scale, c, all, [&] { transpose<<<large, block>>>(a, c, 1024); });
  run("gemm_double", 2 * scale, dc, n * n * 8,
      [&] { gemm_double<<<grid, block>>>(da, db, dc, n); });
  run("stencil", 10 * scale, c, all, [&] { stencil<<<large, block>>>(a, c, 1024); });
  run("reduce", 20 * scale, c, 64 * 4, [&] { reduce<<<64, 256>>>(a, c, 1 << 20); });
  run("nbody", scale, c, 2048 * 16,
      [&] { nbody<<<8, 256>>>(reinterpret_cast<float4*>(a), reinterpret_cast<float4*>(c), 2048); });
  run("mandelbrot", 2 * scale, c, 512 * 512 * 4,
      [&] { mandelbrot<<<dim3(32, 32), block>>>(reinterpret_cast<int*>(c), 512); });
  run("hashes", 2 * scale, c, 64 * 256 * 4,
      [&] { hashes<<<64, 256>>>(reinterpret_cast<unsigned*>(c), 1000); });
  run("spmv", 5 * scale, c, rows * 4,
      [&] { spmv<<<64, 256>>>(row_begins, row_columns, a, b, c, rows); });
  run("saxpy", 10 * scale, b, all, [&] { saxpy<<<4096, 256>>>(2.0f, a, b, 1 << 20); });
  int* integers = reinterpret_cast<int*>(c);
  const int many = rows * each;
  run("permute", 10 * scale, c, many * 4,
      [&] { permute<<<many / 256, 256>>>(places, a, c, many); });
  run("lookup", 2 * scale, c, many * 4, [&] { lookup<<<many / 256, 256>>>(random_keys, c, many); });
  cudaMemset(c, 0, 256 * 4);
  run("histogram", 10 * scale, c, 256 * 4,
      [&] { histogram<<<64, 256>>>(random_keys, integers, many); });
  run("sort", scale, c, many * 4, [&] { sort<<<many / 512, 256>>>(random_keys, integers); });
  const cudaError_t failure = cudaDeviceSynchronize();
  if (failure != cudaSuccess) std::fprintf(stderr, "%s\n", cudaGetErrorString(failure));
  return failure == cudaSuccess ? 0 : 1;
}
