// SPDX-License-Identifier: MIT
// Shared memory, and a barrier that is not where it has to be. "!": has to be found, "?!": may be
// (README.md).
#define THREADS 128
__global__ void reverse_without_barrier(float* out, const float* in) {
  __shared__ float tile[THREADS];
  const int t = threadIdx.x, i = blockIdx.x * THREADS + t;
  tile[t] = in[i];                 // ! shared-memory race
  out[i] = tile[THREADS - 1 - t];  // ! shared-memory race ?! uninitialised read
}

__global__ void sum_without_barrier_in_loop(float* out, const float* in) {
  __shared__ float sums[THREADS];
  const int t = threadIdx.x;
  sums[t] = in[blockIdx.x * THREADS + t];
  __syncthreads();
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (t < half) sums[t] += sums[t + half];  // ! shared-memory race
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

// Every chunk is loaded over the one before, which others may still be reading.
__global__ void chunks_without_second_barrier(float* out, const float* in, int chunks) {
  __shared__ float chunk[THREADS];
  const int t = threadIdx.x;
  float sum = 0;
  for (int c = 0; c < chunks; ++c) {
    chunk[t] = in[c * THREADS + t];  // ! shared-memory race
    __syncthreads();
    for (int k = 1; k < 8; ++k) {
      sum += k * chunk[(t + 16 * k) % THREADS];  // ! shared-memory race
    }
  }
  out[blockIdx.x * THREADS + t] = sum;
}

// The barrier stands at the end of the loop alone.
template <int side>
__global__ void product_without_first_barrier(float* c, const float* a, const float* b) {
  __shared__ float tile_a[side][side], tile_b[side][side];
  const int x = threadIdx.x, y = threadIdx.y;
  float sum = 0;
  for (int tile = 0; tile < 2; ++tile) {
    tile_a[y][x] = a[y * 2 * side + tile * side + x];  // ! shared-memory race
    tile_b[y][x] = b[(tile * side + y) * side + x];    // ! shared-memory race
    for (int k = 0; k < side; ++k) {
      sum += tile_a[y][k] * tile_b[k][x];  // ! shared-memory race ?! uninitialised read
    }
    __syncthreads();
  }
  c[y * side + x] = sum;
}
template __global__ void product_without_first_barrier<16>(float*, const float*, const float*);

__global__ void smooth_shared_in_place(float* out, const float* in, int rounds) {
  __shared__ float line[THREADS];
  const int t = threadIdx.x;
  line[t] = in[blockIdx.x * THREADS + t];
  __syncthreads();
  for (int round = 0; round < rounds; ++round) {
    if (t > 0 && t < THREADS - 1) {
      line[t] = (line[t - 1] + line[t] + line[t + 1]) / 3;  // ! shared-memory race
    }
    __syncthreads();
  }
  out[blockIdx.x * THREADS + t] = line[t];
}

// One barrier a round is enough for two buffers, one in two rounds is not.
__global__ void two_buffers_barrier_every_other_round(float* out, const float* in) {
  __shared__ float line[2][THREADS];
  const int t = threadIdx.x;
  int from = 0;
  line[0][t] = in[blockIdx.x * THREADS + t];
  __syncthreads();
  for (int round = 0; round < 6; ++round) {
    const int other = (t + 33) % THREADS;
    const float next = line[from][other];      // ! shared-memory race ?! uninitialised read
    line[1 - from][t] = line[from][t] + next;  // ! shared-memory race
    from = 1 - from;
    if (round % 2 == 1) __syncthreads();
  }
  out[blockIdx.x * THREADS + t] = line[from][t];
}

// The next data goes into the buffer that is being read.
__global__ void fetched_into_the_buffer_in_use(float* out, const float* in, int chunks) {
  __shared__ float buffers[2][THREADS];
  const int t = threadIdx.x;
  float sum = 0;
  buffers[0][t] = in[t];
  buffers[1][t] = 0;
  __syncthreads();
  for (int c = 0; c < chunks; ++c) {
    if (c + 1 < chunks) buffers[c & 1][t] = in[(c + 1) * THREADS + t];  // ! shared-memory race
    sum += buffers[c & 1][(t + 64) % THREADS];                          // ! shared-memory race
    __syncthreads();
  }
  out[blockIdx.x * THREADS + t] = sum;
}

__global__ void histogram_without_barrier_after_clearing(unsigned* out, const unsigned* in) {
  __shared__ unsigned bins[64];
  const int t = threadIdx.x;
  if (t < 64) bins[t] = 0;  // ! shared-memory race
  const unsigned bin = in[blockIdx.x * THREADS + t] % 64;
  atomicAdd(&bins[bin], 1u);  // ! shared-memory race ?! uninitialised read
  __syncthreads();
  if (t < 64) atomicAdd(&out[t], bins[t]);
}

__global__ void histogram_without_barrier_before_reading(unsigned* out, const unsigned* in) {
  __shared__ unsigned bins[64];
  const int t = threadIdx.x;
  if (t < 64) bins[t] = 0;
  __syncthreads();
  atomicAdd(&bins[in[blockIdx.x * THREADS + t] % 64], 1u);  // ! shared-memory race
  if (t >= 64) atomicAdd(&out[t - 64], bins[t - 64]);       // ! shared-memory race
}

__global__ void mean_without_barrier_after_broadcast(float* out, const float* in, int n) {
  __shared__ float mean;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) {
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += in[k];
    mean = sum / n;  // ! shared-memory race
  }
  out[i] = in[i] - mean;  // ! shared-memory race ?! uninitialised read
}

