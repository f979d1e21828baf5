// SPDX-License-Identifier: MIT
// Kernels of many domains, each with one fault. "// cause: VARIANT" marks the lines at fault.
#include <cuda_runtime.h>
// ---------------------------------------------------------------- linear algebra: C = A * B^T
#define TS 16

__global__ void gemm_abt(float* C, const float* A, const float* B, int N, int K) {
  __shared__ float As[TS][TS];
  __shared__ float Bs[TS][TS];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * TS + ty;
  int col = blockIdx.x * TS + tx;
  float sum = 0.0f;
  for (int k0 = 0; k0 < K; k0 += TS) {
    As[ty][tx] = A[row * K + k0 + tx];
    Bs[ty][tx] = B[(blockIdx.x * TS + ty) * K + k0 + tx];
    __syncthreads();
    for (int k = 0; k < TS; ++k) sum += As[ty][k] * Bs[tx][k];  // cause: gemm_abt
    __syncthreads();
  }
  C[row * N + col] = sum;
}

// ---------------------------------------------------------------- genetics: counts of a cell's 32
// genes
__global__ void expression_totals(float* total, float* spread, const float* expression) {
  __shared__ float cells[128][32];
  const float* mine = expression + (size_t)blockIdx.x * 128 * 32;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int r = warp; r < 128; r += 4) cells[r][lane] = mine[r * 32 + lane];
  __syncthreads();
  float sum = 0.0f, squares = 0.0f;
  for (int g = 0; g < 32; ++g) {
    float e = cells[threadIdx.x][g];  // cause: expression_totals
    sum += e;
    squares += e * e;
  }
  int cell = blockIdx.x * 128 + threadIdx.x;
  total[cell] = sum;
  spread[cell] = squares - sum * sum / 32.0f;
}

// ---------------------------------------------------------------- image processing: histogram of
// tones, one per thread
__global__ void tone_histogram(int* partial, const int* pixels, int n) {
  __shared__ int hist[128 * 32];
  for (int i = threadIdx.x; i < 128 * 32; i += 128) hist[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) {
    int v = pixels[i];
    int bin = (v * v) >> 11;
    hist[threadIdx.x * 32 + bin]++;  // cause: tone_histogram
  }
  __syncthreads();
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  int sum = 0;
  for (int r = 0; r < 32; ++r) sum += hist[(warp * 32 + r) * 32 + lane];
  partial[(blockIdx.x * 4 + warp) * 32 + lane] = sum;
}

// ---------------------------------------------------------------- physics: particles as x y z vx
// vy vz m q
#define FIELDS 8
#define FIELD_Q 7

__global__ void charge_of_particles(float* charge, const float* particles, float unit, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    charge[i] = unit * particles[i * FIELDS + FIELD_Q];  // cause: charge_of_particles
  }
}

// ---------------------------------------------------------------- statistics: mean of each row, a
// thread per row
__global__ void row_means(float* mean, const float* table, int rows, int columns) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0.0f;
  for (int c = 0; c < columns; ++c) {
    sum += table[r * columns + c];  // cause: row_means
  }
  mean[r] = sum / columns;
}

// ---------------------------------------------------------------- image processing: a quarter turn
__global__ void quarter_turn(float* turned, const float* image, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) {
    float p = image[y * width + x];
    turned[x * height + (height - 1 - y)] = p;  // cause: quarter_turn
  }
}

// ---------------------------------------------------------------- linear algebra: sparse matrix
// (ELLPACK) times vector
__global__ void spmv_ell(float* y, const float* values, const int* columns, const float* x,
                         int rows, int width) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float dot = 0.0f;
  for (int k = 0; k < width; ++k) {
    int column = columns[k * rows + row];
    float a = values[k * rows + row];
    dot += a * x[column];  // cause: spmv_ell
  }
  y[row] = dot;
}

// ---------------------------------------------------------------- graphs: mark the ends of a
// frontier's edges
__global__ void mark_neighbours(int* visited, const int* edge_end, int level, int edges) {
  int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e < edges) {
    int v = edge_end[e];
    visited[v] = level;  // cause: mark_neighbours
  }
}

// ---------------------------------------------------------------- signal processing: delay by some
// samples
__global__ void delay_line(float* wet, const float* dry, int delay, float gain, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) wet[i] = gain * dry[i + delay];  // cause: delay_line
}

// ---------------------------------------------------------------- physics: values at nodes (n+1 in
// a row) to cells (n)
__global__ void nodes_to_cells(float* cells, const float* nodes, float dt, int n) {
  int x = blockIdx.x * 32 + threadIdx.x;
  int y = blockIdx.y * 8 + threadIdx.y;
  float v = nodes[y * (n + 1) + x];  // cause: nodes_to_cells
  cells[y * n + x] = v - dt * v * v;
}

// ---------------------------------------------------------------- signal processing: FIR filter,
// 17 taps
__constant__ float taps[17] = {.01f, .02f, .03f, .04f, .06f, .08f, .1f,  .11f, .1f,
                               .11f, .1f,  .08f, .06f, .04f, .03f, .02f, .01f};

