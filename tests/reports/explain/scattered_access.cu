// SPDX-License-Identifier: MIT
// Kernels whose one fault is that each lane goes to a place of its own: by an index that was read,
// or by a hash. No rewriting within the kernel helps; the data or the work would have to be sorted.
__global__ void gather(float* out, const float* table, const int* index, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = table[index[i]];  // cause: gather
}

// A permutation of the numbers below a power of two.
__device__ __forceinline__ unsigned shuffled(unsigned i, unsigned mask) {
  i ^= i >> 9;
  i = i * 0x9e3779b1u & mask;
  i ^= i >> 7;
  return i * 0x85ebca6bu & mask;
}

template <typename T>
__global__ void scatter(T* __restrict__ out, const T* __restrict__ in, unsigned count) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const T value = in[i];
    out[shuffled(i, count - 1)] = value;  // cause: scatter
  }
}

struct __align__(8) Edge {
  unsigned from, to;
};

__global__ void along_edges(unsigned* labels, const Edge* edges, const unsigned* colours,
                            size_t count) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i >= count) return;
  const Edge edge = edges[i];
  labels[i] = colours[edge.from] ^ edge.to;  // cause: along_edges
}

// Charges of particles in cells without an order: hardly two of a warp meet.
__global__ void deposit(float* density, const unsigned* cell, const float* charge, size_t count) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < count) atomicAdd(&density[cell[i]], charge[i]);  // cause: deposit
}
