// SPDX-License-Identifier: MIT
// cp.async under a guard that leaves lanes out: of one warp, 32, 31, 16, 4, 1 and 0 lanes copy.
#include <cuda_runtime.h>

#include <cstdio>

/// `step`: bytes between the sources of neighbouring lanes. `is_one`: lanes that are left out hold
/// one address.
#define COPY(name, kind, width, step, is_one)                                      \
  __global__ void name(const char* in, int* out, int lanes) {                      \
    __shared__ __align__(16) char kept[32 * 16];                                   \
    const int t = threadIdx.x;                                                     \
    const char* const from = is_one && t >= lanes ? in + 8192 : in + step * t;     \
    const unsigned to = (unsigned)__cvta_generic_to_shared(kept) + width * t;      \
    asm volatile(                                                                  \
        "{ .reg .pred p; setp.lt.s32 p, %2, %3;\n"                                 \
        "@p cp.async." #kind ".shared.global [%0], [%1], " #width "; }" ::"r"(to), \
        "l"(from), "r"(t), "r"(lanes)                                              \
        : "memory");                                                               \
    asm volatile("cp.async.wait_all;");                                            \
    out[t] = kept[width * t];                                                      \
  }
COPY(cg16, cg, 16, 16, false)
COPY(ca16, ca, 16, 16, false)
COPY(ca8, ca, 8, 8, false)
COPY(ca4, ca, 4, 4, false)
COPY(cg16_apart, cg, 16, 256, false)
COPY(ca4_apart, ca, 4, 256, false)
COPY(cg16_one, cg, 16, 16, true)
COPY(ca4_one, ca, 4, 4, true)

int main() {
  char* in = nullptr;
  int* out = nullptr;
  cudaMalloc(&in, 1 << 14);
  cudaMalloc(&out, 32 * sizeof(int));
  cudaMemset(in, 1, 1 << 14);
  using Kernel = void (*)(const char*, int*, int);
  constexpr Kernel kernels[] = {cg16, ca16, ca8, ca4, cg16_apart, ca4_apart, cg16_one, ca4_one};
  for (const Kernel kernel : kernels) {
    for (const int lanes : {32, 31, 16, 4, 1, 0}) kernel<<<1, 32>>>(in, out, lanes);
  }
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaFree(in);
  cudaFree(out);
}
