// SPDX-License-Identifier: MIT
// Objects that a kernel makes with new live on in later kernels, beside what the host allocates
// before and after, large and small: a scene of shapes behind virtual functions.
#include <cstdio>

#include "runtime_program.h"
struct Shape {
  __device__ explicit Shape(int size) : size(size) {}
  __device__ virtual ~Shape() {}
  __device__ virtual int area() const = 0;
  int size;
};

struct Square : Shape {
  __device__ explicit Square(int size) : Shape(size) {}
  __device__ int area() const override { return size * size; }
};

struct Strip : Shape {
  __device__ explicit Strip(int size) : Shape(size), lengths(new int[size]) {
    for (int i = 0; i < size; ++i) lengths[i] = i;
  }
  __device__ ~Strip() override { delete[] lengths; }
  __device__ int area() const override {
    int sum = 0;
    for (int i = 0; i < size; ++i) sum += lengths[i];
    return sum;
  }
  int* lengths;
};

__global__ void build(Shape** scene, int count) {
  for (int i = 0; i < count; ++i) {
    scene[i] = i % 2 == 0 ? static_cast<Shape*>(new Square(i)) : new Strip(i);
  }
}

__global__ void fill(int* field, int n, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) field[i] = value;
}

__global__ void measure(Shape* const* scene, int count, int* areas) {
  const int i = threadIdx.x;
  if (i < count) areas[i] = scene[i]->area();
}

__global__ void tear_down(Shape** scene, int count) {
  for (int i = 0; i < count; ++i) delete scene[i];
}

/// Many small pieces, and all of them given back: none is lost, so that the heap lasts.
__global__ void churn(int rounds, int* failures) {
  for (int round = 0; round < rounds; ++round) {
    auto* piece = static_cast<int*>(malloc(256));
    if (piece == nullptr) {
      atomicAdd(failures, 1);
      continue;
    }
    piece[0] = round;
    piece[63] = threadIdx.x;
    if (piece[0] != round || piece[63] != threadIdx.x) atomicAdd(failures, 1);
    free(piece);
  }
}

int main() {
  constexpr int count = 40, n = 6 << 20;
  Shape** scene;
  int *before, *after, *areas, *failures, first = 0, last = 0;
  K(cudaMalloc(&before, n * sizeof(int)));
  K(cudaMalloc(&scene, count * sizeof(Shape*)));
  build<<<1, 1>>>(scene, count);
  K(cudaDeviceSynchronize());
  K(cudaMalloc(&after, n * sizeof(int)));
  K(cudaMallocManaged(&areas, count * sizeof(int)));
  K(cudaMallocManaged(&failures, sizeof(int)));
  fill<<<n / 256, 256>>>(before, n, -1);
  fill<<<n / 256, 256>>>(after, n, -2);
  measure<<<1, 64>>>(scene, count, areas);
  K(cudaDeviceSynchronize());
  long long sum = 0;
  for (int i = 0; i < count; ++i) sum += areas[i];
  I(areas[6]);
  I(areas[7]);
  I(sum);
  K(cudaMemcpy(&first, before, sizeof(int), cudaMemcpyDeviceToHost));
  K(cudaMemcpy(&last, after + n - 1, sizeof(int), cudaMemcpyDeviceToHost));
  I(first);
  I(last);
  tear_down<<<1, 1>>>(scene, count);
  *failures = 0;
  churn<<<8, 64>>>(40, failures);
  K(cudaDeviceSynchronize());
  I(*failures);
  K(cudaFree(before));
  K(cudaFree(after));
}
