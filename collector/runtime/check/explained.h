// SPDX-License-Identifier: MIT
// The findings in a process's launches: the first ones of each kernel and shape are recorded and
// explained; a later one whose counts are those of one of them is told the same. To record takes
// time: where several in a row were like earlier ones, the next are not, until one is like none.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "collector/model/explain/sources.h"
#include "collector/model/machine/launch/launch.h"
#include "collector/model/machine/memory/memory.h"
#include "collector/runtime/check/report.h"
#include "collector/runtime/check/sources.h"

namespace warpmeter::runtime {

class Explained {
 public:
  /// True if the launch should be recorded.
  bool wants(const LaunchPlace& place) const;

  /// The number of what is told of a launch that ended well.
  std::uint32_t number_of(const LaunchPlace& place, const model::Program& program,
                          const model::LaunchOutcome& outcome, const model::DeviceMemory& memory,
                          Report& report);

  /// Launches that follow are told anew: another report hears of them.
  void forget();
  /// Says which arrays that the person gave a shape kernels had.
  void end(Report& report) const;

 private:
  using Shape = std::tuple<std::string, std::vector<std::uint32_t>>;
  struct Told {
    std::vector<double> counts;
    std::uint32_t number = 0;
  };

  struct OfShape {
    std::vector<Told> told;
    unsigned alike_in_a_row = 0;  ///< the latest launches with the counts of earlier ones
  };

  static Shape shape_of(const LaunchPlace& place);

  std::map<Shape, OfShape> told_;
  model::explain::Sources sources_{allowed_source};
  std::map<std::string, std::string> shaped_;  ///< see model::explain::Options
  std::uint32_t unlike_ = 0;   ///< the explanation of those like none of the first; 0: not yet
  std::uint32_t sampled_ = 0;  ///< that of those of which some blocks were counted; likewise
};

}  // namespace warpmeter::runtime
