// SPDX-License-Identifier: MIT
// Which launches of a process are measured: Nsight Compute's filters, in its order. The kernel's
// name, the device and the open NVTX ranges choose; of what they choose, the first are skipped and
// no more than a count are taken.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "base/regular_expression.h"
#include "collector/inject/protocol.h"

namespace warpmeter::inject {

/// A pattern for kernels: NAME is its bare name ("reduce") or one that tables show to tell it from
/// others ("reduce<4>"), or regex:PATTERN (POSIX extended, as grep -E has it) finds the bare name.
class KernelPattern {
 public:
  /// Empty: every kernel. Throws Error{usage} for a pattern that is no regular expression.
  explicit KernelPattern(const std::string& pattern);
  bool matches(const std::string& kernel) const;  ///< as the machine code has its name

 private:
  std::string name_;
  std::optional<RegularExpression> regex_;  ///< none: a plain name
};

class Filter {
 public:
  /// Throws Error{usage}, as KernelPattern.
  explicit Filter(Selection selection);

  /// To be asked once a launch, in the order of the launches; counts it. `kernel` as the machine
  /// code has it; `ranges`: the open NVTX ranges.
  bool takes(const std::string& kernel, std::uint32_t device,
             std::span<const std::string> ranges = {});

  /// The program called cudaProfilerStart or cudaProfilerStop. While it is off, no launch is taken,
  /// and none counts. By any thread.
  void profile(bool is_on);
  bool is_on() const { return is_on_; }
  /// True if it was on at any time.
  bool was_on() const { return was_on_; }

  /// True if ranges matter at all.
  bool has_ranges() const { return !selection_.ranges.empty(); }

 private:
  Selection selection_;
  KernelPattern pattern_;
  std::unordered_map<std::string, bool> known_;  ///< kernel → does the pattern match
  std::uint64_t chosen_ = 0;
  std::atomic<bool> is_on_, was_on_;
};

}  // namespace warpmeter::inject
