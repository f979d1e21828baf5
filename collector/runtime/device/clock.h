// SPDX-License-Identifier: MIT
// Which operations come before something, whatever order streams choose: a vector clock (Lamport;
// Fidge; Mattern). Operations are numbered along tracks, each of which is in order: a stream, or a
// chain of nodes of the graphs that a stream launches.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpmeter::runtime {

class Clock {
 public:
  /// True if the operation of that number on a track, and so all before it there, come before.
  bool knows(std::uint32_t track, std::uint64_t number) const {
    return knows_all_ || (track < numbers_.size() && numbers_[track] >= number);
  }
  /// The same, as far as it was learnt by number.
  bool knows_number(std::uint32_t track, std::uint64_t number) const {
    return number == 0 || (track < numbers_.size() && numbers_[track] >= number);
  }
  void learn(std::uint32_t track, std::uint64_t number) {
    if (track >= numbers_.size()) numbers_.resize(track + 1);
    numbers_[track] = std::max(numbers_[track], number);
  }
  /// The same without that operation.
  Clock without(std::uint32_t track, std::uint64_t number) const {
    Clock rest = *this;
    if (track < rest.numbers_.size() && rest.numbers_[track] == number) --rest.numbers_[track];
    return rest;
  }
  /// Operations in an order that nobody sees come before everything.
  void learn_all() { knows_all_ = true; }
  void join(const Clock& other) {
    knows_all_ |= other.knows_all_;
    if (other.numbers_.size() > numbers_.size()) numbers_.resize(other.numbers_.size());
    for (std::size_t i = 0; i < other.numbers_.size(); ++i) {
      numbers_[i] = std::max(numbers_[i], other.numbers_[i]);
    }
  }
  void forget() { *this = {}; }
  /// The times that were learnt by number stay.
  void forget_all_known() { knows_all_ = false; }

 private:
  std::vector<std::uint64_t> numbers_;  ///< by track
  bool knows_all_ = false;
};

}  // namespace warpmeter::runtime
