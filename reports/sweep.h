// SPDX-License-Identifier: MIT
// Sweeps: the variants that a family file made of one kernel by combining the values of its
// parameters, put back together from their names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reports/record.h"

namespace warpmeter::reports {

struct Sweep {
  std::int64_t device_id = 0;
  std::string family, base;  ///< "transpose", "padded"

  struct Parameter {
    std::string name;
    std::vector<std::string> values;  ///< as written; numbers ascending, else as they first came
    bool is_number = false;           ///< each value is one

    bool varies() const { return values.size() > 1; }
  };
  std::vector<Parameter> parameters;  ///< in the order of the name

  struct Point {
    const Subject* subject = nullptr;
    std::vector<std::size_t> at;  ///< for each parameter, which of its values
  };
  struct Size {
    const Group* group = nullptr;
    std::vector<Point> points;
  };
  std::vector<Size> sizes;  ///< ascending

  /// "transpose/padded"
  std::string title() const { return family + "/" + base; }
};

/// The sweeps of each device, family and kernel of which some parameter varies, in launch order.
std::vector<Sweep> sweeps_of(const RunRecord& run);

/// The places of the parameters that vary. Among more than `most` of them, those that change the
/// metric most: by the ratio of the largest to the least median over the values of the parameter,
/// at the size where it is largest. Ascending.
std::vector<std::size_t> shown_parameters(const Sweep& sweep, const std::string& metric,
                                          std::size_t most);

/// The metric to look at: the time where some combination was timed; else all transactions, as the
/// headline does. Where these are equal or were not counted, of the standard metrics or, where it
/// changes none of these, of the others in the run, the one that the sweep changes most: by the
/// ratio of its largest to its least value at one size. Empty: none has a value.
std::string metric_of(const Sweep& sweep, const RunRecord& run);

}  // namespace warpmeter::reports
