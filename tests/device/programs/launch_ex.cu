// SPDX-License-Identifier: MIT
// Launches with attributes: a cluster of blocks, and programmatic dependent launches.
#include <cstdio>
__global__ void in_cluster(int* data) {
  __shared__ int tile[64];
  tile[threadIdx.x] = data[blockIdx.x * 64 + threadIdx.x];
  __syncthreads();
  data[blockIdx.x * 64 + threadIdx.x] = tile[63 - threadIdx.x] + 1;
}
__global__ void dependent(int* data) {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
  data[blockIdx.x * 64 + threadIdx.x] *= 2;
}
int main() {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  int *data = nullptr, last = 0;
  if (cudaMalloc(&data, 8 * 64 * sizeof(int)) != cudaSuccess) return 9;
  cudaMemset(data, 0, 8 * 64 * sizeof(int));
  cudaLaunchAttribute attribute{};
  cudaLaunchConfig_t config{};
  config.gridDim = 8;
  config.blockDim = 64;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  for (int i = 0; i < 3; ++i) {
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 2;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    if (cudaLaunchKernelEx(&config, in_cluster, data) != cudaSuccess) return 8;
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    if (cudaLaunchKernelEx(&config, dependent, data) != cudaSuccess) return 8;
  }
  cudaStreamSynchronize(stream);
  cudaMemcpy(&last, data + 511, sizeof last, cudaMemcpyDeviceToHost);
  std::printf("%d\n", last);
  return last == 14 ? 0 : 1;
}
