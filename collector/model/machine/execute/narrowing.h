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

// Video instructions: two or four small integers in 32 bits, each computed in full width and cut or
// saturated to its own.

inline s32 video_part(u32 value, u32 part, u32 bits, bool is_signed) {
  const u32 shifted = value >> part * bits;
  if (bits == 16)
    return is_signed ? s32{static_cast<s16>(shifted)} : s32{static_cast<u16>(shifted)};
  return is_signed ? s32{static_cast<s8>(shifted)} : s32{static_cast<u8>(shifted)};
}

inline s32 video_result(VideoKind kind, s32 a, s32 b) {
  switch (kind) {
    case VideoKind::add:
      return a + b;
    case VideoKind::sub:
      return a - b;
    case VideoKind::average:
      return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
    case VideoKind::distance:
      return a < b ? b - a : a - b;
    case VideoKind::minimum:
      return a < b ? a : b;
    case VideoKind::maximum:
      return a < b ? b : a;
    case VideoKind::eq:
      return a == b ? 1 : 0;
    case VideoKind::ne:
      return a != b ? 1 : 0;
    case VideoKind::lt:
      return a < b ? 1 : 0;
    case VideoKind::le:
      return a <= b ? 1 : 0;
    case VideoKind::gt:
      return a > b ? 1 : 0;
    case VideoKind::ge:
      break;
  }
  return a >= b ? 1 : 0;
}

const Operation* do_video(Warp& w, const Operation* op, u32 mask) {
  const u32* row_a = row<u32>(w, op->a);
  const u32* row_b = row<u32>(w, op->b);
  const u32* row_c = row<u32>(w, op->c);
  const u32 how = static_cast<u32>(op->imm);
  const auto kind = static_cast<VideoKind>(how & 255);
  const u32 bits = (how & video_by_four) != 0 ? 8 : 16;
  const bool d_signed = (how & video_d_signed) != 0;
  return assign<u32>(w, op, mask, [&](u32 l) {
    u32 packed = 0, sum = row_c[l];
    for (u32 part = 0; part < 32 / bits; ++part) {
      const s32 a = video_part(row_a[l], part, bits, (how & video_a_signed) != 0);
      const s32 b = video_part(row_b[l], part, bits, (how & video_b_signed) != 0);
      s32 value = video_result(kind, a, b);
      if ((how & video_saturates) != 0) {
        const s32 greatest = d_signed ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
        const s32 least = d_signed ? -1 - greatest : 0;
        value = value < least ? least : value > greatest ? greatest : value;
      }
      packed |= (static_cast<u32>(value) & ((u32{1} << bits) - 1)) << part * bits;
      sum += static_cast<u32>(value);  // in full width, as an H200 adds them
    }
    return (how & video_adds) != 0 ? sum : packed;
  });
}
