// SPDX-License-Identifier: MIT
// New values are sorted by themselves, as many as there are already, and merged with those.
#include "base/distribution.h"

#include <algorithm>
#include <utility>

namespace warpmeter {

void Distribution::add(double value, std::uint32_t times) {
  if (!added_.empty() && added_.back().value == value) {
    added_.back().times += times;
    return;
  }
  constexpr std::size_t least_unsorted = 4096;
  if (added_.size() >= std::max(least_unsorted, values_.size())) merge();
  added_.push_back({value, times});
}

void Distribution::add(const Distribution& other) {
  for (std::size_t i = 0; i < other.values_.size(); ++i) add(other.values_[i], other.counts_[i]);
  for (const Added& one : other.added_) add(one.value, one.times);
}

void Distribution::sort() {
  merge();
  added_ = {};
}

void Distribution::merge() {
  if (added_.empty()) return;
  const auto is_less = [](const Added& a, const Added& b) { return a.value < b.value; };
  if (!std::is_sorted(added_.begin(), added_.end(), is_less)) {
    std::sort(added_.begin(), added_.end(), is_less);
  }
  const std::vector<double> values = std::exchange(values_, {});
  const std::vector<std::uint32_t> counts = std::exchange(counts_, {});
  values_.reserve(values.size() + added_.size());
  counts_.reserve(values.size() + added_.size());
  std::size_t next = 0;
  for (const Added& one : added_) {
    for (; next < values.size() && values[next] <= one.value; ++next) {
      append(values[next], counts[next]);
    }
    append(one.value, one.times);
  }
  for (; next < values.size(); ++next) append(values[next], counts[next]);
  values_.shrink_to_fit();
  counts_.shrink_to_fit();
  added_.clear();
}

/// `value` is not below the last one.
void Distribution::append(double value, std::uint32_t times) {
  if (!values_.empty() && values_.back() == value) {
    counts_.back() += times;
  } else {
    values_.push_back(value);
    counts_.push_back(times);
  }
}

}  // namespace warpmeter
