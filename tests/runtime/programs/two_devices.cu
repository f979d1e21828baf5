// SPDX-License-Identifier: MIT
// Two devices (--model-devices 2): memory, peers, streams and copies of each.
#include <cstdio>
__global__ void fill(int* data, int value) { data[threadIdx.x] = value; }

int main() {
  int devices = 0, can = 0, host = 0;
  cudaGetDeviceCount(&devices);
  std::printf("devices %d\n", devices);
  int *a, *b;
  size_t of_first, of_second, all;
  cudaSetDevice(0);
  cudaMalloc(&a, 1 << 20);
  cudaMemGetInfo(&of_first, &all);
  cudaSetDevice(1);
  cudaMemGetInfo(&of_second, &all);
  std::printf("memory of its own: %d\n", of_second > of_first);
  cudaMalloc(&b, 1 << 20);
  cudaDeviceCanAccessPeer(&can, 1, 0);
  std::printf("peer %d\n", can);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceEnablePeerAccess(0, 0)));
  std::printf("%s\n", cudaGetErrorName(cudaDeviceEnablePeerAccess(0, 0)));
  std::printf("%s\n", cudaGetErrorName(cudaDeviceDisablePeerAccess(0)));
  std::printf("%s\n", cudaGetErrorName(cudaDeviceDisablePeerAccess(0)));
  cudaGetLastError();
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  fill<<<1, 32, 0, stream>>>(b, 5);
  cudaStreamSynchronize(stream);
  std::printf("%s\n", cudaGetErrorName(cudaMemcpyPeer(a, 0, b, 1, 32 * sizeof(int))));
  cudaMemcpy(&host, a + 31, sizeof host, cudaMemcpyDefault);
  std::printf("copied %d\n", host);
  cudaSetDevice(0);
  fill<<<1, 32, 0, stream>>>(b, 6);
  std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
  // An event is recorded where its device is, and waited for anywhere.
  cudaEvent_t event, first;
  cudaEventCreate(&first);
  std::printf("%s\n", cudaGetErrorName(cudaEventRecord(first, stream)));
  std::printf("%s\n", cudaGetErrorName(cudaEventRecord(first, 0)));
  cudaSetDevice(1);
  std::printf("%s\n", cudaGetErrorName(cudaEventRecord(first, 0)));
  std::printf("%s\n", cudaGetErrorName(cudaStreamWaitEvent(stream, first, 0)));
  cudaEventCreate(&event);
  std::printf("%s\n", cudaGetErrorName(cudaEventRecord(event, stream)));
  cudaSetDevice(0);
  std::printf("%s\n", cudaGetErrorName(cudaEventRecord(event, stream)));
  cudaGetLastError();
  cudaPointerAttributes attributes;
  cudaPointerGetAttributes(&attributes, b);
  std::printf("device %d\n", attributes.device);
}
