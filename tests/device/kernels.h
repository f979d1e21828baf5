// SPDX-License-Identifier: MIT
// The kernels of device_test.cpp, in PTX, which the driver compiles.
#pragma once

#include "kernels/family.h"

namespace warpmeter::cupti {

// One thread an element of i32 data[n]:
//   add_one   data[i] += 1
//   halve     data[i] = data[i] / 2 where data[i] is even: what it does depends on its input
//   stray     stores far outside every buffer
//   broadcast stores data[i] to shared memory, loads the block's first word in every lane
//   indexed   keeps 96 bytes in local memory, since which of them it reads depends on its input
//   spin      a long dependent loop: some tens of microseconds
inline constexpr const char* ptx = R"(
.version 7.0
.target sm_75
.address_size 64

.visible .entry add_one(.param .u64 data, .param .u32 n) {
  .reg .pred %p; .reg .b32 %r<6>; .reg .b64 %d<4>;
  ld.param.u64 %d1, [data]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
  mad.lo.u32 %r2, %r2, %r3, %r4;
  setp.ge.u32 %p, %r2, %r1; @%p bra done;
  cvta.to.global.u64 %d2, %d1; mul.wide.u32 %d3, %r2, 4; add.s64 %d2, %d2, %d3;
  ld.global.u32 %r5, [%d2]; add.u32 %r5, %r5, 1; st.global.u32 [%d2], %r5;
done:
  ret;
}

.visible .entry halve(.param .u64 data, .param .u32 n) {
  .reg .pred %p<3>; .reg .b32 %r<7>; .reg .b64 %d<4>;
  ld.param.u64 %d1, [data]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
  mad.lo.u32 %r2, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r2, %r1; @%p1 bra done;
  cvta.to.global.u64 %d2, %d1; mul.wide.u32 %d3, %r2, 4; add.s64 %d2, %d2, %d3;
  ld.global.u32 %r5, [%d2]; and.b32 %r6, %r5, 1;
  setp.ne.u32 %p2, %r6, 0; @%p2 bra done;
  shr.u32 %r5, %r5, 1; st.global.u32 [%d2], %r5;
done:
  ret;
}

.visible .entry broadcast(.param .u64 data, .param .u32 n) {
  .reg .b32 %r<6>; .reg .b64 %d<4>;
  .shared .align 4 .b8 tile[1024];
  ld.param.u64 %d1, [data]; cvta.to.global.u64 %d2, %d1;
  mov.u32 %r2, %tid.x; mul.wide.u32 %d3, %r2, 4; add.s64 %d2, %d2, %d3;
  ld.global.u32 %r3, [%d2];
  mov.u32 %r4, tile; mad.lo.u32 %r5, %r2, 4, %r4;
  st.shared.u32 [%r5], %r3; bar.sync 0;
  ld.volatile.shared.u32 %r1, [tile]; st.global.u32 [%d2], %r1;
  ret;
}

.visible .entry stray(.param .u64 data, .param .u32 n) {
  .reg .b32 %r<2>; .reg .b64 %d<3>;
  ld.param.u64 %d1, [data]; cvta.to.global.u64 %d2, %d1; add.s64 %d2, %d2, 4398046511104;
  mov.u32 %r1, 1; st.global.u32 [%d2], %r1;
  ret;
}

.visible .entry indexed(.param .u64 data, .param .u32 n) {
  .reg .b32 %r<3>; .reg .b64 %d<5>;
  .local .align 16 .b8 kept[96];
  ld.param.u64 %d1, [data]; cvta.to.global.u64 %d2, %d1;
  ld.global.u32 %r1, [%d2]; mov.u64 %d3, kept; st.local.u32 [%d3+8], %r1;
  mul.wide.u32 %d4, %r1, 4; add.s64 %d3, %d3, %d4; ld.local.u32 %r2, [%d3];
  st.global.u32 [%d2], %r2;
  ret;
}

.visible .entry spin(.param .u64 data, .param .u32 n) {
  .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d<3>;
  ld.param.u64 %d1, [data]; cvta.to.global.u64 %d2, %d1;
  ld.global.u32 %r1, [%d2]; mov.u32 %r2, 0;
again:
  mad.lo.u32 %r1, %r1, 1664525, 1013904223; add.u32 %r2, %r2, 1;
  setp.lt.u32 %p, %r2, 20000; @%p bra again;
  st.global.u32 [%d2], %r1;
  ret;
}
)";

inline const kernels::Code code = {75, ptx, {}};
inline const kernels::Image image = {"device_test", "tests/device/kernels.h", "", {&code, 1}};

}  // namespace warpmeter::cupti
