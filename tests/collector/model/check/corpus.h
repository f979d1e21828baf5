// SPDX-License-Identifier: MIT
// The kernels that hold `warpmeter model --check` to account, with what their comments say:
// README.md beside this file explains the marks.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "collector/model/input/spec.h"

namespace warpmeter::corpus {

/// A line of the source, and the kind of a finding there ("out of bounds").
using Mark = std::pair<int, std::string>;

struct Kernel {
  std::string file;  ///< "planted_barriers", without folder and suffix
  model::LaunchSpec launch;
  bool is_planted = false;
  bool model_only = false;      ///< it would never end on hardware
  bool may_hang = false;        ///< it may never end there
  std::set<std::string> fills;  ///< with which the mistake happens
  std::set<Mark> required;      ///< one of these at least has to be reported
  std::set<Mark> allowed;       ///< these as well

  /// The launch with a fill in place of FILL.
  model::LaunchSpec filled(const std::string& fill) const;
};

const std::vector<std::string>& fills();  ///< "zeros", "1", "iota", "random"

/// All kernels under `source`, the repository, file by file. Throws Error or std::runtime_error
/// when a file is not as it should be.
std::vector<Kernel> kernels(const std::string& source);

/// The PTX that was built of a file in the folder `build`; the machine code that ptxas made of it
/// lies beside it.
std::string ptx_of(const std::string& build, const std::string& file);

/// The mistake in the report of a kernel run with that fill; empty: nothing.
std::string judge(const Kernel& kernel, const std::string& fill, const std::set<Mark>& reported);

}  // namespace warpmeter::corpus