__global__ void largest_by_plain_comparison(int* out, const int* in) {
  __shared__ int largest;
  const int v = in[blockIdx.x * THREADS + threadIdx.x];
  if (threadIdx.x == 0) largest = 0;
  __syncthreads();
  if (v >= largest) largest = v;  // ! shared-memory race
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = largest;
}

// With equal numbers all write the same, which is a remark.
// fills: iota, random
__global__ void one_place_for_all(float* out, const float* in) {
  __shared__ float kept;
  kept = in[blockIdx.x * THREADS + threadIdx.x];  // ! shared-memory race
  __syncthreads();
  out[blockIdx.x * THREADS + threadIdx.x] = kept;
}

__global__ void count_reset_without_barrier(int* out, const int* in, int rounds) {
  __shared__ int count;
  const int t = threadIdx.x;
  int sum = 0;
  for (int round = 0; round < rounds; ++round) {
    if (t == 0) count = 0;  // ! shared-memory race
    __syncthreads();
    if (in[round * THREADS + t] >= 0) atomicAdd(&count, 1);
    __syncthreads();
    sum += count;  // ! shared-memory race
  }
  out[blockIdx.x * THREADS + t] = sum;
}

// Read, barrier, write takes two barriers a round; here is one.
__global__ void scan_with_one_barrier_a_round(int* out, const int* in) {
  __shared__ int sums[THREADS];
  const int t = threadIdx.x;
  sums[t] = in[blockIdx.x * THREADS + t];
  __syncthreads();
  for (int distance = 1; distance < THREADS; distance *= 2) {
    if (t >= distance) sums[t] += sums[t - distance];  // ! shared-memory race
    __syncthreads();
  }
  out[blockIdx.x * THREADS + t] = sums[t];
}

// Two threads share a bin only where their numbers say so.
// fills: zeros, 1, random
__global__ void bins_counted_without_atomics(unsigned* out, const unsigned* in) {
  __shared__ unsigned bins[THREADS];
  const int t = threadIdx.x;
  bins[t] = 0;
  __syncthreads();
  bins[in[blockIdx.x * THREADS + t] % THREADS] += 1;  // ! shared-memory race
  __syncthreads();
  out[blockIdx.x * THREADS + t] = bins[t];
}

// The barrier is there, but only where the number is odd, and all of a block have the same number.
// fills: zeros, iota
__global__ void barrier_where_a_flag_says(int* out, const int* in) {
  __shared__ int kept[THREADS];
  const int t = threadIdx.x;
  kept[t] = t;  // ! shared-memory race
  if (in[0] & 1) __syncthreads();
  const int other = (t + 40) % THREADS;
  out[blockIdx.x * THREADS + t] = kept[other];  // ! shared-memory race ?! uninitialised read
}
