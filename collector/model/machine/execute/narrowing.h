// SPDX-License-Identifier: MIT
// cvt to less than 32 bits.

const Operation* do_narrow_f64(Warp& w, const Operation* op, u32 mask) {
  const f64* a = row<f64>(w, op->a);
  const u64 how = static_cast<u64>(op->imm);
  const Narrowing rounding = static_cast<Narrowing>(how >> narrow_rounding_shift & 255);
  const bool saturates = (how & narrow_saturates) != 0;
  const bool keeps_nan = (how & narrow_keeps_nan) != 0;
  const auto each = [&](const Format& format, u32 sign_bit) {
    return assign<u16>(w, op, mask, [&](u32 l) {
      const f64 value = a[l];
      return static_cast<u16>(keeps_nan && value != value
                                  ? narrow_nan(value, format, sign_bit)
                                  : narrow(value, format, sign_bit, rounding, saturates));
    });
  };
  switch (static_cast<NarrowFormat>(how & 255)) {
    case NarrowFormat::f16:
      return each(format_f16, 0x8000);
    case NarrowFormat::bf16:
      return each(format_bf16, 0x8000);
    case NarrowFormat::e4m3:
      return each(format_e4m3, 0x80);
    case NarrowFormat::e5m2:
      return each(format_e5m2, 0x80);
    case NarrowFormat::tf32:
      break;
  }
  return assign<u32>(w, op, mask, [&](u32 l) {
    return a[l] != a[l] ? 0x7fffe000u
                        : narrow(a[l], format_tf32, 0x40000, rounding, saturates) << 13;
  });
}
