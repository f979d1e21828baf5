// SPDX-License-Identifier: MIT
// Races of one block's threads on global memory. "!": has to be found, "?!": may be (README.md).
// This is everybody's first stencil. One block.
__global__ void average_of_neighbours_in_place(float* a, int n) {
  const int i = threadIdx.x;
  if (i > 0 && i < n - 1) a[i] = (a[i - 1] + a[i + 1]) / 2;  // ! global-memory race
}

__global__ void scan_in_place(int* a) {
  const int t = threadIdx.x;
  for (int distance = 1; distance < 128; distance *= 2) {
    if (t >= distance) a[t] += a[t - distance];  // ! global-memory race
    __syncthreads();
  }
}

// Where the next one goes is counted without an atomic.
__global__ void compaction_with_a_plain_counter(int* out, int* count, const int* in) {
  const int v = in[threadIdx.x];
  if (v >= 0) {
    const int place = *count;  // ! global-memory race
    *count = place + 1;        // ! global-memory race
    out[place] = v;            // ?! global-memory race, equal writes
  }
}

__global__ void offsets_read_before_they_are_there(int* out, int* offsets, const int* in, int n) {
  const int t = threadIdx.x;
  if (t == 0) {
    int sum = 0;
    for (int i = 0; i < n; ++i) {
      offsets[i] = sum;  // ! global-memory race
      sum += in[i];
    }
  }
  out[t] = offsets[t] * 2;  // ! global-memory race ?! uninitialised read
}

// Each block has a part of the scratch memory for itself; the warps of a block share it.
__global__ void scratch_between_warps(float* out, float* scratch, const float* in) {
  float* own = scratch + blockIdx.x * 64;
  const int t = threadIdx.x;
  own[t] = in[blockIdx.x * 64 + t] * 2;           // ! global-memory race
  out[blockIdx.x * 64 + t] = own[(t + 32) % 64];  // ! global-memory race ?! uninitialised read
}

__global__ void scratch_between_lanes(float* out, float* scratch, const float* in) {
  float* own = scratch + blockIdx.x * 32;
  const int lane = threadIdx.x;
  own[lane] = in[blockIdx.x * 32 + lane] * 2;  // ! global-memory race
  const float other = own[lane ^ 5];           // ! global-memory race ?! uninitialised read
  out[blockIdx.x * 32 + lane] = other;
}

__global__ void byte_histogram_without_atomics(unsigned char* bins, const unsigned char* in) {
  bins[in[threadIdx.x] % 8] += 1;  // ! global-memory race
}

// The multiplier's column is eliminated while others still read it.
__global__ void elimination_overwrites_its_multiplier(float* a, int n) {
  const int row = threadIdx.y, column = threadIdx.x;
  for (int k = 0; k < n - 1; ++k) {
    if (row > k && column >= k) {
      const float factor = a[k * n + column] / (a[k * n + k] + 1);
      const float multiplier = a[row * n + k];     // ! global-memory race
      a[row * n + column] -= multiplier * factor;  // ! global-memory race
    }
    __syncthreads();
  }
}

// A transpose in place in which both threads of a pair swap.
__global__ void both_swap(int* a, int n) {
  const int x = threadIdx.x, y = threadIdx.y;
  const int mine = a[y * n + x];   // ! global-memory race
  const int other = a[x * n + y];  // ! global-memory race
  if (x != y) {
    a[y * n + x] = other;  // ! global-memory race
    a[x * n + y] = mine;   // ! global-memory race
  }
}

// Bubbles of even and odd pairs take turns; without a barrier they do not.
__global__ void odd_even_sort_without_barrier(int* a, int n) {
  const int t = threadIdx.x;
  for (int round = 0; round < n; ++round) {
    const int left = 2 * t + (round & 1);
    if (left + 1 < n) {
      const int x = a[left], y = a[left + 1];  // ! global-memory race
      a[left] = min(x, y);                     // ! global-memory race
      a[left + 1] = max(x, y);                 // ! global-memory race
    }
  }
}

// Only a number that comes twice makes two threads write to one place.
// fills: zeros, 1, random
__global__ void scatter_by_value(int* out, const int* in) {
  out[in[threadIdx.x] % 128] = threadIdx.x;  // ! global-memory race
}

// The compiler takes what comes by ld.global.nc for what nobody changes.
__global__ void read_only_load_behind_a_store(int* out, int* a) {
  const int t = threadIdx.x;
  a[t] = t;
  __syncthreads();
  out[t] = __ldg(&a[63 - t]);  // ! global-memory race
}

__global__ void read_only_load_of_its_own_store(int* out, int* a) {
  const int t = threadIdx.x;
  a[t] = t;
  out[t] = __ldg(&a[t]);  // ! global-memory race
}
