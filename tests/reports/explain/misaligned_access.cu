// SPDX-License-Identifier: MIT
// Kernels whose one fault is where a row begins: each request of 128 bytes touches five sectors in
// place of four. Rewritten, rows begin at a multiple of 32 bytes.
// Each element from its right neighbour.
__global__ void shift(float* out, const float* in, float a) {
  int i = blockIdx.x * 256 + threadIdx.x;
  out[i] = a * in[i + 1];  // cause: shift
}

__global__ void shift_through_tile(float* out, const float* in, float a) {
  __shared__ float tile[257];
  int i = blockIdx.x * 256 + threadIdx.x;
  tile[threadIdx.x] = in[i];
  if (threadIdx.x == 0) tile[256] = in[i + 256];
  __syncthreads();
  out[i] = a * tile[threadIdx.x + 1];
}

// An image whose rows follow each other without padding; the rewritten one is what cudaMallocPitch
// gives.
template <typename T>
__global__ void brighten(T* __restrict__ out, const T* __restrict__ image, size_t width,
                         size_t pitch, T by) {
  const size_t x = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const size_t y = blockIdx.y;
  if (x < width) out[y * width + x] = image[y * pitch + x] + by;  // cause: rows_of_1027
}

// Numbers behind a header.
struct Message {
  int kind, length, sender;
  int payload[1 << 19];
};

struct AlignedMessage {
  int kind, length, sender, unused[5];
  int payload[1 << 19];
};

template <class M>
__global__ void read_payload(int* out, const M* message, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 3 * message->payload[i];  // cause: behind_header
}
