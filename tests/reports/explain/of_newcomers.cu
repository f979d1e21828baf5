// SPDX-License-Identifier: MIT
// Games, maps, sensors, text and small libraries: one fault each.
#include <cuda_fp16.h>
#include <math.h>
#include <stdint.h>
// ---- shared memory

// The padding suits columns; an anti-diagonal of 33 words a row is one bank.
__global__ void anti_diagonal(const float* __restrict__ grid, float* __restrict__ sums, int n) {
  __shared__ float cell[32][33];
  const int column = blockIdx.x * 32 + threadIdx.x;
  for (int r = threadIdx.y; r < 32; r += 8) cell[r][threadIdx.x] = grid[r * n + column];
  __syncthreads();
  float sum = 0.0f;
  for (int k = 0; k < 8; ++k) {
    const int c = (int)threadIdx.y + k;
    sum += cell[threadIdx.x][(64 + c - (int)threadIdx.x) & 31];  // cause: anti_diagonal
  }
  sums[(blockIdx.x * 8 + threadIdx.y) * 32 + threadIdx.x] = sum;
}

struct Ray {
  float origin[3];
  float direction[3];
  float t;
  int hit;
};

__global__ void nearest_hit(const float* __restrict__ planes, float* __restrict__ depth) {
  __shared__ Ray rays[128];
  Ray& mine = rays[threadIdx.x];
  const int id = blockIdx.x * blockDim.x + threadIdx.x;
  mine.t = 1e30f;  // cause: nearest_hit
  for (int p = 0; p < 16; ++p) {
    const float d = planes[p] * (float)(id & 63);
    if (d < mine.t) mine.t = d;  // cause: nearest_hit
    __syncthreads();
  }
  depth[id] = rays[threadIdx.x ^ 1].t;  // cause: nearest_hit
}

template <int TILE>
__global__ void correlate_tiles(const float* __restrict__ a, const float* __restrict__ b,
                                float* __restrict__ out, int pitch) {
  extern __shared__ float smem[];
  float* const left = smem;
  float* const right = smem + TILE * TILE;
  const int x = threadIdx.x, y = threadIdx.y;
  const int at = (blockIdx.y * TILE + y) * pitch + blockIdx.x * TILE + x;
  left[y * TILE + x] = a[at];
  right[y * TILE + x] = b[at];
  __syncthreads();
  float sum = 0.0f;
  for (int k = 0; k < TILE; ++k)
    sum += left[y * TILE + k] * right[x * TILE + k];  // cause: correlate_tiles
  out[at] = sum;
}

__global__ void covariance16(const double* __restrict__ in, double* __restrict__ out) {
  __shared__ double m[16][16];
  const double* const block = in + (size_t)blockIdx.x * 256;
  m[threadIdx.y][threadIdx.x] = block[threadIdx.y * 16 + threadIdx.x];
  __syncthreads();
  double sum = 0;
#pragma unroll 4
  for (int k = 0; k < 16; ++k) sum += m[threadIdx.x][k] * m[threadIdx.y][k];  // cause: covariance16
  out[(size_t)blockIdx.x * 256 + threadIdx.y * 16 + threadIdx.x] = sum;
}

__global__ void turn_pixels(const uchar4* __restrict__ in, uchar4* __restrict__ out, int w, int h) {
  __shared__ uchar4 px[32][32];
  const int x0 = blockIdx.x * 32, y0 = blockIdx.y * 32;
  for (int j = threadIdx.y; j < 32; j += 8)
    px[j][threadIdx.x] = in[(y0 + j) * w + x0 + threadIdx.x];
  __syncthreads();
  for (int j = threadIdx.y; j < 32; j += 8)
    out[(x0 + j) * h + y0 + threadIdx.x] = px[threadIdx.x][j];  // cause: turn_pixels
}

// ---- how lanes lie in global memory

struct Body {
  float3 position;
  float mass;
  float3 velocity;
  float charge;
  int kind, group, pad[2];
};

