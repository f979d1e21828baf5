// SPDX-License-Identifier: MIT
// A kernel that shows which compiler read it: NVRTC's loads, nvcc's does not.
#pragma once

namespace warpmeter {

inline constexpr const char* loads_if_nvrtc = R"(
__global__ void k(float* out, const float* in) {
#ifdef __CUDACC_RTC__
  out[threadIdx.x] = in[threadIdx.x];
#else
  out[threadIdx.x] = 1;
#endif
}
)";

}  // namespace warpmeter
