// SPDX-License-Identifier: MIT
// The measurements of a later run of the program, kept until it ends: only then can its launches be
// matched with those of the first. Many launches are alike, so a launch costs little more than its
// figures.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "collector/profile/sightings.h"
#include "schema/records.h"

namespace warpmeter::profile {

/// One run of the program.
struct Pass {
  enum class Kind {
    counters,    ///< counters of every chosen launch
    activities,  ///< the summary
    times,       ///< clean durations for launches whose counters were read in other passes
  };
  Kind kind = Kind::counters;
  int number = 1;                     ///< from 1
  std::vector<std::string> counters;  ///< as in its inject::Config
};

/// The timing of a launch as the program made it: one sample.
schema::Timing timing_of(double duration_ns);

class LaterPass {
 public:
  explicit LaterPass(Pass pass) : pass_(std::move(pass)) {}

  const Pass& pass() const { return pass_; }
  Sightings& sightings() { return sightings_; }

  /// The launch whose sighting was added right before: its counters or its timing are kept.
  void add(std::uint32_t identity, const std::string& device, const schema::Launch& launch);

  /// The additions of launch `place` of this pass to a stored one.
  schema::Completion completion(std::size_t place, std::int64_t launch_id) const;
  /// It as a launch of its own, and its device.
  schema::Launch launch(std::size_t place) const;
  const std::string& device(std::size_t place) const { return kinds_[kind_of_[place]].device; }

 private:
  /// The properties that launches share.
  struct Kind {
    schema::Launch launch;
    std::string device;
  };
  struct Figure {
    double value = 0;
    std::uint32_t reason = 0;  ///< the reason of reasons_
    schema::Grade grade = schema::Grade::measured;
  };
  std::vector<schema::Counter> counters(std::size_t place) const;

  Pass pass_;
  Sightings sightings_;
  std::map<std::tuple<std::uint32_t, std::string, std::string>, std::uint32_t> known_;
  std::vector<Kind> kinds_;
  std::vector<std::uint32_t> kind_of_;  ///< by place
  std::vector<Figure> figures_;         ///< pass_.counters of them a launch
  std::vector<double> durations_ns_;    ///< the durations of a pass for times: one a launch
  std::vector<std::string> reasons_ = {""};
  std::map<std::string, std::uint32_t> reason_numbers_ = {{"", 0}};
};

}  // namespace warpmeter::profile
