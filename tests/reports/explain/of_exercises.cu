// SPDX-License-Identifier: MIT
// Exercises of a course, each with one thing to be mended.
// ------------------------------------------------------------------ linear algebra

__global__ void row_sums(float* sums, const float* matrix, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float s = 0.0f;
  for (int c = 0; c < columns; c++) {
    s += matrix[row * columns + c];  // cause: row_sums
  }
  sums[row] = s;
}

__global__ void ell_times_vector(float* y, const float* values, const int* columns, const float* x,
                                 int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float s = 0.0f;
  for (int k = 0; k < 8; k++) {
    int column = columns[k * rows + row];
    float a = values[k * rows + row];
    s += a * x[column];  // cause: ell_times_vector
  }
  y[row] = s;
}

// Gauss with pivoting, a small system for each thread.
__global__ void solve_systems(float* x, const float* coefficients, const float* right, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float a[4][5];  // cause: solve_systems
  for (int r = 0; r < 4; r++) {
    for (int c = 0; c < 4; c++)
      a[r][c] = coefficients[(r * 4 + c) * n + i];  // cause: solve_systems
    a[r][4] = right[r * n + i];                     // cause: solve_systems
  }
  for (int c = 0; c < 4; c++) {
    int pivot = c;
    float largest = fabsf(a[c][c]);
    for (int r = c + 1; r < 4; r++) {
      float size = fabsf(a[r][c]);  // cause: solve_systems
      pivot = size > largest ? r : pivot;
      largest = fmaxf(size, largest);
    }
    for (int k = 0; k < 5; k++) {
      float t = a[pivot][k];  // cause: solve_systems
      a[pivot][k] = a[c][k];  // cause: solve_systems
      a[c][k] = t;            // cause: solve_systems
    }
    float inverse = __frcp_rn(a[c][c]);
    for (int r = 0; r < 4; r++) {
      float f = r == c ? 0.0f : a[r][c] * inverse;                  // cause: solve_systems
      for (int k = 0; k < 5; k++) a[r][k] = a[r][k] - f * a[c][k];  // cause: solve_systems
    }
  }
  for (int r = 0; r < 4; r++) x[r * n + i] = a[r][4] * __frcp_rn(a[r][r]);  // cause: solve_systems
}

__global__ void power_table(float* table, float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float power = 1.0f;
  for (int k = 0; k < 12; k++) {
    power *= x[i];  // cause: power_table
    table[k * n + i] = power;
  }
}

__global__ void dot_product(float* partial, const float* a, const float* b, int n) {
  __shared__ float sums[256];
  int t = threadIdx.x;
  float s = 0.0f;
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) s += a[i] * b[i];
  sums[t] = s;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) sums[t] += sums[t + half];
    __syncthreads();
  }
  if (t == 0) partial[blockIdx.x] = sums[0];
}

__global__ void largest_residual(int* worst, const float* before, const float* after) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float difference = fabsf(after[i] - before[i]);
  atomicMax(worst, __float_as_int(difference));  // cause: largest_residual
}

// ------------------------------------------------------------------ images

__global__ void rotate_90(float* rotated, const float* image, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  float pixel = image[y * width + x];
  rotated[x * height + (height - 1 - y)] = pixel;  // cause: rotate_90
}

// The mean of six frames, each a bit larger than what is wanted of it.
__global__ void stack_frames(float* mean, const float* frames, int pitch, int rows, int left,
                             int top) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y;
  float s = 0.0f;
  for (int f = 0; f < 6; f++) {
    s += frames[(f * rows + y + top) * pitch + x + left];  // cause: stack_frames
  }
  mean[y * (gridDim.x * blockDim.x) + x] = s / 6.0f;
}

__global__ void box_5x5(float* out, const float* image, int pitch) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  float s = 0.0f;
  for (int dy = 0; dy < 5; dy++)
    for (int dx = 0; dx < 5; dx++) s += image[(y + dy) * pitch + x + dx];  // cause: box_5x5
  out[y * (gridDim.x * blockDim.x) + x] = s * 0.04f;
}

__global__ void vertical_blur(float* out, const float* image, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  float s = 0.0f, weights = 0.0f;
  for (int k = 0; k < 9; k++) {
    float weight = 5.0f - fabsf(k - 4.0f);
    s += weight * image[(y + k) * width + x];  // cause: vertical_blur
    weights += weight;
  }
  out[y * width + x] = s / weights;
}

