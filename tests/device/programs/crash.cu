// Three launches, then abort: what was measured before must be kept.
#include <cstdlib>
__global__ void before_the_crash(int* data) { data[threadIdx.x] = threadIdx.x; }
int main() {
  int* data = nullptr;
  if (cudaMalloc(&data, 4096) != cudaSuccess) return 9;
  for (int i = 0; i < 3; ++i) before_the_crash<<<1, 128>>>(data);
  cudaDeviceSynchronize();
  std::abort();
}
