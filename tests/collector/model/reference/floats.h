// SPDX-License-Identifier: MIT
// Floats of every width, for the reference. Those of 32 and 64 bits are computed by the C library
// under the rounding that is named; narrower ones in f64, rounded to odd, and then once more to
// their own width (Boldo, Melquiond: "When double rounding is odd", 2005). The program rounds
// narrow floats in another way (execute/narrow.h); nothing of it may be used here, for a mistake in
// it would then be one of the reference.
#pragma once

#include <array>
#include <cfenv>
#include <cstdint>

#include "tests/collector/model/reference/line.h"

namespace warpmeter::model::reference {

/// The rounding that the words name, while this lives: rz, rm, rp or to the nearest.
struct Rounded {
  explicit Rounded(const Line& line);
  ~Rounded() { std::fesetround(FE_TONEAREST); }
  Rounded(const Rounded&) = delete;
  Rounded& operator=(const Rounded&) = delete;
};

/// One number as f64, exactly.
double widened(std::uint64_t bits, Type type);
/// The number of a type that the words round a value to: with .satfinite none is infinite.
std::uint64_t narrowed(double value, Type type, const Line& line);
/// An integer as f64, with the last bit set when something was lost.
double odd(Wide value);

/// .ftz of a number of a type.
std::uint64_t flushed(std::uint64_t bits, Type type);
/// .sat: to 0 … 1, and NaN to 0.
std::uint64_t saturated(std::uint64_t bits, Type type);
bool is_nan(std::uint64_t bits, Type type);
/// The NaN that an instruction gives.
std::uint64_t canonical_nan(Type type);

/// add, fma, min, … of one number.
std::uint64_t float_value(const Line& line, Type type, const std::array<std::uint64_t, 4>& in);
/// "lt", "neu", …
bool compares(const std::string& how, double a, double b);

}  // namespace warpmeter::model::reference
