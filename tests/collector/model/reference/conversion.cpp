// SPDX-License-Identifier: MIT
#include "tests/collector/model/reference/conversion.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "tests/collector/model/reference/floats.h"

namespace warpmeter::model::reference {
namespace {

bool rounds_to_whole(const Line& line) {
  return line.has("rni") || line.has("rzi") || line.has("rmi") || line.has("rpi");
}

std::uint64_t bits_of(double value) { return std::bit_cast<std::uint64_t>(value); }

std::uint64_t to_integer(double value, Type from, Type to) {
  if (std::isnan(value)) {  // for at most f32 zero; of f64, and always to 64 bits, the highest bit
    const bool is_zero = from.bits <= 32 && to.bits < 64;
    const Wide highest = number(std::uint64_t{1} << (to.bits - 1), to);
    return is_zero ? 0 : low(static_cast<UnsignedWide>(highest));
  }
  const double most = std::ldexp(1.0, 100);
  return clamped(static_cast<Wide>(std::clamp(std::trunc(value), -most, most)), to);
}

/// A number as a float type; `value` is exact, or odd where it is not.
std::uint64_t to_float(const Line& line, double value, Type to) {
  const Rounded rounding(line);
  if (to.bits == 64) return line.has("sat") ? saturated(bits_of(value), to) : bits_of(value);
  if (to.bits == 32 && to.kind == 'f') {
    const volatile double exact = value;
    const volatile float narrow = static_cast<float>(exact);
    std::uint64_t result = std::bit_cast<std::uint32_t>(float{narrow});
    if (line.has("ftz")) result = flushed(result, to);
    return line.has("sat") ? saturated(result, to) : result;
  }
  if (line.has("sat")) value = value > 0 ? std::min(value, 1.0) : 0;
  return narrowed(value, to, line);
}

double lifted(double value) { return std::isnan(value) || value > 0 ? value : 0; }

/// The bits of a NaN that is not made the canonical one: of f64 its upper bits, of f32 with .rna
/// all but the lowest.
std::optional<std::uint64_t> narrowed_nan(const Line& line, std::uint64_t bits, Type from,
                                          Type to) {
  if (!to.is_float() || !is_nan(bits, from) || line.has("sat") || line.has("satfinite"))
    return std::nullopt;
  if (to.kind == 't' && line.has("rna")) return bits & 0xffffe000u;
  if (from.bits != 64 || to.bits != 16) return std::nullopt;
  const int fraction = to.kind == 'f' ? 10 : 7;
  const std::uint64_t magnitude = (std::uint64_t{1} << 15) - 1,
                      infinity = magnitude >> fraction << fraction;
  const std::uint64_t kept =
      (bits | std::uint64_t{1} << 51) >> (52 - fraction) & (magnitude ^ infinity);
  return bits >> 63 << 15 | infinity | kept;
}

std::uint64_t from_float(const Line& line, std::uint64_t bits, Type from, Type to) {
  if (const auto nan = narrowed_nan(line, bits, from, to)) return *nan;
  if (line.has("ftz") && from.bits == 32) bits = flushed(bits, from);
  volatile double value = widened(bits, from);
  if (line.has("relu")) value = lifted(value);
  if (rounds_to_whole(line)) {
    const Rounded rounding(line);
    value = std::nearbyint(value);
  }
  return to.is_float() ? to_float(line, value, to) : to_integer(value, from, to);
}

std::uint64_t from_integer(const Line& line, std::uint64_t bits, Type from, Type to) {
  const Wide value = number(bits, from);
  if (!to.is_float()) {
    if (line.has("sat")) return clamped(value, to);
    // The extension of a narrow number in a wider register: its own type's extension.
    return low(static_cast<UnsignedWide>(number(low(static_cast<UnsignedWide>(value)), to)));
  }
  if (to.bits < 32) return to_float(line, odd(value), to);
  // clang computes the conversion of unsigned numbers, and 0 downwards comes out as -0.
  const bool is_small = value <= std::numeric_limits<std::int64_t>::max();
  const Rounded rounding(line);
  const volatile auto small = static_cast<std::int64_t>(value);
  const volatile auto large = static_cast<std::uint64_t>(value);
  std::uint64_t result = 0;
  if (to.bits == 32) {
    const volatile float real = is_small ? static_cast<float>(small) : static_cast<float>(large);
    result = std::bit_cast<std::uint32_t>(float{real});
  } else {
    const volatile double real = is_small ? static_cast<double>(small) : static_cast<double>(large);
    result = bits_of(real);
  }
  return line.has("sat") ? saturated(result, to) : result;
}

/// To two numbers in one register, of two registers (the first is the upper one) or of one.
std::uint64_t to_pair(const Line& line, const std::array<std::uint64_t, 4>& in, Type from,
                      Type to) {
  std::uint64_t result = 0;
  for (int i = 0; i < 2; ++i) {
    const std::uint64_t bits =
        from.parts == 2 ? low(in[0] >> i * from.bits, from.bits) : in[i == 0 ? 1 : 0];
    result |= from_float(line, bits, from.part(), to.part()) << i * to.bits;
  }
  return result;
}

/// cvt.pack.sat: two numbers clamped and put in front of what is there.
std::uint64_t packed(const Line& line, const std::array<std::uint64_t, 4>& in) {
  const Type to = type_of(line.words[3]), from = type_of(line.words[4]);
  const auto part = [&](std::uint64_t bits) {
    return low(clamped(number(bits, from), to), to.bits);
  };
  return in[2] << 2 * to.bits | part(in[0]) << to.bits | part(in[1]);
}

}  // namespace

std::uint64_t converted(const Line& line, const std::array<std::uint64_t, 4>& in) {
  if (line.has("pack")) return packed(line, in);
  const Type from = line.type(), to = type_of(line.words[line.words.size() - 2]);
  if (to.parts == 2) return to_pair(line, in, from, to);
  const bool is_float = from.is_float();
  return is_float ? from_float(line, in[0], from, to) : from_integer(line, in[0], from, to);
}

}  // namespace warpmeter::model::reference
