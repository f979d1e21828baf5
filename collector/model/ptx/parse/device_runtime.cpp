// SPDX-License-Identifier: MIT
// The grid's barrier as PTX: it does what cooperative_groups' header has inline. The first block
// adds what makes the sum of all blocks' numbers flip the top bit; who sees it flipped goes on.
#include "collector/model/ptx/parse/device_runtime.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

namespace warpmeter::model::ptx {
namespace {

constexpr const char* group_functions = R"(.version 7.0
.target sm_70
.address_size 64

.func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  ld.param.b32 %r1, [scope];
  cvt.u64.u32 %rd1, %r1;
  st.param.b64 [handle], %rd1;
  ret;
}

.func (.param .b32 error) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)
{
  .reg .pred %p<5>;
  .reg .b32 %r<22>;
  .reg .b64 %rd<4>;
  mov.u32 %r1, %envreg2;
  cvt.u64.u32 %rd1, %r1;
  mov.u32 %r2, %envreg1;
  cvt.u64.u32 %rd2, %r2;
  bfi.b64 %rd1, %rd2, %rd1, 32, 32;
  setp.ne.s64 %p1, %rd1, 0;
  @%p1 bra COOPERATIVE;
  trap;
COOPERATIVE:
  barrier.sync 0;
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, %tid.y;
  mov.u32 %r5, %tid.z;
  or.b32 %r3, %r3, %r4;
  or.b32 %r3, %r3, %r5;
  setp.ne.s32 %p2, %r3, 0;
  @%p2 bra ARRIVED;
  add.s64 %rd3, %rd1, 4;
  mov.u32 %r6, %nctaid.x;
  mov.u32 %r7, %nctaid.y;
  mov.u32 %r8, %nctaid.z;
  mul.lo.s32 %r6, %r6, %r7;
  mul.lo.s32 %r6, %r6, %r8;
  mov.u32 %r9, %ctaid.x;
  mov.u32 %r10, %ctaid.y;
  mov.u32 %r11, %ctaid.z;
  or.b32 %r9, %r9, %r10;
  or.b32 %r9, %r9, %r11;
  setp.eq.s32 %p3, %r9, 0;
  mov.u32 %r12, -2147483647;
  sub.s32 %r13, %r12, %r6;
  selp.b32 %r14, %r13, 1, %p3;
  atom.add.release.gpu.u32 %r15, [%rd3], %r14;
WAIT:
  ld.acquire.gpu.u32 %r16, [%rd3];
  xor.b32 %r17, %r16, %r15;
  setp.gt.s32 %p4, %r17, -1;
  @%p4 bra WAIT;
ARRIVED:
  barrier.sync 0;
  mov.u32 %r18, 0;
  st.param.b32 [error], %r18;
  ret;
}
)";

const Module& library() {
  // Never destroyed: modules hold names that lie in its text.
  static const Module* const parsed =
      std::get<std::unique_ptr<Module>>(parse(group_functions)).release();
  return *parsed;
}

}  // namespace

void add_group_functions(Module& module) {
  const bool calls_groups =
      std::any_of(module.functions.begin(), module.functions.end(), [](const Function& function) {
        return function.is_declaration && function.name.starts_with("cudaCG");
      });
  if (!calls_groups) return;
  for (Function function : library().functions) {
    const Function* const known = module.find(function.name);
    if (known == nullptr || !known->is_declaration) continue;
    function.is_of_library = true;
    function.line = known->line;
    for (Instruction& instruction : function.body) instruction.line = known->line;
    module.functions.push_back(std::move(function));
  }
}

}  // namespace warpmeter::model::ptx
