// SPDX-License-Identifier: MIT
// Video instructions: small integers, computed in full width and cut or saturated to their own.
//
// Those on two or four numbers of 32 bits are as PTX says. sm_90 has none on single numbers; what
// ptxas puts in their place is, with an H200's answers, PTX's but for this:
//   - the upper half of a register (.h1) gets the upper half of the result, not the lower;
//   - if it saturates to a part of a register, a number has no sign: what is negative is the
//     greatest. Shifts saturate to 32 bits then too, and take 34 bits of what they have shifted;
//   - without a sign, sums, differences and the like that saturate become 0 where they are negative
//     and are cut where they are too great;
//   - .min and .max compare 64 bits. Sums and differences, and shifts that saturate, are cut to 32
//     bits before, and extended by their sign even where they have none;
//   - vmad takes whole factors and the summand to be signed, whatever the types are.

inline s32 video_part(u32 value, u32 part, u32 bits, bool is_signed) {
  const u32 shifted = value >> part * bits;
  if (bits == 16)
    return is_signed ? s32{static_cast<s16>(shifted)} : s32{static_cast<u16>(shifted)};
  return is_signed ? s32{static_cast<s8>(shifted)} : s32{static_cast<u8>(shifted)};
}

template <class Number>
inline Number video_result(VideoKind kind, Number a, Number b) {
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
    default:
      break;
  }
  return a >= b ? 1 : 0;
}

const Operation* do_video(Warp& w, const Operation* op, u32 mask) {
  const u32* row_a = row<u32>(w, op->a);
  const u32* row_b = row<u32>(w, op->b);
  const u32* row_c = row<u32>(w, op->c);
  const u64 how = static_cast<u64>(op->imm);
  const auto kind = static_cast<VideoKind>(how & 255);
  const u32 bits = (how & video_by_four) != 0 ? 8 : 16, count = 32 / bits;
  const bool d_signed = (how & video_d_signed) != 0;
  return assign<u32>(w, op, mask, [&](u32 l) {
    const auto number = [&](int parts, u32 i, bool is_signed) {
      const u32 part = how >> (parts + 3 * static_cast<int>(i)) & 7;
      return part < count ? video_part(row_a[l], part, bits, is_signed)
                          : video_part(row_b[l], part - count, bits, is_signed);
    };
    const u32 c = row_c[l];
    u32 packed = 0, sum = c;
    for (u32 part = 0; part < count; ++part) {
      const u32 places = ((u32{1} << bits) - 1) << part * bits;
      if ((how >> video_written >> part & 1) == 0) {
        packed |= c & places;
        continue;
      }
      const s32 a = number(video_parts_of_a, part, (how & video_a_signed) != 0);
      const s32 b = number(video_parts_of_b, part, (how & video_b_signed) != 0);
      s32 value = video_result(kind, a, b);
      if ((how & video_saturates) != 0) {
        const s32 greatest = d_signed ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
        const s32 least = d_signed ? -1 - greatest : 0;
        value = value < least ? least : value > greatest ? greatest : value;
      }
      packed |= static_cast<u32>(value) << part * bits & places;
      sum += static_cast<u32>(value);  // in full width, as an H200 adds them
    }
    return (how & video_adds) != 0 ? sum : packed;
  });
}

inline VideoPart video_part_at(u64 how, int place) {
  return static_cast<VideoPart>(how >> place & 7);
}
inline u32 bits_of_part(VideoPart part) {
  return part == VideoPart::whole ? 32 : part >= VideoPart::h0 ? 16 : 8;
}
inline u32 number_of_part(VideoPart part) {
  return static_cast<u32>(part) -
         static_cast<u32>(part >= VideoPart::h0 ? VideoPart::h0 : VideoPart::b0);
}
inline s64 number_of(u32 value, VideoPart part, bool is_signed) {
  if (part != VideoPart::whole) {
    return video_part(value, number_of_part(part), bits_of_part(part), is_signed);
  }
  return is_signed ? s64{static_cast<s32>(value)} : s64{value};
}

