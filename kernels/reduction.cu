// Sums of 1,024 doubles, one a block, by a tree in shared memory: ten steps that each halve what is
// left. In place: a block's sum goes to the first of its elements. The three differ only in which
// threads work in a step, and so in how many warps it keeps busy and which banks they meet.
//
// Every step reads both of its operands from the tile and writes the sum back. n may be anything:
// threads past it put a zero into the tile. The steps end where the launch's block does, so that
// the compiler keeps them a loop.

constexpr int tile_size = 1024;  // blockDim.x

// Every (2 × stride)-th thread works: for five steps all 32 warps issue, with ever fewer lanes.
extern "C" __global__ void reduction_neighbored_divergent(double* data, int n) {
  __shared__ double tile[tile_size];
  const unsigned t = threadIdx.x;
  const unsigned i = blockIdx.x * blockDim.x + t;
  if (i < static_cast<unsigned>(n)) {
    tile[t] = data[i];
  } else {
    tile[t] = 0;
  }
  __syncthreads();

  for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
    if (t % (2 * stride) == 0) tile[t] += tile[t + stride];
    __syncthreads();
  }
  if (t == 0) data[i] = tile[0];
}

// The same sums by the first threads: whole warps work or rest, but meet in ever fewer banks.
extern "C" __global__ void reduction_neighbored_strided(double* data, int n) {
  __shared__ double tile[tile_size];
  const unsigned t = threadIdx.x;
  const unsigned i = blockIdx.x * blockDim.x + t;
  if (i < static_cast<unsigned>(n)) {
    tile[t] = data[i];
  } else {
    tile[t] = 0;
  }
  __syncthreads();

  for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
    const unsigned index = 2 * stride * t;
    if (index < blockDim.x) tile[index] += tile[index + stride];
    __syncthreads();
  }
  if (t == 0) data[i] = tile[0];
}

// The first threads, each with the element half of the rest away: neighbours in neighbouring banks.
extern "C" __global__ void reduction_interleaved(double* data, int n) {
  __shared__ double tile[tile_size];
  const unsigned t = threadIdx.x;
  const unsigned i = blockIdx.x * blockDim.x + t;
  if (i < static_cast<unsigned>(n)) {
    tile[t] = data[i];
  } else {
    tile[t] = 0;
  }
  __syncthreads();

  for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
    if (t < stride) tile[t] += tile[t + stride];
    __syncthreads();
  }
  if (t == 0) data[i] = tile[0];
}