__global__ void paint(float* picture, const float* depth, float background) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  picture[i] = background;  // cause: paint
  __syncthreads();
  float d = depth[i];
  picture[i] = background + (1.0f - background) / (1.0f + d * d);
}

__global__ void quantise_levels(int* level, const float* brightness, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float b = brightness[i];
    level[i] = (int)(b * 15.0 + 0.5);  // cause: quantise_levels
  }
}

// ------------------------------------------------------------------ particles

struct Atom {
  float position[3];
  float velocity[3];
  float force[3];
  float mass;
  int kind;
  int molecule;
};

__global__ void kinetic_energy(float* energy, const Atom* atoms) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float* v = atoms[i].velocity;
  float vx = v[0], vy = v[1], vz = v[2];                             // cause: kinetic_energy
  energy[i] = 0.5f * atoms[i].mass * (vx * vx + vy * vy + vz * vz);  // cause: kinetic_energy
}

__global__ void pull_of_stars(float* pull, const float* place, const float4* stars, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = place[i], y = x * 0.5f, a = 0.0f;
#pragma unroll 4
  for (int j = 0; j < count; j++) {
    float4 s = stars[j];  // cause: pull_of_stars
    float dx = s.x - x, dy = s.y - y;
    float r2 = dx * dx + dy * dy + s.z;
    a += s.w * dx / r2;
  }
  pull[i] = a;
}

// ------------------------------------------------------------------ strings and sequences

__global__ void to_upper(char* text, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    char c = text[i];                             // cause: to_upper
    text[i] = c >= 'a' && c <= 'z' ? c - 32 : c;  // cause: to_upper
  }
}

// Mono of eight tracks.
__global__ void mix_down(float* mono, const short* tracks, int samples) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int s = 0;
  for (int track = 0; track < 8; track++) s += tracks[track * samples + i];  // cause: mix_down
  mono[i] = s * (1.0f / (8 * 32768));
}

// A pair of words of 32 letters for each block, the table along its diagonals.
__global__ void edit_distance(int* last_row, const int* first, const int* second) {
  __shared__ int table[33][33];
  __shared__ int word[32];
  int t = threadIdx.x;
  int letter = first[blockIdx.x * 32 + t];
  word[t] = second[blockIdx.x * 32 + t];
  table[0][t + 1] = t + 1;
  table[t + 1][0] = t + 1;
  if (t == 0) table[0][0] = 0;
  __syncthreads();
  int i = t + 1;
  for (int diagonal = 0; diagonal < 63; diagonal++) {
    int j = diagonal - t + 1;
    if (j >= 1 && j <= 32) {
      int change = table[i - 1][j - 1] + (letter != word[j - 1]);  // cause: edit_distance
      int other = min(table[i - 1][j], table[i][j - 1]) + 1;       // cause: edit_distance
      table[i][j] = min(change, other);                            // cause: edit_distance
    }
    __syncthreads();
  }
  last_row[blockIdx.x * 32 + t] = table[32][t + 1];
}

// Each thread its own knapsack of the same size.
__global__ void knapsack(int* value, const int* weights, const int* values, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int best[32];                                                 // cause: knapsack
  for (int c = 0; c < 32; c++) best[c] = c < 8 ? -1000000 : 0;  // cause: knapsack
#pragma unroll 1
  for (int item = 0; item < 6; item++) {
    int w = weights[item * n + i], v = values[item * n + i];
    for (int c = 31; c >= 8; c--) {
      best[c] = max(best[c], best[c - w] + v);  // cause: knapsack
    }
  }
  value[i] = best[31];
}

// ------------------------------------------------------------------ sorting and counting

// Every thread sorts a run of its own, before the runs are merged.
__global__ void sort_runs(float* sorted, const float* data, int run) {
  __shared__ float items[2048];
  int t = threadIdx.x;
  for (int k = t; k < run * 256; k += 256) items[k] = data[blockIdx.x * run * 256 + k];
  __syncthreads();
#pragma unroll 1
  for (int round = 0; round < run; round++) {
#pragma unroll 1
    for (int k = round & 1; k + 1 < run; k += 2) {
      float a = items[t * run + k];          // cause: sort_runs
      float b = items[t * run + k + 1];      // cause: sort_runs
      items[t * run + k] = fminf(a, b);      // cause: sort_runs
      items[t * run + k + 1] = fmaxf(a, b);  // cause: sort_runs
    }
  }
  __syncthreads();
  for (int k = t; k < run * 256; k += 256) sorted[blockIdx.x * run * 256 + k] = items[k];
}

