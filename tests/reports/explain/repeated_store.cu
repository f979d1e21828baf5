// SPDX-License-Identifier: MIT
// Kernels whose one fault is a store that later ones of the block cover before anybody has read it.
// Rewritten, the last one is made.
// The sum goes to memory in every round: in might be out.
__global__ void sum_stored_each_round(float* out, const float* in, int n, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < rounds; k++) {
    sum += in[k * n + i];
    out[i] = sum;  // cause: sum_stored_each_round
  }
}

__global__ void sum_stored_once(float* out, const float* in, int n, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < rounds; k++) sum += in[k * n + i];
  out[i] = sum;
}

// A product that is stored after each of its steps, which a barrier keeps apart: others may look
// at c meanwhile, for all that the compiler knows. (With __restrict__ it stores once.)
template <int width>
__global__ void product_stored_each_step(float* c, const float* __restrict__ a,
                                         const float* __restrict__ b, unsigned n, unsigned depth) {
  __shared__ float rows[width][width], columns[width][width];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned column = blockIdx.x * width + x, row = blockIdx.y * width + y;
  float sum = 0;
  for (unsigned step = 0; step < depth; step += width) {
    rows[y][x] = a[row * depth + step + x];
    columns[y][x] = b[(step + y) * n + column];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < width; ++k) sum += rows[y][k] * columns[k][x];
    c[row * n + column] = sum;  // cause: product_stored_each_step
    __syncthreads();
  }
}

template <int width>
__global__ void product_stored_once(float* __restrict__ c, const float* __restrict__ a,
                                    const float* __restrict__ b, unsigned n, unsigned depth) {
  __shared__ float rows[width][width], columns[width][width];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned column = blockIdx.x * width + x, row = blockIdx.y * width + y;
  float sum = 0;
  for (unsigned step = 0; step < depth; step += width) {
    rows[y][x] = a[row * depth + step + x];
    columns[y][x] = b[(step + y) * n + column];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < width; ++k) sum += rows[y][k] * columns[k][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

// Every thread says that the block was there.
__global__ void flag_by_all(float* out, const float* in, int* done) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = 2 * in[i];
  done[blockIdx.x] = 1;  // cause: flag_by_all
}

__global__ void flag_by_one(float* out, const float* in, int* done) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = 2 * in[i];
  if (threadIdx.x == 0) done[blockIdx.x] = 1;
}

// Every warp stores the sum of the block.
template <int threads>
__global__ void sum_by_all(float* __restrict__ sums, const float* __restrict__ in) {
  __shared__ float parts[threads / 32];
  float sum = in[blockIdx.x * threads + threadIdx.x];
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    sum += __shfl_xor_sync(~0u, sum, distance);
  }
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  float total = 0;
#pragma unroll
  for (int warp = 0; warp < threads / 32; ++warp) total += parts[warp];
  sums[blockIdx.x] = total;  // cause: sum_by_all
}

// A result that is cleared first.
__global__ void cleared_first(float* out, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = 0;  // cause: cleared_first
  float sum = 0;
  for (int k = 0; k < 4; k++) sum += in[k * n + i];
  out[i] = sum;
}

// ---- nothing is wrong with these

// A neighbour reads each stored value before it is stored over; and what is loaded again was stored
// by one meanwhile.
__global__ void steps_of_neighbours(float* cells, int steps) {
  float* from = cells + blockIdx.x * 512;
  float* to = from + 256;
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    to[threadIdx.x] = 0.5f * from[threadIdx.x ^ 1];
    __syncthreads();
    float* other = from;
    from = to;
    to = other;
  }
}

// The host looks on.
__global__ void progress(volatile int* state, float* out, const float* in, int n, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < rounds; k++) {
    out[k * n + i] = in[k * n + i] + 1;
    state[i] = k;
  }
}

// Doubles that are kept, and no arithmetic of them.
__global__ void kept_as_double(float* out, const float* in) {
  __shared__ double kept[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  kept[threadIdx.x] = in[i];
  __syncthreads();
  out[i] = static_cast<float>(kept[255 - threadIdx.x]);
}

// Every thread of the block clears all of its ten bins, word by word.
__global__ void clear_by_all(unsigned* bins, const unsigned* keys) {
  for (int b = 0; b < 10; b++) bins[blockIdx.x * 10 + b] = 0;  // cause: clear_by_all
  __syncthreads();
  const unsigned key = keys[blockIdx.x * blockDim.x + threadIdx.x];
  if (key < 10) bins[blockIdx.x * 10 + key] = key;
}
