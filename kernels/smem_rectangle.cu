// SPDX-License-Identifier: MIT
// As smem_square, in a block of 32 × 16 threads: the tile is no longer its own transpose, and a
// thread that reads by columns must work out its place anew. idx is the thread's place in row-major
// order,
//
//   irow = idx / blockDim.y    0 … 31, two values a warp
//   icol = idx % blockDim.y    0 … 15, all sixteen in each half of a warp
//
// With this padding, tile[icol][irow], in a tile of 16 rows of 32 words, gives each warp two
// neighbouring columns of sixteen words: sixteen words in each of two banks. A pad of one word a
// row puts the columns over seventeen banks, of which they share fifteen; a pad of two puts one on
// the even banks and the other on the odd ones.
constexpr int rows = 16;  // blockDim.y
constexpr int cols = 32;  // blockDim.x

extern "C" __global__ void smem_rectangle_set_row_read_row(int* out) {
  __shared__ int tile[rows][cols];
  const unsigned idx = threadIdx.y * blockDim.x + threadIdx.x;

  tile[threadIdx.y][threadIdx.x] = idx;
  __syncthreads();
  out[idx] = tile[threadIdx.y][threadIdx.x];
}

// Through the new places, in a tile that stands upright: irow × 16 + icol is idx again.
extern "C" __global__ void smem_rectangle_set_row_read_row2(int* out) {
  __shared__ int tile[cols][rows];
  const unsigned idx = threadIdx.y * blockDim.x + threadIdx.x;
  const unsigned irow = idx / blockDim.y;
  const unsigned icol = idx % blockDim.y;

  tile[irow][icol] = idx;
  __syncthreads();
  out[idx] = tile[irow][icol];
}

// In an upright tile of 32 rows of 16 words every second row begins in the same bank.
extern "C" __global__ void smem_rectangle_set_col_read_col(int* out) {
  __shared__ int tile[cols][rows];
  const unsigned idx = threadIdx.y * blockDim.x + threadIdx.x;

  tile[threadIdx.x][threadIdx.y] = idx;
  __syncthreads();
  out[idx] = tile[threadIdx.x][threadIdx.y];
}

extern "C" __global__ void smem_rectangle_set_col_read_col2(int* out) {
  __shared__ int tile[rows][cols];
  const unsigned idx = threadIdx.y * blockDim.x + threadIdx.x;
  const unsigned irow = idx / blockDim.y;
  const unsigned icol = idx % blockDim.y;

  tile[icol][irow] = idx;
  __syncthreads();
  out[idx] = tile[icol][irow];
}

extern "C" __global__ void smem_rectangle_set_row_read_col(int* out) {
  __shared__ int tile[rows][cols];
  const unsigned idx = threadIdx.y * blockDim.x + threadIdx.x;
  const unsigned irow = idx / blockDim.y;
  const unsigned icol = idx % blockDim.y;

  tile[threadIdx.y][threadIdx.x] = idx;
  __syncthreads();
  out[idx] = tile[icol][irow];
}

// The same with shared memory whose size the launch gives: rows × cols words.
extern "C" __global__ void smem_rectangle_set_row_read_col_dyn(int* out) {
  extern __shared__ int tile[];
  const unsigned idx = threadIdx.y * blockDim.x + threadIdx.x;
  const unsigned irow = idx / blockDim.y;
  const unsigned icol = idx % blockDim.y;

  tile[idx] = idx;
  __syncthreads();
  out[idx] = tile[icol * blockDim.x + irow];
}

extern "C" __global__ void smem_rectangle_set_row_read_col_pad1(int* out) {
  __shared__ int tile[rows][cols + 1];
  const unsigned idx = threadIdx.y * blockDim.x + threadIdx.x;
  const unsigned irow = idx / blockDim.y;
  const unsigned icol = idx % blockDim.y;

  tile[threadIdx.y][threadIdx.x] = idx;
  __syncthreads();
  out[idx] = tile[icol][irow];
}

extern "C" __global__ void smem_rectangle_set_row_read_col_pad2(int* out) {
  __shared__ int tile[rows][cols + 2];
  const unsigned idx = threadIdx.y * blockDim.x + threadIdx.x;
  const unsigned irow = idx / blockDim.y;
  const unsigned icol = idx % blockDim.y;

  tile[threadIdx.y][threadIdx.x] = idx;
  __syncthreads();
  out[idx] = tile[icol][irow];
}

// Dynamic: rows × (cols + pad) words.
extern "C" __global__ void smem_rectangle_set_row_read_col_dyn_pad1(int* out) {
  extern __shared__ int tile[];
  const unsigned pitch = blockDim.x + 1;
  const unsigned idx = threadIdx.y * blockDim.x + threadIdx.x;
  const unsigned irow = idx / blockDim.y;
  const unsigned icol = idx % blockDim.y;

  tile[threadIdx.y * pitch + threadIdx.x] = idx;
  __syncthreads();
  out[idx] = tile[icol * pitch + irow];
}

extern "C" __global__ void smem_rectangle_set_row_read_col_dyn_pad2(int* out) {
  extern __shared__ int tile[];
  const unsigned pitch = blockDim.x + 2;
  const unsigned idx = threadIdx.y * blockDim.x + threadIdx.x;
  const unsigned irow = idx / blockDim.y;
  const unsigned icol = idx % blockDim.y;

  tile[threadIdx.y * pitch + threadIdx.x] = idx;
  __syncthreads();
  out[idx] = tile[icol * pitch + irow];
}
