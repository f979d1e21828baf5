// SPDX-License-Identifier: MIT
// Algorithms of Thrust and CUB: sort, reduce and scan.
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>

#include <cstdio>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
constexpr int n = 1000;

/// Calls of CUB are made twice: for how many bytes they need, and with them.
template <class Call>
void with_room(const Call& call) {
  void* room = nullptr;
  size_t bytes = 0;
  call(room, bytes);
  cudaMalloc(&room, bytes);
  std::printf("%s\n", cudaGetErrorName(call(room, bytes)));
  cudaFree(room);
}

int main() {
  thrust::host_vector<int> host(n);
  unsigned state = 1;
  for (int& number : host) {
    state = state * 1664525 + 1013904223;
    number = static_cast<int>(state >> 16) % 10000 - 5000;
  }
  long sum = 0;
  for (const int number : host) sum += number;
  thrust::device_vector<int> numbers = host, scanned(n);
  std::printf("sum %d, of the host %ld\n", thrust::reduce(numbers.begin(), numbers.end()), sum);
  thrust::inclusive_scan(numbers.begin(), numbers.end(), scanned.begin());
  std::printf("scan %d %d %d\n", int{scanned[0]}, int{scanned[1]}, int{scanned[n - 1]});
  thrust::sort(numbers.begin(), numbers.end());
  std::printf("sorted %d … %d, in order %d\n", int{numbers[0]}, int{numbers[n - 1]},
              thrust::is_sorted(numbers.begin(), numbers.end()));

  numbers = host;
  int *in = thrust::raw_pointer_cast(numbers.data()), *out = nullptr, *largest = nullptr;
  cudaMalloc(&out, n * sizeof(int));
  cudaMallocManaged(&largest, sizeof(int));
  with_room([&](void* room, size_t& bytes) {
    return cub::DeviceReduce::Max(room, bytes, in, largest, n);
  });
  cudaDeviceSynchronize();
  std::printf("largest %d\n", *largest);
  with_room([&](void* room, size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(room, bytes, in, out, n);
  });
  cudaMemcpy(host.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("scan %d %d %d\n", host[0], host[1], host[n - 1]);
  with_room([&](void* room, size_t& bytes) {
    return cub::DeviceRadixSort::SortKeysDescending(room, bytes, in, out, n);
  });
  cudaMemcpy(host.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("sorted %d %d … %d, %s\n", host[0], host[1], host[n - 1],
              cudaGetErrorName(cudaGetLastError()));
}
