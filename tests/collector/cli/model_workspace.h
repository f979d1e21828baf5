// SPDX-License-Identifier: MIT
// A folder with a CUDA source and PTX, for tests of `warpmeter model`.
#pragma once

#include "tests/collector/cli/workspace.h"

namespace warpmeter::cli {

inline constexpr const char* transpose_source = R"(
__global__ void transpose_tiled(float* out, const float* in, int width, int height) {
  __shared__ float tile[16][16];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * width + x];
  __syncthreads();
  int ox = blockIdx.y * 16 + threadIdx.x, oy = blockIdx.x * 16 + threadIdx.y;
  out[oy * height + ox] = tile[threadIdx.x][threadIdx.y];
}
template <class T, int N> __global__ void fill(T* out, T value) { out[threadIdx.x % N] = value; }
)";

inline constexpr const char* counter_source = R"(.version 8.0
.target sm_90
.address_size 64
.visible .global .align 4 .u32 total;
.visible .entry add(.param .u64 out, .param .u32 n)
{
 .reg .b32 %r<4>; .reg .b64 %rd<4>;
 ld.param.u64 %rd1, [out];
 ld.param.u32 %r1, [n];
 ld.global.u32 %r2, [total];
 add.u32 %r3, %r2, %r1;
 st.global.u32 [total], %r3;
 st.global.u32 [%rd1], %r3;
 ret;
}
)";

class ModelWorkspace : public Workspace {
 protected:
  void SetUp() override {
    write("transpose.cu", transpose_source);
    write("add.ptx", counter_source);
  }
  Outcome model(std::vector<std::string> words) const {
    words.insert(words.begin(), "model");
    return warpmeter(std::move(words));
  }
  /// The transpose, with more words.
  Outcome transposed(const std::vector<std::string>& more) const {
    std::vector<std::string> words = {
        "transpose.cu",      "-k",    "transpose_tiled", "--grid",        "4,4",
        "--block",           "16,16", "--arg",           "out:f32[4096]", "--arg",
        "in:f32[4096]=iota", "--arg", "width:i32=64",    "--arg",         "i32=64"};
    words.insert(words.end(), more.begin(), more.end());
    return model(words);
  }
};

}  // namespace warpmeter::cli
