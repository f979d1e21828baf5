// SPDX-License-Identifier: MIT
// Machine code of programs where the host computes in another way than kernels do.
#include <gtest/gtest.h>

#include <cfenv>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "tests/collector/model/native_twins.h"

namespace warpmeter::model {
namespace {

/// Kernels keep denormals and round to the nearest though host code does not, which finds its own
/// arithmetic again.
TEST(NativeArithmetic, ComputesAlikeWhateverTheHostsArithmeticIs) {
  const std::string body = R"({
    .reg .f32 %x, %y;
    .reg .b32 %t;
    add.u32 %t, %r9, 3;
    mov.b32 %x, %t;
    mul.f32 %x, %x, 0f3F000000;
    fma.rm.f32 %x, %x, 0f3F000000, %x;
    mov.b32 %t, %x;
    add.u32 %r8, %r8, %t;
    cvt.rn.f32.u32 %y, %r1;
    div.rn.f32 %y, %y, 0f40400000;
    mov.b32 %t, %y;
    add.u32 %r8, %r8, %t;
    })";
  for (const Unit* unit : native_units()) {
    const Twins usual = twins_of_loop(*unit, body, geometry(2, 64));
    std::fenv_t before;
    std::fegetenv(&before);
    std::fesetround(FE_UPWARD);
#if defined(__SSE2__)
    constexpr unsigned flushes = 0x8040;  // FTZ and DAZ of MXCSR
    _mm_setcsr(_mm_getcsr() | flushes);
#endif
    const Twins other = twins_of_loop(*unit, body, geometry(2, 64));
    EXPECT_EQ(std::fegetround(), FE_UPWARD);
#if defined(__SSE2__)
    EXPECT_EQ(_mm_getcsr() & flushes, flushes);
#endif
    std::fesetenv(&before);
    other.expect_equal(body);
    EXPECT_TRUE(other.native.buffers == usual.native.buffers);
  }
}

}  // namespace
}  // namespace warpmeter::model