__global__ void total_mass(const Body* __restrict__ bodies, float* __restrict__ sums, int count) {
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    sum += bodies[i].mass;  // cause: total_mass
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void scale_matrix(float* __restrict__ m, int ld, float s) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int col = blockIdx.y * blockDim.y + threadIdx.y;
  m[row * ld + col] *= s;  // cause: scale_matrix
}

__global__ void sum_of_chunks(const int* data, int* sums, int per_thread) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  const int* p = data + t * per_thread;
  int s = 0;
#pragma unroll 1
  for (const int* end = p + per_thread; p != end; ++p) s += *p;  // cause: sum_of_chunks
  sums[t] = s;
}

__global__ void real_parts(const float* __restrict__ spectrum, float* __restrict__ power, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) power[i] = spectrum[4 * i] * spectrum[4 * i];  // cause: real_parts
}

template <class T>
__global__ void clamp_volume(T* __restrict__ v, int nx, int ny, T low, T high) {
  const int z = threadIdx.x, x = blockIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  T& voxel = v[(z * ny + y) * nx + x];
  voxel = voxel < low ? low : voxel > high ? high : voxel;  // cause: clamp_volume
}

__device__ unsigned mixed(unsigned k) {
  k ^= k >> 16;
  k *= 0x7feb352du;
  k ^= k >> 15;
  k *= 0x846ca68bu;
  return k ^ (k >> 16);
}

__global__ void look_up(const int* __restrict__ keys, const int* __restrict__ table,
                        int* __restrict__ values, unsigned mask) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  values[i] = table[mixed(keys[i]) & mask];  // cause: look_up
}

__global__ void place_by_rank(const float* __restrict__ in, const int* __restrict__ rank,
                              float* __restrict__ out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[rank[i]] = in[i];  // cause: place_by_rank
}

__global__ void with_border(const float* __restrict__ in, float* __restrict__ out, int pitch) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x + 1;
  const int y = blockIdx.y * blockDim.y + threadIdx.y + 1;
  out[y * pitch + x] = 2.0f * in[y * pitch + x];  // cause: with_border
}

__global__ void after_header(const int* __restrict__ message, int* __restrict__ payload,
                             int header) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  payload[i] = message[header + i] + 1;  // cause: after_header
}

// ---- fetched or stored again

__global__ void smooth_signal(const float* __restrict__ x, float* __restrict__ y, int radius,
                              int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int k = 0; k < 2 * radius; ++k) sum += x[i + k];  // cause: smooth_signal
  y[i] = sum / (float)(2 * radius);
}

__global__ void disparity(const unsigned char* __restrict__ left,
                          const unsigned char* __restrict__ right, int* __restrict__ cost, int w) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  int best = 1 << 30;
  const int own = left[y * w + x];
#pragma unroll 1
  for (int d = 0; d < 32; ++d) {
    const int off = own - right[y * w + x + d];  // cause: disparity
    best = min(best, off * off);
  }
  cost[y * w + x] = best;
}

// A row of the result each warp, all of them of the same columns.
__global__ void rows_times_matrix(const float* __restrict__ a, const float* __restrict__ b,
                                  float* __restrict__ c, int n, int k) {
  const int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];  // cause: rows_times_matrix
  c[row * n + col] = sum;
}

__global__ void assign_clusters(const float* __restrict__ points, const float* __restrict__ centres,
                                int* __restrict__ label, int clusters) {
  const int lane = threadIdx.x & 31, point = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
  const float mine = points[point * 32 + lane];
  float best = 1e30f;
  int which = 0;
  for (int c = 0; c < clusters; ++c) {
    const float off = mine - centres[c * 32 + lane];  // cause: assign_clusters
    float d = off * off;
    for (int s = 16; s > 0; s >>= 1) d += __shfl_xor_sync(~0u, d, s);
    if (d < best) {
      best = d;
      which = c;
    }
  }
  if (lane == 0) label[point] = which;
}

