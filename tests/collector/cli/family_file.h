// SPDX-License-Identifier: MIT
// A folder with a file of kernels, own_kernels, and families of it that run on the model.
#pragma once

#include <cstdlib>
#include <string>
#include <vector>

#include "tests/collector/cli/workspace.h"

namespace warpmeter::cli {

inline constexpr const char* own_kernels = R"(
template <int TILE, int PAD>
__global__ void tiled(float* out, const float* in, int n) {
  __shared__ float tile[TILE][TILE + PAD];
  const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * n + x];
  __syncthreads();
  out[(blockIdx.x * TILE + threadIdx.y) * n + blockIdx.y * TILE + threadIdx.x] =
      tile[threadIdx.x][threadIdx.y];
}
__global__ void copy(float* out, const float* in, int n) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  out[y * n + x] = in[y * n + x];
}
__global__ void naive(float* out, const float* in, int n) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  out[x * n + y] = in[y * n + x];
}
__global__ void idle(float* out, const float* in, int n) {}
__constant__ float factor;
__global__ void scaled(float* out, const float* in, int n) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  out[x * n + y] = factor * in[y * n + x];
}
__global__ void in_place(float* data) { data[threadIdx.x] += 1; }
#ifdef BROKEN
template <int N> __global__ void broken(float* out, const float* in, int n) { out[0] = undefined_name; }
#else
template <int N> __global__ void broken(float* out, const float* in, int n) {
  static_assert(N < 2, "N is too large");
}
#endif
)";

inline const std::string head = R"(
family: mine
file: k.cu
sizes: [64]
arguments:
  - out: f32[n*n]
  - in: f32[n*n] = iota
  - i32: n
reference: naive
ceiling: copy
work: { read: 4*n*n, written: 4*n*n }
variants:
  copy: { kernel: copy, grid: [n/16, n/16], block: [16, 16] }
  naive: { kernel: naive, grid: [n/16, n/16], block: [16, 16] }
)";

inline const std::string tiled = R"(
  tiled:
    kernel: tiled<TILE, PAD>
    parameters: { TILE: [16, 32], PAD: [0, 1] }
    grid: [n/TILE, n/TILE]
    block: [TILE, TILE]
    expect: { 'shared_load_transactions_per_request <= 2 + 30*(PAD == 0)': "a pad of one word" }
)";

class FamilyFile : public Workspace {
 protected:
  void SetUp() override {
    setenv("XDG_CACHE_HOME", file("cache").c_str(), 1);
    write("k.cu", own_kernels);
  }
  void TearDown() override { unsetenv("XDG_CACHE_HOME"); }
  Outcome run(const std::string& yaml, std::vector<std::string> more = {}) {
    write("f.yaml", yaml);
    std::vector<std::string> words = {"run", "f.yaml", "-b", "model", "--no-progress"};
    words.insert(words.end(), more.begin(), more.end());
    return warpmeter(words);
  }
};

}  // namespace warpmeter::cli
