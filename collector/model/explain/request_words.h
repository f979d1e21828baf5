// SPDX-License-Identifier: MIT
// The words that one request of a warp goes to, each once, and where they lie in rows: which words
// are different no layout of the array changes, so they are found once for all of them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "base/divisor.h"
#include "base/lanes.h"
#include "collector/model/explain/shared_arrays.h"

namespace warpmeter::model::explain {

inline constexpr std::uint32_t word = 4;  ///< bytes of a bank
inline constexpr std::uint32_t banks = 32;
inline constexpr unsigned most_padding = 32;  ///< words a row that are tried

class RequestWords {
 public:
  using ByPadding = std::array<unsigned, most_padding + 1>;

  /// A word each lane, in rows of whole words.
  RequestWords(const Placed& access, const Divisor& row_length) {
    for_each_lane(access.pattern->mask, [&](unsigned lane) {
      const auto at = static_cast<std::uint32_t>(access.place + access.pattern->delta[lane]);
      add(at / word, row_length.quotient(at));
    });
  }

  /// Wavefronts with so many words more in each row, from none on.
  ByPadding padded() const {
    ByPadding most{};
    if (is_even_) {
      for (unsigned padding = 0; padding <= most_padding; ++padding) most[padding] = even(padding);
      return most;
    }
    std::array<std::array<std::uint8_t, banks>, most_padding + 1> in_bank{};
    for (unsigned i = 0; i < count_; ++i) {
      std::uint32_t place = number_[i];
      for (auto& counts : in_bank) {
        ++counts[place % banks];
        place += row_[i];
      }
    }
    for (unsigned padding = 0; padding <= most_padding; ++padding) {
      std::uint8_t fullest = 0;
      for (const std::uint8_t count : in_bank[padding]) fullest = std::max(fullest, count);
      most[padding] = fullest;
    }
    return most;
  }
  /// The swizzle of rows of 2ⁿ words.
  unsigned swizzled(unsigned shift, std::uint32_t columns) const {
    return most_in_a_bank([&](std::uint32_t number, std::uint32_t row) {
      return number ^ (row >> shift & (columns - 1));
    });
  }
  unsigned transposed(std::uint32_t rows, std::uint32_t columns) const {
    return most_in_a_bank([&](std::uint32_t number, std::uint32_t row) {
      return (number - row * columns) * rows + row;
    });
  }

 private:
  /// The cost of one or two runs of words that are equally far apart. Each run goes round some
  /// banks in the same order, and fills them evenly but for what is left of its last round.
  unsigned even(unsigned padding) const {
    const std::uint32_t step = step_ + step_of_row_ * padding;
    const int turn = std::countr_zero(step | banks);  // each 2ⁿth bank is gone to: 2ᵐ of them
    const int shift = std::countr_zero(banks) - turn;
    const unsigned round = banks >> turn, in_round = round - 1;
    const unsigned first = second_run_, second = count_ - second_run_;
    if (second == 0) return (first + in_round) >> shift;
    const std::uint32_t apart =
        number_[second_run_] - number_[0] + (row_[second_run_] - row_[0]) * padding;
    if ((apart & ((1u << turn) - 1)) != 0) {  // they go to other banks
      return (std::max(first, second) + in_round) >> shift;
    }
    // So many banks behind the first run's beginning the second begins: divided by the step, which
    // is a product with its inverse. x (2 - x²) is that of an odd x, in the last five bits.
    const std::uint32_t odd = step >> turn;
    const unsigned behind = (apart >> turn) * odd * (2 - odd * odd) & in_round;
    const unsigned left = first & in_round, left_of_second = second & in_round;
    const bool meet =
        left > 0 && left_of_second > 0 && (behind < left || behind + left_of_second > round);
    const bool is_some_left = left > 0 || left_of_second > 0;
    return (first >> shift) + (second >> shift) + (meet ? 2 : is_some_left ? 1 : 0);
  }

  template <class Place>
  unsigned most_in_a_bank(Place place) const {
    std::array<std::uint8_t, banks> in_bank{};
    std::uint8_t most = 0;
    for (unsigned i = 0; i < count_; ++i) {
      most = std::max(most, ++in_bank[place(number_[i], row_[i]) % banks]);
    }
    return most;
  }

  bool has(std::uint32_t number) const {
    bool is_there = false;  // many at a time, whichever it is
    for (unsigned i = 0; i < count_; ++i) is_there |= number_[i] == number;
    return is_there;
  }

  void add(std::uint32_t number, std::uint32_t row) {
    if (count_ > 0) {
      const std::uint32_t last = number_[count_ - 1];
      if (number == last) return;
      is_rising_ = is_rising_ && number > last;
      if (!is_rising_ && has(number)) return;
      const std::uint32_t step = number - last, step_of_row = row - row_[count_ - 1];
      if (count_ == 1) {
        step_ = step;
        step_of_row_ = step_of_row;
      } else if (step != step_ || step_of_row != step_of_row_) {
        // Another run, of which there may be one.
        is_even_ = is_even_ && second_run_ == count_;
        is_second_ = true;
      }
    }
    if (!is_second_) second_run_ = count_ + 1;
    number_[count_] = number;
    row_[count_++] = row;
  }

  std::array<std::uint32_t, warp_lanes> number_, row_;  ///< the number of each word
  unsigned count_ = 0;
  bool is_rising_ = true;  ///< each word behind the one before it
  bool is_even_ = true;    ///< one run or two with the same step from word to word
  bool is_second_ = false;
  unsigned second_run_ = 0;  ///< its first word; count_ where there is none
  std::uint32_t step_ = 0, step_of_row_ = 0;
};

}  // namespace warpmeter::model::explain