struct Settings {
  float gain, bias, low, high;
};

__global__ void tone_map(float* image, const Settings* settings, int rows, int pitch) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
  for (int y = 0; y < rows; ++y) {
    float v = image[y * pitch + x] * settings->gain + settings->bias;  // cause: tone_map
    v = fminf(fmaxf(v, settings->low), settings->high);                // cause: tone_map
    image[y * pitch + x] = v;
  }
}

__global__ void bin_of_each(const float* values, const float* edges, int* bins, int items) {
  const int stride = gridDim.x * blockDim.x;
  int at = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
  for (int k = 0; k < items; ++k, at += stride) {
    const float v = values[at];
    int bin = 0;
#pragma unroll 1
    for (int e = 0; e < 12; ++e) bin += v >= edges[e];  // cause: bin_of_each
    bins[at] = bin;
  }
}

__global__ void best_so_far(const float* in, float* best, int rounds, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float top = -1e30f;
#pragma unroll 1
  for (int k = 0; k < rounds; ++k) {
    top = fmaxf(top, in[k * n + i]);
    best[i] = top;  // cause: best_so_far
  }
}

__global__ void clear_then_count(const int* __restrict__ in, int* hits, int rounds, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int count = 0;
#pragma unroll 1
  for (int k = 0; k < rounds; ++k) {
    hits[2 * n - 1 - i] = 0;  // cause: clear_then_count
    count += in[k * n + i] > 0;
    __syncthreads();
  }
  hits[2 * n - 1 - i] = count;  // cause: clear_then_count
}

// ---- narrow

__global__ void change_volume(const short* __restrict__ in, short* __restrict__ out, int level,
                              int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = (short)((in[i] * level) >> 8);  // cause: change_volume
}

struct Sample {
  float left, right;
};

__global__ void mid_and_side(const Sample* in, Sample* out, float width) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float l = in[i].left;   // cause: mid_and_side
  out[i].left = l * width;      // cause: mid_and_side
  const float r = in[i].right;  // cause: mid_and_side
  out[i].right = r * width;     // cause: mid_and_side
}

// ---- lanes that wait

__global__ void alternate(float* data, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = data[i];
  if (i & 1) {  // cause: alternate
#pragma unroll 1
    for (int k = 0; k < rounds; ++k) x = x * 0.999f + 0.001f;
  } else {
#pragma unroll 1
    for (int k = 0; k < rounds; ++k) x = sqrtf(x * x + 1.0f);
  }
  data[i] = x;
}

__global__ void run_agents(float* energy, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float e = energy[i];
  switch (threadIdx.x & 3) {  // cause: run_agents
    case 0:
#pragma unroll 1
      for (int k = 0; k < steps; ++k) e = fmaf(e, 0.5f, 1.0f);
      break;
    case 1:
#pragma unroll 1
      for (int k = 0; k < steps; ++k) e = e / (1.0f + e * e);
      break;
    case 2:
#pragma unroll 1
      for (int k = 0; k < steps; ++k) e = rsqrtf(e * e + 0.1f);
      break;
    default:
#pragma unroll 1
      for (int k = 0; k < steps; ++k) e = fabsf(e - 0.25f);
  }
  energy[i] = e;
}

__global__ void until_accepted(const unsigned* __restrict__ seeds, int* __restrict__ tries) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned s = seeds[i];
  int n = 0;
  do {
    s = s * 1664525u + 1013904223u;
    ++n;
  } while ((s >> 24) > 20 && n < 200);  // cause: until_accepted
  tries[i] = n;
}

// ---- atomics

struct Statistics {
  int seen, accepted;
  float largest;
};

__global__ void count_accepted(const float* __restrict__ in, Statistics* statistics, float limit) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int bits = __float_as_int(fabsf(in[i]) * limit);
  atomicMax((int*)&statistics->largest, bits);  // cause: count_accepted
}

