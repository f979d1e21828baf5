// A cooperative launch whose blocks wait for each other, and changes its input.
#include <cooperative_groups.h>
#include <cstdio>
__global__ void rotate_and_add(int* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int next = data[(i + 1) % n];
  cooperative_groups::this_grid().sync();
  data[i] += next;
}
int main() {
  int n = 16 * 128, last = 0;
  int* data = nullptr;
  if (cudaMalloc(&data, n * sizeof(int)) != cudaSuccess) return 9;
  for (int i = 0; i < n; ++i) {
    const int one = 1;
    cudaMemcpy(data + i, &one, sizeof one, cudaMemcpyHostToDevice);
  }
  void* arguments[] = {&data, &n};
  for (int i = 0; i < 3; ++i) {
    if (cudaLaunchCooperativeKernel(rotate_and_add, 16, 128, arguments) != cudaSuccess) return 8;
  }
  cudaMemcpy(&last, data + n - 1, sizeof last, cudaMemcpyDeviceToHost);
  std::printf("%d\n", last);
  return last == 8 ? 0 : 1;
}
