// Launches whose one fault is the grid: of one block, of four, and of 16 though a line loads twice,
// however much there is to do.

__global__ void scale_all(float* out, const float* in, float a, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    out[i] = a * in[i];
}

template <typename T, int BLOCK>
__global__ void running_difference(T* __restrict__ out, const T* __restrict__ a,
                                   const T* __restrict__ b, size_t count) {
  for (size_t i = blockIdx.x * size_t{BLOCK} + threadIdx.x; i < count;
       i += size_t{gridDim.x} * BLOCK) {
    out[i] = a[i] - b[i];
  }
}

// A block for each sentence of the batch.
__global__ void sentence_norm(float* __restrict__ y, const float* __restrict__ x, int length) {
  __shared__ float part[8];
  const float* in = x + blockIdx.x * length;
  float s = 0.f;
  for (int k = threadIdx.x; k < length; k += 256) s += in[k] * in[k];
  for (int o = 16; o > 0; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
  if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = s;
  __syncthreads();
  s = part[threadIdx.x & 7];
  for (int o = 4; o > 0; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
  const float r = rsqrtf(s / length + 1e-5f);
  for (int k = threadIdx.x; k < length; k += 256) y[blockIdx.x * length + k] = in[k] * r;
}