/// vmad.
inline u32 video_product(u64 how, u32 a, u32 b, u32 c) {
  const VideoPart part_a = video_part_at(how, video_part_of_a),
                  part_b = video_part_at(how, video_part_of_b);
  const bool a_signed = (how & video_a_signed) != 0, b_signed = (how & video_b_signed) != 0;
  const auto factor = [](u32 value, VideoPart part, bool is_signed) {
    return static_cast<u64>(number_of(value, part, is_signed || part == VideoPart::whole));
  };
  u64 sum = factor(a, part_a, a_signed) * factor(b, part_b, b_signed);
  u64 summand = static_cast<u64>(s64{static_cast<s32>(c)});
  if ((how & video_negates_product) != 0) sum = 0 - sum;
  if ((how & video_negates_sum) != 0) summand = 0 - summand;
  sum += summand + ((how & video_adds_one) != 0 ? 1 : 0);
  const u32 shift = how >> video_shift & 15;
  const bool is_signed =
      a_signed || b_signed || (how & (video_negates_product | video_negates_sum)) != 0;
  const s64 shifted = is_signed ? static_cast<s64>(sum) >> shift : static_cast<s64>(sum >> shift);
  if ((how & video_saturates) == 0) return static_cast<u32>(shifted);
  return static_cast<u32>(is_signed ? clamp_s64(shifted, INT32_MIN, INT32_MAX)
                                    : clamp_s64(shifted, 0, UINT32_MAX));
}

inline s64 video_saturated(s64 value, VideoPart part, bool is_signed, bool is_shift) {
  if (part != VideoPart::whole && !is_shift) {
    const u64 greatest = (u64{1} << (bits_of_part(part) - (is_signed ? 1 : 0))) - 1;
    return static_cast<s64>(static_cast<u64>(value) < greatest ? static_cast<u64>(value)
                                                               : greatest);
  }
  if (is_signed) return clamp_s64(value, INT32_MIN, INT32_MAX);
  return clamp_s64(value, 0, is_shift ? s64{UINT32_MAX} : INT64_MAX);
}

inline u32 video_with_third(VideoSecond second, s64 value, u32 c, bool is_signed) {
  if (second == VideoSecond::add) return static_cast<u32>(value) + c;
  const bool is_less = is_signed ? value < s64{static_cast<s32>(c)} : static_cast<u64>(value) < c;
  return is_less == (second == VideoSecond::minimum) ? static_cast<u32>(value) : c;
}

const Operation* do_video_number(Warp& w, const Operation* op, u32 mask) {
  const u32* row_a = row<u32>(w, op->a);
  const u32* row_b = row<u32>(w, op->b);
  const u32* row_c = row<u32>(w, op->c);
  const u64 how = static_cast<u64>(op->imm);
  const auto kind = static_cast<VideoKind>(how & 255);
  if (kind == VideoKind::product) {
    return assign<u32>(w, op, mask,
                       [&](u32 l) { return video_product(how, row_a[l], row_b[l], row_c[l]); });
  }
  const VideoPart part_a = video_part_at(how, video_part_of_a),
                  part_b = video_part_at(how, video_part_of_b),
                  part_d = video_part_at(how, video_part_of_d);
  const auto second = static_cast<VideoSecond>(how >> video_second & 3);
  const bool is_shift = kind == VideoKind::shift_left || kind == VideoKind::shift_right;
  const bool is_signed = (how & video_d_signed) != 0, saturates = (how & video_saturates) != 0;
  const bool is_cut = kind == VideoKind::add || kind == VideoKind::sub || (is_shift && saturates);
  return assign<u32>(w, op, mask, [&](u32 l) {
    const s64 a = number_of(row_a[l], part_a, (how & video_a_signed) != 0);
    const s64 b = number_of(row_b[l], part_b, (how & video_b_signed) != 0);
    const s64 by = (how & video_wraps) != 0 ? b & 31 : b < 32 ? b : 32;
    s64 value = kind == VideoKind::shift_left    ? static_cast<s64>(static_cast<u64>(a) << by)
                : kind == VideoKind::shift_right ? a >> by
                                                 : video_result(kind, a, b);
    if (saturates) {
      if (is_shift) value = static_cast<s64>(static_cast<u64>(value) << 30) >> 30;
      value = video_saturated(value, part_d, is_signed, is_shift);
    }
    const u32 c = row_c[l];
    if (part_d != VideoPart::whole) {
      const u32 bits = bits_of_part(part_d), shift = number_of_part(part_d) * bits;
      const u32 places = ((u32{1} << bits) - 1) << shift;
      const u32 moved = static_cast<u32>(value) << (part_d == VideoPart::h1 ? 0 : shift);
      return (moved & places) | (c & ~places);
    }
    if (second == VideoSecond::none) return static_cast<u32>(value);
    return video_with_third(second, is_cut ? s64{static_cast<s32>(value)} : value, c, is_signed);
  });
}
