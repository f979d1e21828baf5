// SPDX-License-Identifier: MIT
// Division by a number that stays the same, as a multiplication: for loops over addresses.
#pragma once

#include <cstdint>

namespace warpmeter {

class Divisor {
 public:
  Divisor() = default;
  /// Not 0.
  explicit Divisor(std::uint32_t number) : number_(number), factor_(~std::uint64_t{0} / number) {}

  std::uint32_t number() const { return number_; }
  /// Exact for every number: the factor is rounded down, which the 1 makes up for.
  std::uint32_t quotient(std::uint32_t of) const {
    return static_cast<std::uint32_t>(Wide{factor_} * (std::uint64_t{of} + 1) >> 64);
  }
  std::uint32_t remainder(std::uint32_t of) const { return of - quotient(of) * number_; }
  /// The largest multiple that is no larger.
  std::uint32_t multiple(std::uint32_t of) const { return quotient(of) * number_; }

 private:
  __extension__ using Wide = unsigned __int128;

  std::uint32_t number_ = 1;
  std::uint64_t factor_ = ~std::uint64_t{0};
};

}  // namespace warpmeter
