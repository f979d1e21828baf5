// SPDX-License-Identifier: MIT
// The value of --kernels: KERNEL, or CONTEXT:STREAM:KERNEL:INVOCATION. A part that is empty matches
// everything. Context and stream are numbers; a context may be a regular expression for the name
// that
// --context-name gives it. The kernel is a regular expression that is looked for
// in a kernel's bare name; the invocation is a number, or a regular expression for one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/regular_expression.h"
#include "collector/inject/filter.h"
#include "reports/nvprof/counted.h"

namespace warpmeter::cli::nvprof {

class KernelPath {
 public:
  /// Empty: every launch. `names`: of --context-name; empty: contexts have none. Throws
  /// Error{usage} for a pattern that is no regular expression, and for names of contexts and
  /// streams that nothing here knows.
  explicit KernelPath(const std::string& text, reports::nvprof::ContextNames names = {});

  bool matches(const reports::nvprof::CountedLaunch& launch) const;
  const std::string& kernel() const { return kernel_; }  ///< empty: any

 private:
  std::string kernel_, invocation_;
  std::optional<std::uint32_t> context_, stream_;
  reports::nvprof::ContextNames names_;
  std::optional<RegularExpression> named_;  ///< the names of contexts; none: a number, or any
  std::shared_ptr<const inject::KernelPattern> pattern_;
  std::optional<RegularExpression> invocations_;  ///< none: a plain number, or any
};

}  // namespace warpmeter::cli::nvprof
