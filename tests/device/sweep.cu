// SPDX-License-Identifier: MIT
// A transpose with everything to choose: the tile's side, words of padding, rows that a thread
// moves.
template <int TILE, int PAD, int ROWS>
__global__ void transpose(float* __restrict__ out, const float* __restrict__ in, int n) {
  __shared__ float tile[TILE][TILE + PAD];
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
#pragma unroll
  for (int r = 0; r < TILE; r += TILE / ROWS) {
    if (x < n && y + r < n) tile[threadIdx.y + r][threadIdx.x] = in[size_t(y + r) * n + x];
  }
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x, y = blockIdx.x * TILE + threadIdx.y;
#pragma unroll
  for (int r = 0; r < TILE; r += TILE / ROWS) {
    if (x < n && y + r < n) out[size_t(y + r) * n + x] = tile[threadIdx.x][threadIdx.y + r];
  }
}

__global__ void copy(float* out, const float* in, int n) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x < n && y < n) out[size_t(y) * n + x] = in[size_t(y) * n + x];
}

__global__ void naive(float* out, const float* in, int n) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x < n && y < n) out[size_t(x) * n + y] = in[size_t(y) * n + x];
}