__global__ void fir_direct(float* filtered, const float* samples, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int k = 0; k < 17; ++k) {
    sum += taps[k] * samples[i + k];  // cause: fir_direct
  }
  filtered[i] = sum;
}

// ---------------------------------------------------------------- image processing: 5 x 5 mean and
// contrast
__global__ void local_contrast(float* contrast, const float* image, int width, int pitch) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  float low = 1e30f, high = -1e30f;
  for (int dy = 0; dy < 5; ++dy)
    for (int dx = 0; dx < 5; ++dx) {
      float p = image[(y + dy) * pitch + x + dx];  // cause: local_contrast
      low = fminf(low, p);
      high = fmaxf(high, p);
    }
  contrast[y * width + x] = high - low;
}

// ---------------------------------------------------------------- machine learning: dense layer 32
// -> 32, a warp per sample
__global__ void dense_layer(float* activation, const float* __restrict__ input,
                            const float* __restrict__ weights) {
  int sample = blockIdx.x * blockDim.y + threadIdx.y;
  int unit = threadIdx.x;
  float mine = input[sample * 32 + unit];
  float sum = 0.0f;
  for (int k = 0; k < 32; ++k) {
    float w = weights[k * 32 + unit];  // cause: dense_layer
    sum = fmaf(w, __shfl_sync(0xffffffffu, mine, k), sum);
  }
  activation[sample * 32 + unit] = fmaxf(sum, 0.0f);
}

// ---------------------------------------------------------------- physics: discrete ordinates,
// moments -> angular flux
__constant__ float legendre[16][8] = {{1, 1, 1, 1, 1, 1, 1, 1},
                                      {.9f, .7f, .5f, .2f, -.2f, -.5f, -.7f, -.9f}};

__global__ void angular_flux(float* psi, const float* phi, int cells) {
  int cell = blockIdx.x * 32 + threadIdx.x;
  int angle = threadIdx.y;
  float flux = 0.0f;
  for (int l = 0; l < 16; ++l) {
    flux += legendre[l][angle] * phi[l * cells + cell];  // cause: angular_flux
  }
  psi[angle * cells + cell] = flux;
}

// ---------------------------------------------------------------- physics: potential of some
// charges at many points
__global__ void potential(float* v, const float* px, const float* py, const float* charges,
                          int count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = px[i], y = py[i], sum = 0.0f;
  for (int j = 0; j < count; ++j) {
    float dx = x - charges[3 * j];      // cause: potential
    float dy = y - charges[3 * j + 1];  // cause: potential
    float q = charges[3 * j + 2];       // cause: potential
    sum += q * rsqrtf(dx * dx + dy * dy + 1e-3f);
  }
  v[i] = sum;
}

// ---------------------------------------------------------------- signal processing: a tone for
// each channel
__global__ void synthesize(float* wave, const float* amplitude, float omega, int channels,
                           int steps) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= channels) return;
  for (int k = 0; k < steps; ++k) {
    wave[k * channels + c] = amplitude[c] * __sinf(omega * k);  // cause: synthesize
  }
}

// ---------------------------------------------------------------- image processing: sum of the
// bands of a hyperspectral image
__global__ void sum_of_bands(float* total, const float* bands, int pixels, int count) {
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= pixels) return;
  float sum = 0.0f;
  for (int b = 0; b < count; ++b) {
    sum += bands[b * pixels + p];
    total[p] = sum;  // cause: sum_of_bands
  }
}

// ---------------------------------------------------------------- text: capitals
__global__ void to_upper(char* upper, const char* text, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    char c = text[i];                                // cause: to_upper
    upper[i] = (c >= 'a' && c <= 'z') ? c - 32 : c;  // cause: to_upper
  }
}

// ---------------------------------------------------------------- signal processing: mix two
// tracks of 16 bits
__global__ void mix_tracks(short* mix, const short* left, const short* right, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int s = left[i] + right[i];                  // cause: mix_tracks
    mix[i] = (short)max(-32768, min(32767, s));  // cause: mix_tracks
  }
}

// ---------------------------------------------------------------- physics: two species, every
// other particle
__global__ void two_species(float* energy, const float* momentum, int steps, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float p = momentum[i];
  if (i % 2 == 0) {                         // cause: two_species
    for (int s = 0; s < steps; ++s)         // cause: two_species
      p = sqrtf(p * p + 1.0f) - 0.25f * p;  // cause: two_species
  } else {                                  // cause: two_species
    for (int s = 0; s < steps; ++s)         // cause: two_species
      p = __expf(-0.5f * p) + 0.1f * p;     // cause: two_species
  }
  energy[i] = p;
}

// ---------------------------------------------------------------- physics: photons, of which one
// in eight is alive
__global__ void step_photons(float* depth, const float* energy, const int* state, int steps,
                             int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float e = energy[i];
  float d = 0.0f;
  if (state[i] == 0) {                      // cause: step_photons
    for (int s = 0; s < steps; ++s) {       // cause: step_photons
      float mu = 0.2f + 0.8f * __expf(-e);  // cause: step_photons
      d += 1.0f / mu;                       // cause: step_photons
      e *= 0.97f;                           // cause: step_photons
    }
  }
  depth[i] = d;
}

