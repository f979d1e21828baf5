// SPDX-License-Identifier: MIT
// Kernels whose one fault is that the warps of a block fetch the same sectors one after another,
// each for itself. Rewritten, the block fetches them once into shared memory. Where all lanes of a
// request load one address it is told as a repeated load.
__global__ void naive_product(float* c, const float* a, const float* b, int n, int depth) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < depth; k++) {
    sum += a[y * depth + k] * b[k * n + x];  // cause: naive_product
  }
  c[y * n + x] = sum;
}

__global__ void __launch_bounds__(256, 8)
    tiled_product(float* c, const float* a, const float* b, int n, int depth) {
  __shared__ float As[8][32], Bs[32][32];
  int tx = threadIdx.x, ty = threadIdx.y;
  int x = blockIdx.x * 32 + tx, y = blockIdx.y * 8 + ty;
  float sum = 0;
  for (int first = 0; first < depth; first += 32) {
    As[ty][tx] = a[y * depth + first + tx];
    for (int k = ty; k < 32; k += 8) Bs[k][tx] = b[(first + k) * n + x];
    __syncthreads();
#pragma unroll 4
    for (int k = 0; k < 32; k++) sum += As[ty][k] * Bs[k][tx];
    __syncthreads();
  }
  c[y * n + x] = sum;
}

// Neighbours above and below, in blocks of 32 × 16.
template <typename T, int RADIUS>
__global__ void blur_along_y(T* __restrict__ out, const T* __restrict__ in, unsigned width) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  T sum = 0;
#pragma unroll
  for (int k = 0; k <= 2 * RADIUS; ++k) {
    sum += in[(y + k) * width + x];  // cause: blur_along_y
  }
  out[y * width + x] = sum;
}

template <typename T, int RADIUS>
__global__ void blur_along_y_tiled(T* __restrict__ out, const T* __restrict__ in, unsigned width) {
  __shared__ T tile[16 + 2 * RADIUS][32];
  const unsigned x = blockIdx.x * 32 + threadIdx.x;
  const unsigned first = blockIdx.y * 16, y = first + threadIdx.y;
  for (unsigned k = threadIdx.y; k < 16 + 2 * RADIUS; k += 16)
    tile[k][threadIdx.x] = in[(first + k) * width + x];
  __syncthreads();
  T sum = 0;
#pragma unroll
  for (int k = 0; k <= 2 * RADIUS; ++k) sum += tile[threadIdx.y + k][threadIdx.x];
  out[y * width + x] = sum;
}

// All pairs: every warp reads every source itself.
__global__ void potential(float* out, const float4* bodies, const float4* sources, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 body = bodies[i];
  float sum = 0;
  for (int j = 0; j < count; ++j) {
    const float4 source = sources[j];  // cause: potential
    const float dx = source.x - body.x, dy = source.y - body.y, dz = source.z - body.z;
    sum += source.w * rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f);
  }
  out[i] = sum;
}

__global__ void potential_tiled(float* out, const float4* bodies, const float4* sources,
                                int count) {
  __shared__ float4 near[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 body = bodies[i];
  float sum = 0;
  for (int first = 0; first < count; first += 64) {
    if (threadIdx.x < 64) near[threadIdx.x] = sources[first + threadIdx.x];
    __syncthreads();
#pragma unroll 4
    for (int j = 0; j < 64; ++j) {
      const float4 source = near[j];
      const float dx = source.x - body.x, dy = source.y - body.y, dz = source.z - body.z;
      sum += source.w * rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f);
    }
    __syncthreads();
  }
  out[i] = sum;
}
