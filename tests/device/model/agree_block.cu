// SPDX-License-Identifier: MIT
// The work of a block in shared memory: scans, sorts, histograms, reductions.
extern "C" __global__ void scan_hillis_steele(const int* in, int* out) {
  __shared__ int buffers[2][256];
  const int t = threadIdx.x, i = blockIdx.x * 256 + t;
  int from = 0;
  buffers[0][t] = in[i];
  __syncthreads();
  for (int offset = 1; offset < 256; offset *= 2) {
    buffers[1 - from][t] = buffers[from][t] + (t >= offset ? buffers[from][t - offset] : 0);
    from = 1 - from;
    __syncthreads();
  }
  out[i] = buffers[from][t];
}

extern "C" __global__ void scan_blelloch(const int* in, int* out) {
  __shared__ int tile[512];
  const int t = threadIdx.x, base = blockIdx.x * 512;  // 256 threads
  tile[2 * t] = in[base + 2 * t];
  tile[2 * t + 1] = in[base + 2 * t + 1];
  int offset = 1;
  for (int d = 256; d > 0; d /= 2) {
    __syncthreads();
    if (t < d) tile[offset * (2 * t + 2) - 1] += tile[offset * (2 * t + 1) - 1];
    offset *= 2;
  }
  if (t == 0) tile[511] = 0;
  for (int d = 1; d < 512; d *= 2) {
    offset /= 2;
    __syncthreads();
    if (t < d) {
      const int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
      const int left = tile[a];
      tile[a] = tile[b];
      tile[b] += left;
    }
  }
  __syncthreads();
  out[base + 2 * t] = tile[2 * t];
  out[base + 2 * t + 1] = tile[2 * t + 1];
}

extern "C" __global__ void sort_bitonic(const int* in, int* out) {
  __shared__ int tile[512];
  const int t = threadIdx.x, base = blockIdx.x * 512;  // 512 threads
  tile[t] = in[base + t] * 1000 + (t * 7919) % 997;
  __syncthreads();
  for (int size = 2; size <= 512; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) {
      const int other = t ^ stride;
      if (other > t) {
        const bool ascending = (t & size) == 0;
        const int a = tile[t], b = tile[other];
        if ((a > b) == ascending) {
          tile[t] = b;
          tile[other] = a;
        }
      }
      __syncthreads();
    }
  }
  out[base + t] = tile[t];
}

extern "C" __global__ void histogram_shared(const int* in, int* out, int n) {
  __shared__ int bins[32];
  if (threadIdx.x < 32) bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&bins[in[i] + 8], 1);
  }
  __syncthreads();
  if (threadIdx.x < 32) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

extern "C" __global__ void histogram_global(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&out[in[i] + 8], 1);
}

extern "C" __global__ void atomic_extremes(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  atomicMin(&out[0], in[i] * (i % 91));
  atomicMax(&out[1], in[i] * (i % 89));
  atomicXor(&out[2 + i % 4], in[i]);
}

extern "C" __global__ void reduce_shuffles(const float* in, float* out, int n) {
  __shared__ float partial[8];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    sum += in[i];
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(~0U, sum, offset);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int k = 1; k < 8; ++k) sum += partial[k];
    out[blockIdx.x] = sum;
  }
}

// The digit's split of a radix sort: a stable partition by one bit.
extern "C" __global__ void radix_split(const int* in, int* out, int bit) {
  __shared__ int zeros[256];
  const int t = threadIdx.x, i = blockIdx.x * 256 + t;
  const int value = in[i] + 8, is_zero = (value >> bit & 1) == 0;
  zeros[t] = is_zero;
  __syncthreads();
  for (int offset = 1; offset < 256; offset *= 2) {
    const int other = t >= offset ? zeros[t - offset] : 0;
    __syncthreads();
    zeros[t] += other;
    __syncthreads();
  }
  const int before = zeros[t] - is_zero, all_zeros = zeros[255];
  const int place = is_zero ? before : all_zeros + t - before;
  out[blockIdx.x * 256 + place] = value;
}

// The scores of an alignment, by anti-diagonals: a wavefront of one block a pair.
extern "C" __global__ void smith_waterman(const int* first, const int* second, int* best) {
  __shared__ int diagonals[3][65], tops[64];
  const int t = threadIdx.x;  // 64: a row of the table
  const int mine = first[blockIdx.x * 64 + t] & 3;
  for (int k = 0; k < 3; ++k) diagonals[k][t + 1] = 0;
  if (t < 3) diagonals[t][0] = 0;
  int top = 0;
  __syncthreads();
  for (int d = 0; d < 127; ++d) {
    const int column = d - t;
    int *now = diagonals[d % 3], *last = diagonals[(d + 2) % 3], *before = diagonals[(d + 1) % 3];
    if (column >= 0 && column < 64) {
      const int match = mine == (second[blockIdx.x * 64 + column] & 3) ? 3 : -2;
      const int diagonal = t > 0 && column > 0 ? before[t] : 0;
      const int up = t > 0 ? last[t] : 0, left = column > 0 ? last[t + 1] : 0;
      const int score = max(max(diagonal + match, 0), max(up, left) - 1);
      now[t + 1] = score;
      top = max(top, score);
    }
    __syncthreads();
  }
  tops[t] = top;
  __syncthreads();
  if (t == 0) {
    for (int k = 1; k < 64; ++k) top = max(top, tops[k]);
    best[blockIdx.x] = top;
  }
}