__global__ void votes_of_four(const unsigned* __restrict__ ballots, int* __restrict__ totals) {
  __shared__ int box[4];
  if (threadIdx.x < 4) box[threadIdx.x] = 0;
  __syncthreads();
  for (int k = 0; k < 8; ++k) {
    const unsigned b = ballots[(blockIdx.x * 8 + k) * blockDim.x + threadIdx.x];
    atomicAdd(&box[b & 3], (int)(b >> 2 & 1));  // cause: votes_of_four
  }
  __syncthreads();
  if (threadIdx.x < 4) totals[blockIdx.x * 4 + threadIdx.x] = box[threadIdx.x];
}

__global__ void sum_by_country(const int* __restrict__ country, const float* __restrict__ sales,
                               float* __restrict__ sums) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&sums[country[i]], sales[i]);  // cause: sum_by_country
}

// ---- a thread's own memory

__global__ void reverse_polish(const int* __restrict__ code, const float* __restrict__ x,
                               float* __restrict__ y, int length) {
  float stack[24];
  int top = 0;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  stack[0] = x[i];  // cause: reverse_polish
#pragma unroll 1
  for (int k = 0; k < length; ++k) {
    const int op = code[k];
    if (op < 3 && top < 23) {
      ++top;
      stack[top] = x[i] + (float)op;  // cause: reverse_polish
    } else if (top > 0) {
      --top;
      stack[top] += stack[top + 1];  // cause: reverse_polish
    }
  }
  y[i] = stack[top];  // cause: reverse_polish
}

__global__ void most_frequent(const int* __restrict__ in, int* __restrict__ out, int items, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int counts[10] = {};
#pragma unroll 1
  for (int k = 0; k < items; ++k) ++counts[in[k * n + i]];  // cause: most_frequent
  int best = 0;
  for (int d = 1; d < 10; ++d)
    if (counts[d] > counts[best]) best = d;  // cause: most_frequent
  out[i] = best;
}

// ---- the launch's shape

__global__ void filter_in_tile(const float* __restrict__ in, float* __restrict__ out) {
  extern __shared__ float window[];
  const int base = blockIdx.x * 1024;
  for (int k = threadIdx.x; k < 1024; k += blockDim.x) window[k] = in[base + k];
  __syncthreads();
  for (int k = threadIdx.x; k < 1024; k += blockDim.x)
    out[base + k] = 0.5f * window[k] + 0.5f * window[(k + 1) & 1023];
}

__global__ void step_springs(float* __restrict__ x, float* __restrict__ v, float dt, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float a = -x[i];
    v[i] += dt * a;
    x[i] += dt * v[i];
  }
}

__global__ void add_tiles(const float* __restrict__ a, const float* __restrict__ b,
                          float* __restrict__ c, int w) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  c[y * w + x] = a[y * w + x] + b[y * w + x];
}

__global__ void waveform(float* __restrict__ out, float step, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float phase = step * (float)i, sum = 0.0f;
#pragma unroll 1
  for (int k = 0; k < rounds; ++k) {
    sum = fmaf(sum, 0.5f, phase);
    phase = phase * 0.99f + 0.01f;
  }
  out[i] = sum;
}

// ---- doubles

__global__ void to_radians(const float* __restrict__ degrees, float* __restrict__ radians, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) radians[i] = degrees[i] * 3.14159265 / 180;  // cause: to_radians
}

__global__ void relax_grid(const float* __restrict__ in, float* __restrict__ out, int pitch) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  const int at = y * pitch + x;
  const float v = in[at];
  float w = v;
  for (int k = 0; k < 4; ++k) w = 0.9 * w + 0.1;  // cause: relax_grid
  out[at] = w;
}

__global__ void gaussian(float* __restrict__ x, float sigma) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float v = x[i] / sigma;
  x[i] = exp(-0.5 * v * v);  // cause: gaussian
}
