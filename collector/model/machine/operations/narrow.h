// SPDX-License-Identifier: MIT
// Part of operations.h: 16-bit floats, packed pairs, and what else few kernels use.
//
// `.ftz`, `.sat` and `.relu` of 16-bit floats are operations of their own, like those of f32.
#define NARROW_UNARY(name, prefix, T, type, function)              \
  UNARY(name##_##type, prefix "." #type, u16, u16, function<T>(a)) \
  UNARY(name##_##type##x2, prefix "." #type "x2", u32, u32, halves(a, function<T>))
#define NARROW_BINARY(name, T, type, function)                                   \
  BINARY(name##_##type, #name "{,.rn}." #type, u16, u16, u16, function<T>(a, b)) \
  BINARY(name##_##type##x2, #name "{,.rn}." #type "x2", u32, u32, u32, halves(a, b, function<T>))
#define NARROW_TERNARY(name, T, type, function)                                        \
  TERNARY(name##_##type, #name ".rn." #type, u16, u16, u16, u16, function<T>(a, b, c)) \
  TERNARY(name##_##type##x2, #name ".rn." #type "x2", u32, u32, u32, u32,              \
          halves(a, b, c, function<T>))
#define NARROW_EXTREME(name, T, type)                                                         \
  BINARY(name##_##type, #name "." #type, u16, u16, u16, narrow_##name<T>(a, b, false))        \
  BINARY(name##_nan_##type, #name ".NaN." #type, u16, u16, u16, narrow_##name<T>(a, b, true)) \
  BINARY(name##_xor_##type, #name ".xorsign.abs." #type, u16, u16, u16,                       \
         with_xor_sign<T>(a, b, narrow_##name<T>(a & 0x7fff, b & 0x7fff, false)))             \
  BINARY(name##_nan_xor_##type, #name ".NaN.xorsign.abs." #type, u16, u16, u16,               \
         with_xor_sign<T>(a, b, narrow_##name<T>(a & 0x7fff, b & 0x7fff, true)))              \
  BINARY(name##_##type##x2, #name "." #type "x2", u32, u32, u32,                              \
         halves(a, b, [](u16 x, u16 y) { return narrow_##name<T>(x, y, false); }))            \
  BINARY(name##_nan_##type##x2, #name ".NaN." #type "x2", u32, u32, u32,                      \
         halves(a, b, [](u16 x, u16 y) { return narrow_##name<T>(x, y, true); }))             \
  BINARY(name##_xor_##type##x2, #name ".xorsign.abs." #type "x2", u32, u32, u32,              \
         halves(a, b, [](u16 x, u16 y) {                                                      \
           return with_xor_sign<T>(x, y, narrow_##name<T>(x & 0x7fff, y & 0x7fff, false));    \
         }))                                                                                  \
  BINARY(name##_nan_xor_##type##x2, #name ".NaN.xorsign.abs." #type "x2", u32, u32, u32,      \
         halves(a, b, [](u16 x, u16 y) {                                                      \
           return with_xor_sign<T>(x, y, narrow_##name<T>(x & 0x7fff, y & 0x7fff, true));     \
         }))
#define NARROW_FORMAT(T, type)                                         \
  NARROW_BINARY(add, T, type, narrow_add)                              \
  NARROW_BINARY(sub, T, type, narrow_sub)                              \
  NARROW_BINARY(mul, T, type, narrow_mul)                              \
  NARROW_TERNARY(fma, T, type, narrow_fma)                             \
  NARROW_EXTREME(min, T, type)                                         \
  NARROW_EXTREME(max, T, type)                                         \
  NARROW_UNARY(neg, "neg", T, type, narrow_neg)                        \
  NARROW_UNARY(abs, "abs", T, type, narrow_abs)                        \
  UNARY(saturate_##type, "", u16, u16, narrow_clamp<T>(a))             \
  UNARY(saturate_##type##x2, "", u32, u32, halves(a, narrow_clamp<T>)) \
  UNARY(relu_##type, "", u16, u16, narrow_relu<T>(a))                  \
  UNARY(relu_##type##x2, "", u32, u32, halves(a, narrow_relu<T>))

NARROW_FORMAT(F16, f16)
NARROW_FORMAT(Bf16, bf16)
UNARY(flush_f16, "", u16, u16, narrow_flush<F16>(a))
UNARY(flush_f16x2, "", u32, u32, halves(a, narrow_flush<F16>))

// The special-function unit's. For bf16 there is only a form with .ftz of ex2.
#define NARROW_APPROXIMATE(name, names, type, function, unit)        \
  UNARY(name##_##type, names "." #type, u16, u16, function(unit, a)) \
  UNARY(name##_##type##x2, names "." #type "x2", u32, u32,           \
        halves(a, [](u16 x) { return function(unit, x); }))
NARROW_APPROXIMATE(ex2, "ex2.approx", f16, approximate_half, unit_ex2)
NARROW_APPROXIMATE(ex2, "ex2.approx.ftz", bf16, approximate_bfloat, unit_ex2)
NARROW_APPROXIMATE(tanh, "tanh.approx", f16, approximate_half, unit_tanh)
NARROW_APPROXIMATE(tanh, "tanh.approx", bf16, approximate_bfloat, unit_tanh)
#undef NARROW_APPROXIMATE

// cvt's last link to less than 32 bits: imm is the format, the rounding and whether it saturates.
OTHER(narrow_f64)
CONVERT(f64_from_e4m3, f64, u16, widen_8(a, format_e4m3))
CONVERT(f64_from_e5m2, f64, u16, widen_8(a, format_e5m2))
CONVERT(sticky_f64_from_u64, f64, u64, sticky_from_integer(a))
CONVERT(sticky_f64_from_s64, f64, s64, sticky_from_integer(a))
CONVERT(relu_f32, f32, f32, a != a ? a : a > 0 ? a : 0.0f)
// .rna, away from zero; a NaN is cut off, which may leave an infinity.
CONVERT(tf32_from_f32, u32, u32, ((a & 0x7f800000u) == 0x7f800000u ? a : a + 0x1000u) & 0xffffe000u)
CONVERT(high_byte, u16, u16, static_cast<u16>(a >> 8))

BINARY(pack_bytes, "", u16, u16, u16, static_cast<u16>((a & 255) | b << 8))
BINARY(pack_u16_s32, "cvt.pack.sat.u16.s32", u32, s32, s32,
       u32{saturate_u16(b)} | u32{saturate_u16(a)} << 16)
BINARY(pack_s16_s32, "cvt.pack.sat.s16.s32", u32, s32, s32,
       u32{saturate_s16(b)} | u32{saturate_s16(a)} << 16)
TERNARY(pack_u8_s32, "cvt.pack.sat.u8.s32.b32", u32, s32, s32, u32,
        c << 16 | saturate_byte(a, 0, 255) << 8 | saturate_byte(b, 0, 255))
TERNARY(pack_s8_s32, "cvt.pack.sat.s8.s32.b32", u32, s32, s32, u32,
        c << 16 | saturate_byte(a, -128, 127) << 8 | saturate_byte(b, -128, 127))

// Pairs of 16-bit integers.
BINARY(add_u16x2, "add.{u16x2,s16x2}", u32, u32, u32,
       halves(a, b, [](u16 x, u16 y) { return static_cast<u16>(x + y); }))
BINARY(add_sat_u16x2, "add.sat.u16x2", u32, u32, u32,
       halves(a, b, [](u16 x, u16 y) { return saturate_u16(x + y); }))
BINARY(add_sat_s16x2, "add.sat.s16x2", u32, u32, u32,
       halves(a, b, [](u16 x, u16 y) { return saturate_s16(signed_16(x) + signed_16(y)); }))
BINARY(min_u16x2, "min.u16x2", u32, u32, u32,
       halves(a, b, [](u16 x, u16 y) { return x < y ? x : y; }))
BINARY(max_u16x2, "max.u16x2", u32, u32, u32,
       halves(a, b, [](u16 x, u16 y) { return x < y ? y : x; }))
BINARY(min_s16x2, "min.s16x2", u32, u32, u32,
       halves(a, b, [](u16 x, u16 y) { return signed_16(x) < signed_16(y) ? x : y; }))
BINARY(max_s16x2, "max.s16x2", u32, u32, u32,
       halves(a, b, [](u16 x, u16 y) { return signed_16(x) < signed_16(y) ? y : x; }))
UNARY(relu_s16x2, "", u32, u32, halves(a, [](u16 x) { return signed_16(x) < 0 ? u16{0} : x; }))
UNARY(relu_s32, "", s32, s32, a < 0 ? 0 : a)

// Pairs of f32.
BINARY(add_f32x2, "add{,.rn}.f32x2", u64, u64, u64,
       words(a, b, 0, [](f32 x, f32 y, f32) { return canonical(x + y); }))
BINARY(sub_f32x2, "sub{,.rn}.f32x2", u64, u64, u64,
       words(a, b, 0, [](f32 x, f32 y, f32) { return canonical(x - y); }))
BINARY(mul_f32x2, "mul{,.rn}.f32x2", u64, u64, u64,
       words(a, b, 0, [](f32 x, f32 y, f32) { return canonical(x * y); }))
TERNARY(fma_f32x2, "fma.rn.f32x2", u64, u64, u64, u64,
        words(a, b, c, [](f32 x, f32 y, f32 z) { return canonical(fused(x, y, z)); }))
UNARY(flush_f32x2, "", u64, u64, words(a, 0, 0, [](f32 x, f32, f32) { return flushed(x); }))

BINARY(min_xor_f32, "min.xorsign.abs.f32", f32, f32, f32,
       xor_sign(a, b, canonical(minimum(with_sign_of(0.0f, a), with_sign_of(0.0f, b)))))
BINARY(max_xor_f32, "max.xorsign.abs.f32", f32, f32, f32,
       xor_sign(a, b, canonical(maximum(with_sign_of(0.0f, a), with_sign_of(0.0f, b)))))
BINARY(min_nan_xor_f32, "min.NaN.xorsign.abs.f32", f32, f32, f32,
       a != a || b != b ? canonical(a + b)
                        : xor_sign(a, b, minimum(with_sign_of(0.0f, a), with_sign_of(0.0f, b))))
BINARY(max_nan_xor_f32, "max.NaN.xorsign.abs.f32", f32, f32, f32,
       a != a || b != b ? canonical(a + b)
                        : xor_sign(a, b, maximum(with_sign_of(0.0f, a), with_sign_of(0.0f, b))))
TERNARY(min3_f32, "min.f32.3", f32, f32, f32, f32, canonical(minimum(minimum(a, b), c)))
TERNARY(max3_f32, "max.f32.3", f32, f32, f32, f32, canonical(maximum(maximum(a, b), c)))
TERNARY(min3_nan_f32, "min.NaN.f32.3", f32, f32, f32, f32,
        canonical(a != a || b != b || c != c ? a + b + c : minimum(minimum(a, b), c)))
TERNARY(max3_nan_f32, "max.NaN.f32.3", f32, f32, f32, f32,
        canonical(a != a || b != b || c != c ? a + b + c : maximum(maximum(a, b), c)))

TERNARY(dp2a_lo_u32_u32, "dp2a.lo.u32.u32", u32, u32, u32, u32, dot_2<u16, u8>(a, b, 0) + c)
TERNARY(dp2a_lo_u32_s32, "dp2a.lo.u32.s32", u32, u32, u32, u32, dot_2<u16, s8>(a, b, 0) + c)
TERNARY(dp2a_lo_s32_u32, "dp2a.lo.s32.u32", u32, u32, u32, u32, dot_2<s16, u8>(a, b, 0) + c)
TERNARY(dp2a_lo_s32_s32, "dp2a.lo.s32.s32", u32, u32, u32, u32, dot_2<s16, s8>(a, b, 0) + c)
TERNARY(dp2a_hi_u32_u32, "dp2a.hi.u32.u32", u32, u32, u32, u32, dot_2<u16, u8>(a, b, 16) + c)
TERNARY(dp2a_hi_u32_s32, "dp2a.hi.u32.s32", u32, u32, u32, u32, dot_2<u16, s8>(a, b, 16) + c)
TERNARY(dp2a_hi_s32_u32, "dp2a.hi.s32.u32", u32, u32, u32, u32, dot_2<s16, u8>(a, b, 16) + c)
TERNARY(dp2a_hi_s32_s32, "dp2a.hi.s32.s32", u32, u32, u32, u32, dot_2<s16, s8>(a, b, 16) + c)
TERNARY(fns, "fns.b32", u32, u32, u32, s32, find_nth(a, b, c))
TERNARY(mad24_hi_u32, "mad24.hi.u32", u32, u32, u32, u32,
        static_cast<u32>(u64{low_24(a)} * low_24(b) >> 16) + c)
TERNARY(mad24_hi_s32, "mad24.hi.s32", u32, s32, s32, u32,
        static_cast<u32>(s64{low_24(a)} * low_24(b) >> 16) + c)
TERNARY(mad24_hi_sat_s32, "mad24.hi.sat.s32", s32, s32, s32, s32,
        saturate_s32((s64{low_24(a)} * low_24(b) >> 16) + c))
BINARY(szext_wrap_u32, "szext.wrap.u32", u32, u32, u32, extract_field(a, 0, b & 31))
BINARY(szext_wrap_s32, "szext.wrap.s32", s32, s32, u32, extract_field(a, 0, b & 31))

#define NARROW_COMPARE(T, type)                                                             \
  COMPARE(eq_##type, eq, type, T::widen(a) == T::widen(b))                                  \
  COMPARE(ne_##type, ne, type, T::widen(a) < T::widen(b) || T::widen(a) > T::widen(b))      \
  COMPARE(lt_##type, lt, type, T::widen(a) < T::widen(b))                                   \
  COMPARE(le_##type, le, type, T::widen(a) <= T::widen(b))                                  \
  COMPARE(equ_##type, equ, type, !(T::widen(a) < T::widen(b) || T::widen(a) > T::widen(b))) \
  COMPARE(neu_##type, neu, type, T::widen(a) != T::widen(b))                                \
  COMPARE(ltu_##type, ltu, type, !(T::widen(a) >= T::widen(b)))                             \
  COMPARE(leu_##type, leu, type, !(T::widen(a) > T::widen(b)))                              \
  COMPARE(num_##type, num, type, !narrow_is_nan<T>(a) && !narrow_is_nan<T>(b))              \
  COMPARE(nan_##type, nan, type, narrow_is_nan<T>(a) || narrow_is_nan<T>(b))
NARROW_COMPARE(F16, f16)
NARROW_COMPARE(Bf16, bf16)

#undef NARROW_UNARY
#undef NARROW_BINARY
#undef NARROW_TERNARY
#undef NARROW_EXTREME
#undef NARROW_FORMAT
#undef NARROW_COMPARE
