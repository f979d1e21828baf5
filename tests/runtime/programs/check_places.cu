// SPDX-License-Identifier: MIT
// Mistakes in kernels of Thrust: the person wrote neither the kernel nor its launch.
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/reduce.h>
#include <thrust/transform.h>

#include <cstdlib>
struct Scale {
  const float* k;
  __device__ float operator()(int i) const { return 2 * k[i + 2000000]; }
};

float sum_of(const float* p, int n) { return thrust::reduce(thrust::device, p, p + n); }

int main(int, char** argv) {
  constexpr int n = 1000;
  if (std::atoi(argv[1]) == 1) {
    float* unset;
    cudaMalloc(&unset, n * sizeof(float));
    sum_of(unset, n);
    cudaFree(unset);
    return 0;
  }
  thrust::device_vector<float> in(n), out(n);
  if (std::atoi(argv[1]) == 2) {
    thrust::reduce(in.begin(), in.end() + 1);
    return 0;
  }
  const thrust::counting_iterator<int> first(0);
  try {
    thrust::transform(first, first + n, out.begin(), Scale{thrust::raw_pointer_cast(in.data())});
    cudaDeviceSynchronize();
  } catch (...) {
  }
  _Exit(0);
}
