// SPDX-License-Identifier: MIT
// Exercises of a course that are done well enough.
__global__ void saxpy_guarded(float* y, const float* x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

// Life with a tile and its border in shared memory.
__global__ void life_shared(int* next, const int* cells, int pitch) {
  __shared__ int tile[10][34];
  int tx = threadIdx.x, ty = threadIdx.y;
  int x = blockIdx.x * 32 + tx, y = blockIdx.y * 8 + ty;
  const int* here = cells + (y + 1) * pitch + x + 8;
  tile[ty + 1][tx + 1] = here[0];
  if (tx == 0) tile[ty + 1][0] = here[-1];
  if (tx == 31) tile[ty + 1][33] = here[1];
  if (ty == 0) {
    tile[0][tx + 1] = here[-pitch];
    if (tx == 0) tile[0][0] = here[-pitch - 1];
    if (tx == 31) tile[0][33] = here[-pitch + 1];
  }
  if (ty == 7) {
    tile[9][tx + 1] = here[pitch];
    if (tx == 0) tile[9][0] = here[pitch - 1];
    if (tx == 31) tile[9][33] = here[pitch + 1];
  }
  __syncthreads();
  int neighbours = 0;
  for (int dy = 0; dy < 3; dy++)
    for (int dx = 0; dx < 3; dx++) neighbours += tile[ty + dy][tx + dx];
  int alive = tile[ty + 1][tx + 1];
  neighbours -= alive;
  next[y * (gridDim.x * 32) + x] = (neighbours == 3 || (alive && neighbours == 2)) ? 1 : 0;
}

__global__ void matmul_tiled(float* c, const float* a, const float* b, int n, int depth) {
  __shared__ float as[16][16], bs[16][16];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
  float s = 0.0f;
  for (int k0 = 0; k0 < depth; k0 += 16) {
    as[ty][tx] = a[row * depth + k0 + tx];
    bs[ty][tx] = b[(k0 + ty) * n + column];
    __syncthreads();
    for (int k = 0; k < 16; k++) s += as[ty][k] * bs[k][tx];
    __syncthreads();
  }
  c[row * n + column] = s;
}

__global__ void reduce_blocks(float* sums, const float* in, int n) {
  __shared__ float part[256];
  int t = threadIdx.x;
  float s = 0.0f;
  for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256) s += in[i];
  part[t] = s;
  __syncthreads();
  for (int half = 128; half >= 32; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (t < 32) {
    s = part[t];
    for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(0xffffffffu, s, d);
    if (t == 0) sums[blockIdx.x] = s;
  }
}

__global__ void scan_block(int* out, const int* in) {
  __shared__ int a[2][256];
  int t = threadIdx.x, from = 0;
  a[0][t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int d = 1; d < 256; d *= 2) {
    int v = a[from][t];
    if (t >= d) v += a[from][t - d];
    from = 1 - from;
    a[from][t] = v;
    __syncthreads();
  }
  out[blockIdx.x * 256 + t] = a[from][t];
}

// Bytes, but four at a time.
__global__ void histogram_256(int* counts, const unsigned* words, int n) {
  __shared__ int bins[256];
  int t = threadIdx.x;
  bins[t] = 0;
  __syncthreads();
  int i = blockIdx.x * 256 + t;
  for (int k = 0; k < 8; k++) {
    unsigned w = words[k * n + i];
    atomicAdd(&bins[w & 255], 1);
    atomicAdd(&bins[(w >> 8) & 255], 1);
    atomicAdd(&bins[(w >> 16) & 255], 1);
    atomicAdd(&bins[(w >> 23) & 255], 1);
  }
  __syncthreads();
  counts[blockIdx.x * 256 + t] = bins[t];
}

__global__ void grey_planes(float* grey, const float* rgb, int plane) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  grey[i] = 0.299f * rgb[i] + 0.587f * rgb[plane + i] + 0.114f * rgb[2 * plane + i];
}

__global__ void advance(float4* place, const float4* speed, float dt) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 p = place[i], v = speed[i];
  p.x += dt * v.x;
  p.y += dt * v.y;
  p.z += dt * v.z;
  p.w = p.x * p.x + p.y * p.y + p.z * p.z;
  place[i] = p;
}

__constant__ float kernel_taps[9] = {1, 2, 3, 4, 5, 4, 3, 2, 1};

__global__ void smooth_row(float* out, const float* in) {
  __shared__ float row[256 + 8];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  row[t] = in[i];
  if (t < 8) row[256 + t] = in[i + 256];
  __syncthreads();
  float s = 0.0f;
  for (int k = 0; k < 9; k++) s += kernel_taps[k] * row[t + k];
  out[i] = s * 0.04f;
}

// Looks as if it went through memory in large steps; its lanes do not.
__global__ void column_sums(float* sums, const float* matrix, int columns) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  float s = 0.0f;
  for (int r = 0; r < 16; r++) s += matrix[r * columns + c];
  sums[c] = s;
}