__global__ void place_by_rank(float* ordered, const float* keys, const int* rank) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int r = rank[i];
  ordered[r] = keys[i];  // cause: place_by_rank
}

__global__ void votes(int* totals, const int* ballots, int n) {
  __shared__ int tally[8];
  if (threadIdx.x < 8) tally[threadIdx.x] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 8; k++) {
    int party = ballots[k * n + i];
    atomicAdd(&tally[party], 1);  // equal addresses add up: no fault
  }
  __syncthreads();
  if (threadIdx.x < 8) atomicAdd(&totals[threadIdx.x], tally[threadIdx.x]);
}

// A histogram of its own for each thread, so that no atomic is needed.
__global__ void private_histograms(int* counts, const unsigned* words) {
  __shared__ int bins[256 * 32];
  int t = threadIdx.x;
  for (int b = 0; b < 256; b++) bins[b * 32 + t] = 0;
  for (int k = 0; k < 64; k++) {
    unsigned w = words[(blockIdx.x * 64 + k) * 32 + t];
    for (int shift = 0; shift < 32; shift += 8) bins[((w >> shift) & 255) * 32 + t]++;
  }
  __syncthreads();
  for (int b = t; b < 256; b += 32) {
    int s = 0;
    for (int k = 0; k < 32; k++) s += bins[b * 32 + ((k + t) & 31)];
    counts[blockIdx.x * 256 + b] = s;
  }
}

// ------------------------------------------------------------------ finance and numbers

__global__ void collatz(int* steps, const int* start) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned v = start[i];
  int n = 0;
  while (v != 1 && n < 200) {            // cause: collatz
    v = v % 2 == 0 ? v / 2 : 3 * v + 1;  // cause: collatz
    n++;                                 // cause: collatz
  }
  steps[i] = n;
}

__global__ void price_by_kind(float* price, const float* spot, const int* kind, int steps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float s = spot[i], v = 0.0f;
  switch (kind[i]) {  // cause: price_by_kind
    case 0:
      for (int k = 0; k < steps; k++) v += expf(-0.05f * k) * s;  // cause: price_by_kind
      break;
    case 1:
      for (int k = 0; k < steps; k++) v = fmaxf(v * 0.97f, s - 0.1f * k);  // cause: price_by_kind
      break;
    case 2:
      for (int k = 0; k < steps; k++) v = sqrtf(v * v + s) * 0.9f + 0.01f;  // cause: price_by_kind
      break;
    default:
      for (int k = 0; k < steps; k++) v = logf(1.0f + v + s);  // cause: price_by_kind
  }
  price[i] = v;
}

__global__ void running_total(float* total, float* payments, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float s = 0.0f;
  for (int month = 0; month < 12; month++) {
    s += payments[month * n + i];
    total[i] = s;  // cause: running_total
  }
}

// Blocks of 72.
__global__ void compound_interest(float* balance, const float* rate, float deposit) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float r = rate[i], b = 100.0f;
  for (int month = 0; month < 36; month++) b += b * r + deposit;
  balance[i] = b;
}

// 528 blocks run at a time, the launch has 560.
__global__ void __launch_bounds__(512, 4) monte_carlo_pi(int* hits, unsigned seed) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned s = (i + seed) * 747796405u + 2891336453u;
  int inside = 0;
  for (int k = 0; k < 32; k++) {
    s ^= s << 13;
    s ^= s >> 17;
    s ^= s << 5;
    float x = (s & 65535) * (1.0f / 65536.0f), y = (s >> 16) * (1.0f / 65536.0f);
    inside += x * x + y * y < 1.0f ? 1 : 0;
  }
  hits[i] = inside;
}

__global__ void wind_chill(float* felt, const float* temperature, const float* wind) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float t = temperature[i];
  float p = sqrtf(wind[i]);
  felt[i] = 13.12 + 0.6215 * t - 11.37 * p + 0.3965 * t * p;  // cause: wind_chill
}
