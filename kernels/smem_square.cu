// SPDX-License-Identifier: MIT
// A block of 32 × 32 threads writes its indices into a tile of shared memory and reads them back,
// by rows or by columns. A warp is one row of threads: threadIdx.y is the same in all lanes.
//
//   by rows      tile[threadIdx.y][threadIdx.x]    32 words in a row, one in each of the 32 banks
//   by columns   tile[threadIdx.x][threadIdx.y]    32 words, 32 words apart: all in one bank
//
// A pad of one word a row moves each row on by one bank, and spreads a column over all of them. The
// value read goes to out[idx], coalesced, where idx is the thread's place in row-major order.
constexpr int side = 32;
constexpr int pad = 1;

extern "C" __global__ void smem_square_set_row_read_row(int* out) {
  __shared__ int tile[side][side];
  const unsigned idx = threadIdx.y * blockDim.x + threadIdx.x;

  tile[threadIdx.y][threadIdx.x] = idx;
  __syncthreads();
  out[idx] = tile[threadIdx.y][threadIdx.x];
}

extern "C" __global__ void smem_square_set_col_read_col(int* out) {
  __shared__ int tile[side][side];
  const unsigned idx = threadIdx.y * blockDim.x + threadIdx.x;

  tile[threadIdx.x][threadIdx.y] = idx;
  __syncthreads();
  out[idx] = tile[threadIdx.x][threadIdx.y];
}

extern "C" __global__ void smem_square_set_row_read_col(int* out) {
  __shared__ int tile[side][side];
  const unsigned idx = threadIdx.y * blockDim.x + threadIdx.x;

  tile[threadIdx.y][threadIdx.x] = idx;
  __syncthreads();
  out[idx] = tile[threadIdx.x][threadIdx.y];
}

// The same with shared memory whose size the launch gives: side × side words.
extern "C" __global__ void smem_square_set_row_read_col_dyn(int* out) {
  extern __shared__ int tile[];
  const unsigned row_idx = threadIdx.y * blockDim.x + threadIdx.x;
  const unsigned col_idx = threadIdx.x * blockDim.y + threadIdx.y;

  tile[row_idx] = row_idx;
  __syncthreads();
  out[row_idx] = tile[col_idx];
}

extern "C" __global__ void smem_square_set_row_read_col_pad(int* out) {
  __shared__ int tile[side][side + pad];
  const unsigned idx = threadIdx.y * blockDim.x + threadIdx.x;

  tile[threadIdx.y][threadIdx.x] = idx;
  __syncthreads();
  out[idx] = tile[threadIdx.x][threadIdx.y];
}

// Dynamic: side × (side + pad) words.
extern "C" __global__ void smem_square_set_row_read_col_dyn_pad(int* out) {
  extern __shared__ int tile[];
  const unsigned pitch = blockDim.x + pad;
  const unsigned row_idx = threadIdx.y * pitch + threadIdx.x;
  const unsigned col_idx = threadIdx.x * pitch + threadIdx.y;
  const unsigned idx = threadIdx.y * blockDim.x + threadIdx.x;

  tile[row_idx] = idx;
  __syncthreads();
  out[idx] = tile[col_idx];
}
