// SPDX-License-Identifier: MIT
// The effects of CUDA_VISIBLE_DEVICES and CUDA_LAUNCH_BLOCKING on a program: its devices by their
// places on the bus, and when it is told of a kernel that fails.
#include <cstdio>
__global__ void store(int* to) { *to = 1; }

int main() {
  int devices = -1, first = -1;
  const cudaError_t counted = cudaGetDeviceCount(&devices);
  std::printf("%s, %d devices\n", cudaGetErrorName(counted), devices);
  int* buffer = nullptr;
  std::printf("%s\n", cudaGetErrorName(cudaMalloc(&buffer, 4)));
  if (counted != cudaSuccess) {
    std::printf("%s\n", cudaGetErrorName(cudaSetDevice(0)));
    store<<<1, 1>>>(buffer);
    std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
    return 0;
  }
  for (int device = 0; device < devices; ++device) {
    char place[16];
    cudaDeviceProp properties;
    cudaDeviceGetPCIBusId(place, sizeof place, device);
    cudaGetDeviceProperties(&properties, device);
    cudaDeviceGetByPCIBusId(&first, place);
    std::printf("%d: %s, %d, GPU-%02x%02x…, found as %d\n", device, place, properties.pciDeviceID,
                static_cast<unsigned char>(properties.uuid.bytes[0]),
                static_cast<unsigned char>(properties.uuid.bytes[1]), first);
  }
  store<<<1, 1>>>(nullptr);
  std::printf("launch: %s\n", cudaGetErrorName(cudaGetLastError()));
  std::printf("wait: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
