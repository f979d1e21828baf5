// SPDX-License-Identifier: MIT
// Values, each distinct one once with how often it came: counts of a kernel that is launched a
// million times are mostly the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace warpmeter {

/// Readers call sort() after the last add().
class Distribution {
 public:
  void add(double value, std::uint32_t times = 1);
  void add(const Distribution& other);
  void sort();

  bool empty() const { return values_.empty() && added_.empty(); }
  /// How many values there are, equal ones included.
  std::size_t size() const {
    return std::accumulate(counts_.begin(), counts_.end(), std::size_t{0});
  }
  /// Each once, ascending.
  const std::vector<double>& distinct() const { return values_; }
  double front() const { return values_.front(); }
  double back() const { return values_.back(); }
  double sum() const {
    double sum = 0;
    for (std::size_t i = 0; i < values_.size(); ++i) sum += values_[i] * counts_[i];
    return sum;
  }
  /// The mean of the two in the middle where their number is even. At least one value.
  double median() const {
    const std::size_t n = size();
    return (at((n - 1) / 2) + at(n / 2)) / 2;
  }
  bool operator==(const Distribution& other) const {
    return values_ == other.values_ && counts_ == other.counts_ && added_ == other.added_;
  }

 private:
  struct Added {
    double value = 0;
    std::uint32_t times = 0;
    bool operator==(const Added&) const = default;
  };
  void merge();
  void append(double value, std::uint32_t times);

  /// The value at a place in the order of all.
  double at(std::size_t place) const {
    std::size_t i = 0;
    while (place >= counts_[i]) place -= counts_[i++];
    return values_[i];
  }

  std::vector<double> values_;         ///< ascending
  std::vector<std::uint32_t> counts_;  ///< how often each value came
  std::vector<Added> added_;           ///< those since, in the order in which they came
};

}  // namespace warpmeter
