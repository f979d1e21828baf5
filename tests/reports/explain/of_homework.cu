// SPDX-License-Identifier: MIT
// As students hand it in: plain pointers, one idea a kernel, bounds checked, no qualifiers.
#include <math.h>
__global__ void rowSum(float* A, float* sums, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float s = 0;
  for (int c = 0; c < cols; c++) s += A[r * cols + c];  // cause: row_sum
  sums[r] = s;
}

__global__ void matMul(float* A, float* B, float* C, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;  // x is the row here, which is the mistake
  int col = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < n && col < n) {
    float sum = 0.0f;
    for (int k = 0; k < n; k++) {
      sum += A[row * n + k] * B[k * n + col];  // cause: mat_mul
    }
    C[row * n + col] = sum;
  }
}

__global__ void histogram(int* data, int* hist, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    atomicAdd(&hist[data[i]], 1);  // cause: histogram
  }
}

__global__ void collatz(int* steps, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long x = i + 1;
  int count = 0;
  while (x != 1) {  // cause: collatz
    if (x & 1)
      x = 3 * x + 1;
    else
      x = x / 2;
    count++;
  }
  steps[i] = count;
}

__global__ void evenOdd(float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = in[i];
  if (i % 2 == 0) {  // cause: even_odd
    for (int k = 0; k < 40; k++) v = sinf(v) + 0.25f;
  } else {
    for (int k = 0; k < 40; k++) v = sqrtf(v * v + 1.0f) - 0.5f;
  }
  out[i] = v;
}

__global__ void reduceModulo(int* in, int* out) {
  __shared__ int sdata[256];
  int tid = threadIdx.x;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  sdata[tid] = in[i];
  __syncthreads();
  for (int s = 1; s < blockDim.x; s *= 2) {
    if (tid % (2 * s) == 0) {  // cause: reduce_modulo
      sdata[tid] += sdata[tid + s];
    }
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = sdata[0];
}

__global__ void reduceIndexed(int* in, int* out) {
  __shared__ int sdata[256];
  int tid = threadIdx.x;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  sdata[tid] = in[i];
  __syncthreads();
  for (int s = 1; s < blockDim.x; s *= 2) {
    int index = 2 * s * tid;
    if (index < blockDim.x) {
      sdata[index] += sdata[index + s];  // cause: reduce_indexed
    }
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = sdata[0];
}

__global__ void addOne(float* a, float* b, float* c) {
  int i = blockIdx.x;
  c[i] = a[i] + b[i];
}

__global__ void saxpy(int n, float a, float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void squareAll(float* x, int n) {
  int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    x[i] = x[i] * x[i];
  }
}

__global__ void digitCount(int* numbers, int* result, int perThread) {
  int tid = blockIdx.x * blockDim.x + threadIdx.x;
  int total = gridDim.x * blockDim.x;
  int bins[16];
  for (int b = 0; b < 16; b++) bins[b] = 0;
  for (int k = 0; k < perThread; k++) {
    int v = numbers[k * total + tid];
    bins[v & 15]++;  // cause: digit_count
  }
  for (int b = 0; b < 16; b++) result[b * total + tid] = bins[b];
}

__global__ void circleArea(float* r, float* area, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    area[i] = 3.14159265 * r[i] * r[i];  // cause: circle_area
  }
}

__global__ void matVec(float* A, float* x, float* y, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = 0;
    for (int j = 0; j < m; j++) {
      y[i] += A[j * n + i] * x[j];  // cause: mat_vec
    }
  }
}

__global__ void norm(float* x, float* y, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    out[i] = sqrt(pow(x[i], 2.0) + pow(y[i], 2.0));  // cause: norm
  }
}

__global__ void sumAll(float* in, float* out, int n) {
  __shared__ float s[1024];
  float v = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) v += in[i];
  s[threadIdx.x] = v;
  __syncthreads();
  for (int h = blockDim.x / 2; h > 0; h /= 2) {
    if (threadIdx.x < h) s[threadIdx.x] += s[threadIdx.x + h];
    __syncthreads();
  }
  if (threadIdx.x == 0) *out = s[0];
}

__global__ void dotProduct(float* a, float* b, float* result, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(result, a[i] * b[i]);  // cause: dot_product
}

__global__ void oddEvenSort(int* data) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = data[blockIdx.x * 256 + t];
  s[t + 128] = data[blockIdx.x * 256 + t + 128];
  __syncthreads();
  for (int round = 0; round < 128; round++) {
    int left = s[2 * t];              // cause: odd_even_sort
    int right = s[2 * t + 1];         // cause: odd_even_sort
    s[2 * t] = min(left, right);      // cause: odd_even_sort
    s[2 * t + 1] = max(left, right);  // cause: odd_even_sort
    __syncthreads();
    if (t < 127) {
      int l = s[2 * t + 1];      // cause: odd_even_sort
      int r = s[2 * t + 2];      // cause: odd_even_sort
      s[2 * t + 1] = min(l, r);  // cause: odd_even_sort
      s[2 * t + 2] = max(l, r);  // cause: odd_even_sort
    }
    __syncthreads();
  }
  data[blockIdx.x * 256 + t] = s[t];
  data[blockIdx.x * 256 + t + 128] = s[t + 128];
}
