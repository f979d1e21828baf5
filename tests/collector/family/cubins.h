// SPDX-License-Identifier: MIT
// Cubins that the toolkit's ptxas makes in a test, of kernels with every kind of parameter.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace warpmeter::family {

/// template <int> void tiled(float* out, const float* in, int n) for 16 and 32, the first with an
/// array in shared memory and at most 128 threads; struct S { 40 bytes }, extern "C" void
/// plain(int* out, double, S, half, int); void none(). Made for sm_TARGET.
inline std::string kernels_ptx(const std::string& target) {
  return ".version 8.8\n.target " + target + R"(
.address_size 64
.const .align 4 .b8 table[16];
.global .align 4 .f32 factor;
.visible .entry _Z5tiledILi16EEvPfPKfi(
  .param .u64 out, .param .u64 in, .param .u32 n
)
.maxntid 64, 2, 1
{
  .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .f32 %f<4>;
  .shared .align 4 .b8 tile[64];
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  and.b32 %r2, %r2, 15;
  shl.b32 %r3, %r2, 2;
  mov.u32 %r4, tile;
  add.u32 %r4, %r4, %r3;
  st.volatile.shared.u32 [%r4], %r1;
  ld.volatile.shared.u32 %r5, [%r4];
  ld.const.f32 %f1, [table+4];
  ld.global.f32 %f2, [factor];
  st.global.u32 [%rd1], %r5;
  st.global.f32 [%rd1+4], %f1;
  st.global.f32 [%rd1+8], %f2;
  ret;
}
.visible .entry _Z5tiledILi32EEvPfPKfi(
  .param .u64 out, .param .u64 in, .param .u32 n
)
{
  .reg .b32 %r<2>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [n];
  st.global.u32 [%rd1], %r1;
  ret;
}
.visible .entry plain(
  .param .u64 out, .param .f64 x, .param .align 8 .b8 s[40], .param .align 2 .b8 h[2], .param .u32 n
)
{
  .reg .b32 %r<2>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [n];
  st.global.u32 [%rd1], %r1;
  ret;
}
.visible .entry _ZN2ns4noneEv()
{
  ret;
}
)";
}

/// True if ptxas took the text.
inline bool assemble(const std::string& ptx, const std::filesystem::path& cubin,
                     const std::string& target = "sm_90", const std::string& more = "") {
  const std::string source = cubin.string() + ".ptx";
  std::ofstream(source) << ptx;
  const std::string command = std::string(WARPMETER_PTXAS) + " -arch=" + target + " " + more +
                              " -o '" + cubin.string() + "' '" + source + "'";
  const bool is_done = std::system(command.c_str()) == 0;
  std::filesystem::remove(source);
  return is_done;
}

}  // namespace warpmeter::family
