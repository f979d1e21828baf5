// SPDX-License-Identifier: MIT
// The functions of libcudadevrt by which a cooperative launch waits as a whole, which Numba's
// grid.sync() calls. The library has them as machine code alone, so they are linked from this PTX.
//
// The barrier is a word of the grid's workspace, 4 bytes behind its begin, as cooperative_groups
// use it. A thread of each block adds to it: 1, and block 0 adds 2³¹ less the other blocks. The
// highest bit changes when the last one has come.
#pragma once

#include <string_view>

namespace warpmeter::runtime {

constexpr std::string_view grid_barrier_ptx = R"(
.version 7.0
.target sm_70
.address_size 64

.visible .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope)
{
  .reg .pred %p;
  .reg .b32 %r<4>;
  .reg .b64 %rd<3>;
  ld.param.u32 %r1, [scope];
  mov.u32 %r2, %envreg2;
  mov.u32 %r3, %envreg1;
  mov.b64 %rd1, {%r2, %r3};
  setp.eq.u32 %p, %r1, 1;
  selp.b64 %rd2, %rd1, 0, %p;
  st.param.b64 [handle], %rd2;
  ret;
}

.visible .func (.param .b32 result) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)
{
  .reg .pred %p<4>;
  .reg .b32 %r<20>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [handle];
  bar.sync 0;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %tid.y;
  mov.u32 %r3, %tid.z;
  or.b32 %r4, %r1, %r2;
  or.b32 %r4, %r4, %r3;
  setp.ne.u32 %p1, %r4, 0;
  @%p1 bra DONE;
  mov.u32 %r5, %nctaid.x;
  mov.u32 %r6, %nctaid.y;
  mov.u32 %r7, %nctaid.z;
  mul.lo.u32 %r8, %r5, %r6;
  mul.lo.u32 %r8, %r8, %r7;
  mov.u32 %r9, %ctaid.x;
  mov.u32 %r10, %ctaid.y;
  mov.u32 %r11, %ctaid.z;
  or.b32 %r12, %r9, %r10;
  or.b32 %r12, %r12, %r11;
  setp.eq.u32 %p2, %r12, 0;
  sub.u32 %r13, 0x80000001, %r8;
  selp.u32 %r14, %r13, 1, %p2;
  fence.acq_rel.gpu;
  atom.add.u32 %r15, [%rd1+4], %r14;
WAIT:
  ld.acquire.gpu.u32 %r16, [%rd1+4];
  xor.b32 %r17, %r15, %r16;
  and.b32 %r18, %r17, 0x80000000;
  setp.eq.u32 %p3, %r18, 0;
  @%p3 bra WAIT;
  fence.acq_rel.gpu;
DONE:
  bar.sync 0;
  mov.u32 %r19, 0;
  st.param.b32 [result], %r19;
  ret;
}
)";

}  // namespace warpmeter::runtime
