// SPDX-License-Identifier: MIT
// Kernels copy what is unset in a part, and compute with it. A copy is as unset as what it was made
// of, wherever the host takes it from; gaps of structures that repeat are none of its concern.
#include <cstdio>
struct Four {
  int a[4];
};

struct Padded {
  double weight;
  int kind;  // and four bytes of nothing
};

__global__ void copy(Four* to, const Four* from) { to[threadIdx.x] = from[threadIdx.x]; }

__global__ void copy_wide(int4* to, const int4* from) { to[threadIdx.x] = from[threadIdx.x]; }

__global__ void make(Padded* to) {
  to[threadIdx.x].weight = 1;
  to[threadIdx.x].kind = 2;
}

__global__ void copy_padded(Padded* to, const Padded* from) { to[threadIdx.x] = from[threadIdx.x]; }

__global__ void set_first(int* to) { to[4 * threadIdx.x] = 1; }

__global__ void add(int* to, const int4* from) {
  const int4 v = from[threadIdx.x];
  to[threadIdx.x] = v.x + v.y + v.z + v.w;
}

int main() {
  const int n = 32;
  int *made = nullptr, *copied = nullptr, host[4 * n] = {};
  cudaMalloc(&made, sizeof(host));
  cudaMalloc(&copied, sizeof(host));

  make<<<1, n>>>(reinterpret_cast<Padded*>(made));
  copy_padded<<<1, n>>>(reinterpret_cast<Padded*>(copied), reinterpret_cast<Padded*>(made));
  cudaMemcpy(host, copied, n * sizeof(Padded), cudaMemcpyDeviceToHost);  // fine
  cudaFree(made);
  cudaFree(copied);

  cudaMalloc(&made, sizeof(host));
  cudaMalloc(&copied, sizeof(host));
  cudaMemset(made, 0, sizeof(host) - 4);
  copy<<<1, n>>>(reinterpret_cast<Four*>(copied), reinterpret_cast<Four*>(made));
  cudaMemcpy(host, copied, sizeof(host), cudaMemcpyDeviceToHost);  // all but the last
  cudaFree(made);
  cudaFree(copied);

  cudaMalloc(&made, sizeof(host));
  cudaMalloc(&copied, sizeof(host));
  set_first<<<1, n>>>(made);
  copy_wide<<<1, n>>>(reinterpret_cast<int4*>(copied), reinterpret_cast<int4*>(made));
  cudaMemcpy(host, copied, sizeof(host), cudaMemcpyDeviceToHost);  // one of four
  add<<<1, n>>>(made, reinterpret_cast<int4*>(copied));
  cudaFree(made);
  cudaFree(copied);
  std::printf("%d\n", host[0]);
  return 0;
}
