// SPDX-License-Identifier: MIT
#include "collector/inject/filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/kernel_name.h"

namespace warpmeter::inject {

KernelPattern::KernelPattern(const std::string& pattern) {
  constexpr std::string_view prefix = "regex:";
  if (pattern.starts_with(prefix)) {
    regex_.emplace(pattern.substr(prefix.size()));
  } else {
    name_ = pattern;
  }
}

bool KernelPattern::matches(const std::string& kernel) const {
  if (regex_) return regex_->finds(function_name(kernel));
  return name_.empty() || is_name_of(name_, kernel);
}

Filter::Filter(Selection selection)
    : selection_(std::move(selection)),
      pattern_(selection_.kernel),
      is_on_(selection_.profiling != Profiling::off),
      was_on_(is_on_.load()) {}

void Filter::profile(bool is_on) {
  if (selection_.profiling == Profiling::always) return;
  is_on_ = is_on;
  if (is_on) was_on_ = true;
}

bool Filter::takes(const std::string& kernel, std::uint32_t device,
                   std::span<const std::string> ranges) {
  if (!is_on_) return false;
  const auto [place, is_new] = known_.try_emplace(kernel, false);
  if (is_new) place->second = pattern_.matches(kernel);
  if (!place->second) return false;
  const auto& devices = selection_.devices;
  if (!devices.empty() && std::find(devices.begin(), devices.end(), device) == devices.end()) {
    return false;
  }
  const auto is_open = [&](const std::string& range) {
    return std::find(ranges.begin(), ranges.end(), range) != ranges.end();
  };
  if (has_ranges() && std::none_of(selection_.ranges.begin(), selection_.ranges.end(), is_open)) {
    return false;
  }
  const std::uint64_t number = chosen_++;
  if (number < selection_.skip) return false;
  return selection_.count == 0 || number - selection_.skip < selection_.count;
}

}  // namespace warpmeter::inject
