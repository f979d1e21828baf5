// SPDX-License-Identifier: MIT
// Kernels as students write them, one fault each, written before anybody saw what is found in them.
// Rotates an image by a quarter turn through a tile.
__global__ void rot90(float* dst, const float* src, int n) {
  __shared__ float buf[32][32];
  int bx = blockIdx.x * 32, by = blockIdx.y * 32;
  for (int r = threadIdx.y; r < 32; r += 8)
    buf[r][threadIdx.x] = src[(by + r) * n + bx + threadIdx.x];
  __syncthreads();
  for (int r = threadIdx.y; r < 32; r += 8)
    dst[(bx + r) * n + (n - 32 - by) + threadIdx.x] = buf[31 - threadIdx.x][r];  // cause: rot90
}

// Work-efficient scan, as the book's first version has it, two elements a thread.
__global__ void prefix_stride(float* out, const float* in) {
  __shared__ float t[512];
  int id = threadIdx.x, off = 1;
  t[id] = in[blockIdx.x * 512 + id];
  t[id + 256] = in[blockIdx.x * 512 + id + 256];
  for (int d = 256; d > 0; d >>= 1) {
    __syncthreads();
    if (id < d) {
      int a = off * (2 * id + 1) - 1, b = off * (2 * id + 2) - 1;
      t[b] += t[a];  // cause: prefix_stride
    }
    off *= 2;
  }
  if (id == 0) t[511] = 0;
  for (int d = 1; d < 512; d *= 2) {
    off >>= 1;
    __syncthreads();
    if (id < d) {
      int a = off * (2 * id + 1) - 1, b = off * (2 * id + 2) - 1;
      float x = t[a];  // cause: prefix_stride
      t[a] = t[b];     // cause: prefix_stride
      t[b] += x;       // cause: prefix_stride
    }
  }
  __syncthreads();
  out[blockIdx.x * 512 + id] = t[id];
  out[blockIdx.x * 512 + id + 256] = t[id + 256];
}

__global__ void pixels_planar(unsigned char* r, const unsigned char* rgba) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  r[i] = rgba[4 * i];  // cause: pixels_planar
}

// x runs over rows.
__global__ void col_major_saxpy(float* Y, const float* X, float a, int rows, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < rows && j < cols)
    Y[i * cols + j] = a * X[i * cols + j] + Y[i * cols + j];  // cause: col_major_saxpy
}

// Each thread its own segment of a signal.
__global__ void segment_max(float* peak, const float* sig, int len) {
  int s = blockIdx.x * blockDim.x + threadIdx.x;
  float m = sig[s * len];                                        // cause: segment_max
  for (int k = 1; k < len; ++k) m = fmaxf(m, sig[s * len + k]);  // cause: segment_max
  peak[s] = m;
}

__global__ void shuffle_deck(float* out, const float* deck, unsigned mask) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned j = (i * 2654435761u >> 7 ^ i * 40503u) & mask;
  out[i] = deck[j];  // cause: shuffle_deck
}

__global__ void skip_first_three(double* out, const double* in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i + 3] * 0.5;  // cause: skip_first_three
}

__global__ void moving_mean(float* m, const float* s, int window) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < window; ++k) sum += s[i + k];  // cause: moving_mean
  m[i] = sum / window;
}

__global__ void distances(float* best, const float* p, const float* q, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = p[i], b = 1e30f;
  for (int j = 0; j < m; j++) {
    float d = x - q[j];  // cause: distances
    if (d * d < b) b = d * d;
  }
  best[i] = b;
}

__global__ void grid_sum_global(float* acc, float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  acc[i] = 0;
  for (int k = 0; k < 16; k++) acc[i] += x[k * n + i];  // cause: grid_sum_global
}

__global__ void mask_bytes(unsigned char* o, const unsigned char* a, const unsigned char* m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  o[i] = m[i] ? a[i] : 0;  // cause: mask_bytes
}

__global__ void odd_even_work(float* v) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = v[i];
  switch (threadIdx.x & 3) {  // cause: odd_even_work
    case 0:
      for (int k = 0; k < 20; ++k) x = sqrtf(x + 1);
      break;  // cause: odd_even_work
    case 1:
      for (int k = 0; k < 20; ++k) x = x * 1.5f - 2;
      break;  // cause: odd_even_work
    case 2:
      for (int k = 0; k < 20; ++k) x = 1 / (x + 3);
      break;  // cause: odd_even_work
    default:
      for (int k = 0; k < 20; ++k) x = fabsf(x - 7);
      break;  // cause: odd_even_work
  }
  v[i] = x;
}

__global__ void count_vowels(int* n, const int* text) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, c = text[i];
  int add = c == 0 || c == 4 || c == 8 || c == 14 || c == 20 ? 1 : 0;
  atomicAdd(n, add);  // cause: count_vowels
}

__global__ void median9(float* out, const float* in, int width, int rank) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  float w[9];
  for (int k = 0; k < 9; k++) w[k] = in[(y + k / 3) * (width + 2) + x + k % 3];
  for (int a = 0; a < rank; a++) {
    int least = a;
    for (int b = a + 1; b < 9; b++)
      if (w[b] < w[least]) least = b;  // cause: median9
    float t = w[a];                    // cause: median9
    w[a] = w[least];                   // cause: median9
    w[least] = t;                      // cause: median9
  }
  out[y * width + x] = w[rank - 1];  // cause: median9
}

__global__ void hypot_literal(float* o, const float* a, const float* b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = a[i], y = b[i];
  o[i] = 0.96 * fmaxf(x, y) + 0.4 * fminf(x, y);  // cause: hypot_literal
}

__global__ void block_of_33(float* o, const float* a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  o[i] = a[i] * 2;
}

__global__ void one_block_reduce(float* o, const float* a, int n) {
  __shared__ float s[1024];
  float v = 0;
  for (int i = threadIdx.x; i < n; i += 1024) v += a[i];
  s[threadIdx.x] = v;
  __syncthreads();
  for (int d = 512; d > 0; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) *o = s[0];
}
