// SPDX-License-Identifier: MIT
// The value of --kernels: KERNEL, or CONTEXT:STREAM:KERNEL:INVOCATION. A part that is empty matches
// everything. Context and stream are numbers, or regular expressions for the names that
// --context-name or the program's NVTX gives them. The kernel is a regular expression that is
// looked for in a kernel's bare name; the invocation is a number, or a regular expression for one.
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
  /// Empty: every launch. Throws Error{usage} for a part that is no regular expression.
  explicit KernelPath(const std::string& text, reports::nvprof::ResourceNames names = {});

  bool matches(const reports::nvprof::CountedLaunch& launch) const;
  const std::string& kernel() const { return kernel_; }  ///< empty: any

 private:
  std::string kernel_, invocation_;
  reports::nvprof::ResourceNames names_;
  /// A context or stream: its number, or the pattern of its name; neither: any.
  struct Place {
    std::optional<std::uint32_t> number;
    std::optional<RegularExpression> name;
  };
  static Place place_of(const std::string& part, const char* what);
  Place context_, stream_;
  std::shared_ptr<const inject::KernelPattern> pattern_;
  std::optional<RegularExpression> invocations_;  ///< none: a plain number, or any
};

}  // namespace warpmeter::cli::nvprof