// ---------------------------------------------------------------- statistics: sum of a block,
// neighbours first
__global__ void sum_blocks(float* sums, const float* values) {
  __shared__ float part[256];
  int t = threadIdx.x;
  part[t] = values[blockIdx.x * 256 + t];
  __syncthreads();
  for (int s = 1; s < 256; s *= 2) {
    if (t % (2 * s) == 0) {    // cause: sum_blocks
      part[t] += part[t + s];  // cause: sum_blocks
    }
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = part[0];
}

// ---------------------------------------------------------------- linear algebra: dot product
__global__ void dot_product(float* result, const float* a, const float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(result, a[i] * b[i]);  // cause: dot_product
}

// ---------------------------------------------------------------- genetics: composition of a
// sequence
__global__ void count_bases(unsigned* counts, const int* sequence, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int base = sequence[i];
    atomicAdd(&counts[base], 1u);  // cause: count_bases
  }
}

// ---------------------------------------------------------------- genetics: consensus of a column
// of an alignment
__global__ void consensus(int* letter, const int* alignment, int depth, int n) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= n) return;
  int seen[20];
  for (int a = 0; a < 20; ++a) seen[a] = 0;  // cause: consensus
  for (int d = 0; d < depth; ++d) {
    int a = alignment[d * n + column];
    seen[a]++;  // cause: consensus
  }
  int best = 0, most = -1;
  for (int a = 0; a < 20; ++a)
    if (seen[a] > most) {  // cause: consensus
      most = seen[a];      // cause: consensus
      best = a;
    }
  letter[column] = best;
}

// ---------------------------------------------------------------- statistics: many recursions at
// once, few registers
__global__ void __launch_bounds__(128, 16)
    filter_bank(float* response, const float* x, int steps, int n) {
  int i = blockIdx.x * 128 + threadIdx.x;
  float acc[40];
#pragma unroll
  for (int m = 0; m < 40; ++m) acc[m] = 0.01f * m;  // cause: filter_bank
#pragma unroll 1
  for (int s = 0; s < steps; ++s) {
    float v = x[s * n + i];
#pragma unroll
    for (int m = 0; m < 40; ++m) acc[m] = fmaf(acc[m], v, 0.5f + 0.125f * m);  // cause: filter_bank
  }
  float sum = 0.0f;
#pragma unroll
  for (int m = 0; m < 40; ++m) sum = sum * 0.9f + acc[m];  // cause: filter_bank
  response[i] = sum;
}

// ---------------------------------------------------------------- signal processing: frames
// backwards, with much scratch
__global__ void reverse_frames(float* backwards, const float* signal, int frames) {
  extern __shared__ float scratch[];
  for (int f = blockIdx.x; f < frames; f += gridDim.x) {
    scratch[threadIdx.x] = signal[f * 128 + threadIdx.x];
    __syncthreads();
    backwards[f * 128 + threadIdx.x] = scratch[127 - threadIdx.x];
    __syncthreads();
  }
}

// ---------------------------------------------------------------- machine learning: step of
// gradient descent, 12 blocks
__global__ void sgd_step(float* weight, const float* gradient, float rate, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    weight[i] -= rate * gradient[i];
}

// ---------------------------------------------------------------- finance: European calls, blocks
// of 40
__device__ __forceinline__ float normal_cdf(float d) {
  float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  float tail =
      0.39894228f * __expf(-0.5f * d * d) * k *
      (0.31938153f + k * (-0.35656378f + k * (1.7814779f + k * (-1.8212559f + k * 1.3302744f))));
  return d > 0 ? 1.0f - tail : tail;
}

__global__ void price_calls(float* price, const float* spot, const float* strike, float rate,
                            float sigma, float years, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s = spot[i], k = strike[i];
  float root = sigma * sqrtf(years);
  float d1 = (__logf(s / k) + (rate + 0.5f * sigma * sigma) * years) / root;
  price[i] = s * normal_cdf(d1) - k * __expf(-rate * years) * normal_cdf(d1 - root);
}

// ---------------------------------------------------------------- physics: logistic maps, a wave
// and eight blocks
__global__ void logistic_maps(float* state, float r, int steps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = state[i];
#pragma unroll 1
  for (int s = 0; s < steps; ++s) x = r * x * (1.0f - x);
  state[i] = x;
}

// ---------------------------------------------------------------- finance: mean reversion of a
// variance
__global__ void mean_reversion(float* variance, const float* noise, float dt, int steps, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = variance[i], z = noise[i];
  for (int s = 0; s < steps; ++s) {
    v = v + 1.5 * (0.04 - v) * dt + 0.3 * z * dt;  // cause: mean_reversion
  }
  variance[i] = v;
}

// ---------------------------------------------------------------- machine learning: sigmoid
__global__ void sigmoid(float* y, const float* x, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    y[i] = 1.0 / (1.0 + expf(-x[i]));  // cause: sigmoid
  }
}