__device__ float normal_cdf(float x) {
  float k = 1.0f / (1.0f + 0.2316419f * fabsf(x));
  float p = k * (0.31938153f +
                 k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
  float tail = 0.39894228f * expf(-0.5f * x * x) * p;
  return x > 0.0f ? 1.0f - tail : tail;
}

__global__ void black_scholes(float* call, float* put, const float* spot, const float* strike,
                              float rate, float sigma) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float s = spot[i], x = strike[i];
  float d1 = (logf(s / x) + rate + 0.5f * sigma * sigma) / sigma, d2 = d1 - sigma;
  float c1 = normal_cdf(d1), c2 = normal_cdf(d2), discount = expf(-rate);
  call[i] = s * c1 - x * discount * c2;
  put[i] = x * discount * (1.0f - c2) - s * (1.0f - c1);
}

// Choices, but of values only.
__global__ void grades(int* grade, const int* points, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    int p = points[i];
    int g = 5;
    if (p >= 50) g = 4;
    if (p >= 65) g = 3;
    if (p >= 80) g = 2;
    if (p >= 92) g = 1;
    grade[i] = g;
  }
}

__global__ void bitonic_blocks(float* out, const float* in) {
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int size = 2; size <= 256; size *= 2) {
    for (int j = size / 2; j > 0; j /= 2) {
      float mine = s[t], other = s[t ^ j];
      bool up = (t & size) == 0, lower = (t & j) == 0;
      float keep = up == lower ? fminf(mine, other) : fmaxf(mine, other);
      __syncthreads();
      s[t] = keep;
      __syncthreads();
    }
  }
  out[blockIdx.x * 256 + t] = s[t];
}

// The vector is read by every warp; the matrix is what takes the time.
__global__ void matrix_vector(float* y, const float* matrix, const float* x, int columns) {
  int lane = threadIdx.x % 32, row = blockIdx.x * 8 + threadIdx.x / 32;
  float s = 0.0f;
  for (int c = lane; c < columns; c += 32) s += matrix[row * columns + c] * x[c];
  for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(0xffffffffu, s, d);
  if (lane == 0) y[row] = s;
}

// Pixels of three words through shared memory.
__global__ void rgb_staged(float* grey, const float* pixels) {
  __shared__ float rgb[768];
  int t = threadIdx.x;
  for (int k = 0; k < 3; k++) rgb[t + 256 * k] = pixels[blockIdx.x * 768 + t + 256 * k];
  __syncthreads();
  grey[blockIdx.x * 256 + t] =
      0.299f * rgb[3 * t] + 0.587f * rgb[3 * t + 1] + 0.114f * rgb[3 * t + 2];
}

// Dynamic programming down the columns, what is above in a register.
__global__ void best_path_down(float* best, const float* gain, int columns) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  float above = 0.0f;
  for (int r = 0; r < 12; r++) {
    above = fmaxf(above * 0.9f, above + gain[r * columns + c]);
    best[r * columns + c] = above;
  }
}

// Heat along the columns; three rows are kept.
__global__ void diffuse_down(float* out, const float* in, int columns) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  float up = in[c], here = in[columns + c];
  for (int r = 1; r < 13; r++) {
    float down = in[(r + 1) * columns + c];
    out[(r - 1) * columns + c] = here + 0.1f * (up - 2.0f * here + down);
    up = here;
    here = down;
  }
}

// A matrix of five diagonals that are far from each other.
__global__ void five_diagonals(float* y, const float* values, const float* x, int n, int apart) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float s = 0.0f;
  for (int d = 0; d < 5; d++) s += values[d * n + i] * x[i + d * apart];
  y[i] = s;
}

__global__ void interest_double(double* balance, const double* rate, double deposit) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  double r = rate[i], b = 100.0;
  for (int k = 0; k < 12; k++) b += b * r + deposit;
  balance[i] = b;
}

__global__ void flags_of_warps(unsigned* flags, const float* in, float limit, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 4; k++) {
    unsigned mask = __ballot_sync(0xffffffffu, in[k * n + i] > limit);
    if (threadIdx.x % 32 == 0) flags[(k * n + i) / 32] = mask;
  }
}

__global__ void count_positive(int* count, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int mine = 0;
  for (int k = 0; k < 8; k++) mine += in[k * n + i] > 0.0f ? 1 : 0;
  for (int d = 16; d > 0; d /= 2) mine += __shfl_xor_sync(0xffffffffu, mine, d);
  __shared__ int of_warp[8];
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x == 0) {
    int all = 0;
    for (int w = 0; w < 8; w++) all += of_warp[w];
    atomicAdd(count, all);
  }
}

__device__ void order(float& a, float& b) {
  float low = fminf(a, b);
  b = fmaxf(a, b);
  a = low;
}

// An array, but all in registers.
__global__ void median_of_7(float* out, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v[7];
#pragma unroll
  for (int k = 0; k < 7; k++) v[k] = in[k * n + i];
#pragma unroll
  for (int round = 0; round < 7; round++)
#pragma unroll
    for (int k = round & 1; k + 1 < 7; k += 2) order(v[k], v[k + 1]);
  out[i] = v[3];
}
