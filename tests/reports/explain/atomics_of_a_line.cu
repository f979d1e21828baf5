// SPDX-License-Identifier: MIT
// Atomics by which explain has to tell copies of one access from accesses of several arrays.
// ptxas makes ATOMS.POPC.INC of it, which adds up equal addresses itself: nobody waits.
__global__ void increments(unsigned* out, const unsigned* in) {
  __shared__ unsigned h[256];
  const int t = threadIdx.x;
  h[t] = 0;
  __syncthreads();
  for (int k = 0; k < 64; k++) atomicAdd(&h[in[k * 256 + t]], 1u);
  __syncthreads();
  atomicAdd(out + t, h[t]);
}

// The loop is unrolled: 64 copies of one line.
__global__ void sums(unsigned* out, const unsigned* in) {
  __shared__ unsigned h[256];
  const unsigned t = threadIdx.x;
  h[t] = 0;
  __syncthreads();
  for (int k = 0; k < 64; k++) atomicAdd(&h[in[k * 256 + t] % 8], t);
  __syncthreads();
  out[t] = h[t];
}

__global__ void two_arrays(unsigned* out, const unsigned* in) {
  __shared__ unsigned few[256], many[256];
  const unsigned t = threadIdx.x;
  few[t] = many[t] = 0;
  __syncthreads();
  // Two arrays in one line are what this kernel is for.
  // clang-format off
  for (int k = 0; k < 8; k++) { atomicAdd(&few[in[k * 256 + t] % 2], t); atomicAdd(&many[t], t + k); }
  // clang-format on
  __syncthreads();
  out[t] = few[t] + many[t];
}

// A lock, which no lane can take for another.
__global__ void locked(unsigned* out, const unsigned* in) {
  for (bool is_done = false; !is_done;) {
    if (atomicCAS(out, 0u, 1u) == 0) {
      static_cast<volatile unsigned*>(out)[1] += in[threadIdx.x];
      __threadfence();
      atomicExch(out, 0u);
      is_done = true;
    }
  }
}
