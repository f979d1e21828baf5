// SPDX-License-Identifier: MIT
// Values, each distinct one once with how often it came: counts of a kernel that is launched a
// million times are mostly the same.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

namespace warpmeter {

/// Readers call sort() after the last add().
class Distribution {
 public:
  void add(double value, std::uint32_t times = 1) {
    if (values_.size() >= most_unsorted_) sort();
    append(value, times);
  }

  void add(const Distribution& other) {
    for (std::size_t i = 0; i < other.values_.size(); ++i) add(other.values_[i], other.counts_[i]);
  }

  void sort() {
    const bool ascends = std::is_sorted(values_.begin(), values_.end(), std::less_equal<>());
    if (!ascends) {  // or one of them stands there twice
      std::vector<std::uint32_t> order(values_.size());
      std::iota(order.begin(), order.end(), 0U);
      std::sort(order.begin(), order.end(),
                [&](std::uint32_t a, std::uint32_t b) { return values_[a] < values_[b]; });
      Distribution sorted;
      for (const std::uint32_t place : order) sorted.append(values_[place], counts_[place]);
      values_ = std::move(sorted.values_);
      counts_ = std::move(sorted.counts_);
    }
    most_unsorted_ = std::max(least_unsorted, 2 * values_.size());
  }

  bool empty() const { return values_.empty(); }
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
    return values_ == other.values_ && counts_ == other.counts_;
  }

 private:
  static constexpr std::size_t least_unsorted = 4096;

  void append(double value, std::uint32_t times) {
    if (!values_.empty() && values_.back() == value) {
      counts_.back() += times;
    } else {
      values_.push_back(value);
      counts_.push_back(times);
    }
  }

  /// The value at a place in the order of all.
  double at(std::size_t place) const {
    std::size_t i = 0;
    while (place >= counts_[i]) place -= counts_[i++];
    return values_[i];
  }

  std::vector<double> values_;
  std::vector<std::uint32_t> counts_;  ///< how often each value came
  std::size_t most_unsorted_ = least_unsorted;
};

}  // namespace warpmeter
