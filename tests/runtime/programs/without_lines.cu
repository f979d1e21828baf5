// SPDX-License-Identifier: MIT
// The file has no -lineinfo: of the two atomics of one kernel all lanes meet at the first, none at
// the second.
__global__ void count(const float* in, int* counts) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  atomicAdd(counts, in[i] > 1 ? 2 : 1);
  atomicAdd(counts + 1 + i % 512, 1);
}

int main() {
  constexpr int n = 8192;
  float* in = nullptr;
  int* counts = nullptr;
  cudaMalloc(&in, n * sizeof(float));
  cudaMalloc(&counts, 513 * sizeof(int));
  cudaMemset(in, 0, n * sizeof(float));
  cudaMemset(counts, 0, 513 * sizeof(int));
  count<<<n / 256, 256>>>(in, counts);
  int first = 0;
  cudaMemcpy(&first, counts, sizeof first, cudaMemcpyDeviceToHost);
  return first == n ? 0 : 1;
}
