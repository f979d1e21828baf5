// SPDX-License-Identifier: MIT
// Thrust's transforms, which copy whole stretches where they are compiled for sm_90.
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/sequence.h>
#include <thrust/transform.h>

#include <cuda/functional>

#include <cstdio>
#include <numeric>
#include <vector>
struct Saxpy {
  float a;
  __host__ __device__ float operator()(float x, float y) const { return a * x + y; }
};
struct Three {
  __host__ __device__ double operator()(double x, int y) const { return x * y + 1; }
};

/// The caller may give such a function copies of the elements, not those in global memory.
template <class F>
auto copyable(F function) {
  return cuda::proclaim_copyable_arguments(function);
}

template <class T>
void show(const char* name, const thrust::device_vector<T>& values) {
  const std::vector<T> host(values.begin(), values.end());
  double sum = 0, weighed = 0;
  for (std::size_t i = 0; i < host.size(); ++i) {
    sum += static_cast<double>(host[i]);
    weighed += static_cast<double>(host[i]) * (i % 17);
  }
  std::printf("%s: %.1f %.1f\n", name, sum, weighed);
}

int main() {
  constexpr int n = 100003;
  thrust::device_vector<float> x(n), y(n), z(n);
  thrust::sequence(x.begin(), x.end());
  thrust::sequence(y.begin(), y.end(), 5.0f, 0.5f);
  thrust::transform(x.begin(), x.end(), z.begin(), thrust::negate<>());
  show("negated", z);
  thrust::transform(x.begin(), x.end(), y.begin(), z.begin(), copyable(Saxpy{2.5f}));
  show("saxpy", z);
  thrust::device_vector<char> a(n), b(n);
  thrust::sequence(a.begin(), a.end());
  thrust::transform(a.begin() + 5, a.end(), b.begin(), thrust::negate<>());
  show("bytes", b);
  thrust::device_vector<double> d(n), e(n);
  thrust::device_vector<int> i(n);
  thrust::sequence(d.begin(), d.end());
  thrust::sequence(i.begin(), i.end());
  thrust::transform(d.begin(), d.end(), i.begin(), e.begin(), copyable(Three()));
  show("two types", e);
  thrust::transform(x.begin(), x.begin() + 7, z.begin(), thrust::negate<>());
  show("seven", z);
  thrust::transform(x.begin() + 1, x.end() - 3, y.begin() + 3, z.begin() + 2,
                    copyable(Saxpy{1.5f}));
  show("not aligned", z);
}
