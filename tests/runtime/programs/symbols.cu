// SPDX-License-Identifier: MIT
// Variables of the device by their symbols: constant, global and managed ones, as a whole and in
// part, in a stream, by their addresses.
#include <cstdio>
__constant__ float coefficients[3];
__device__ int table[64];
__device__ int untouched[4] = {1, 2, 3, 4};
__managed__ int total = 5;

__global__ void polynomial(float* out) {
  const float x = static_cast<float>(threadIdx.x);
  out[threadIdx.x] = coefficients[0] + x * (coefficients[1] + x * coefficients[2]);
}

__global__ void reversed(int* out) { out[threadIdx.x] = table[63 - threadIdx.x]; }

__global__ void sum_up() {
  int sum = 0;
  for (int i = 0; i < 64; ++i) sum += table[i];
  total += sum;
}

#define SAY(call) std::printf("%s\n", cudaGetErrorName(call))

int main() {
  float *floats, host_floats[64];
  int *ints, host[64];
  cudaMalloc(&floats, sizeof host_floats);
  cudaMalloc(&ints, sizeof host);
  const float one_two[] = {1, 2}, three = 3;
  SAY(cudaMemcpyToSymbol(coefficients, one_two, sizeof one_two));
  SAY(cudaMemcpyToSymbol(coefficients, &three, sizeof three, 2 * sizeof(float)));
  SAY(cudaMemcpyToSymbol(coefficients, one_two, sizeof one_two, 2 * sizeof(float)));
  cudaGetLastError();
  polynomial<<<1, 64>>>(floats);
  cudaMemcpy(host_floats, floats, sizeof host_floats, cudaMemcpyDeviceToHost);
  std::printf("%g %g %g\n", host_floats[0], host_floats[1], host_floats[63]);

  for (int i = 0; i < 64; ++i) host[i] = i;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  SAY(cudaMemcpyToSymbolAsync(table, host, sizeof host, 0, cudaMemcpyHostToDevice, stream));
  reversed<<<1, 64, 0, stream>>>(ints);
  // A table of the device's own making, and a part of it back.
  SAY(cudaMemcpyToSymbolAsync(table, ints, sizeof host, 0, cudaMemcpyDeviceToDevice, stream));
  int part[2] = {};
  SAY(cudaMemcpyFromSymbolAsync(part, table, sizeof part, 10 * sizeof(int), cudaMemcpyDeviceToHost,
                                stream));
  SAY(cudaStreamSynchronize(stream));
  std::printf("%d %d\n", part[0], part[1]);

  void *address = nullptr, *constant = nullptr;
  size_t bytes = 0;
  SAY(cudaGetSymbolAddress(&address, table));
  SAY(cudaGetSymbolSize(&bytes, table));
  std::printf("%zu bytes\n", bytes);
  SAY(cudaMemset(static_cast<int*>(address) + 32, 0, 32 * sizeof(int)));
  SAY(cudaGetSymbolAddress(&constant, coefficients));
  float middle = 0;
  SAY(cudaMemcpy(&middle, static_cast<float*>(constant) + 1, sizeof middle, cudaMemcpyDefault));
  std::printf("%g\n", middle);
  SAY(cudaGetSymbolAddress(&address, reinterpret_cast<const void*>(&middle)));
  cudaGetLastError();

  total += 1;  // on the host
  sum_up<<<1, 1>>>();
  SAY(cudaDeviceSynchronize());
  int copied = 0;
  SAY(cudaMemcpyFromSymbol(&copied, total, sizeof copied));
  SAY(cudaGetSymbolAddress(&address, total));
  std::printf("at one address %d\n", address == &total);
  std::printf("%d %d\n", total, copied);
  SAY(cudaMemcpyFromSymbol(host, untouched, sizeof untouched));
  std::printf("%d %d\n", host[0], host[3]);
}
