// SPDX-License-Identifier: MIT
// The waits of a launch's warps, by source line: the view stalls in a person's words.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reports/plot/plot.h"
#include "reports/table/table.h"
#include "schema/store.h"

namespace warpmeter::reports {

/// "shared memory (short_scoreboard)"; a reason that is not known here as NVIDIA calls it.
std::string stall_words(std::string_view reason);

/// "shared memory"
std::string stall_meaning(std::string_view reason);

/// The warps at one line of a launch; shares are of all samples of the launch, 0 to 100.
struct WaitingLine {
  std::int64_t launch_id = 0;
  std::string launch;  ///< "transpose/tiled at 4,096"
  std::string file;    ///< empty: instructions without a line
  std::int64_t line = 0;
  std::string text;
  double share = 0;          ///< the share of any kind
  double waiting_share = 0;  ///< the waiting share of those that issued nothing
  struct Reason {
    std::string name;
    double share = 0;
  };
  std::vector<Reason> reasons;  ///< the reasons of waiting, most first
  std::int64_t launch_samples = 0;

  std::string place() const;
  /// "long_scoreboard 41 %, barrier 8 %": those that matter.
  std::string reasons_text() const;
};

/// The lines of one launch, or with 0 of all launches of the run: launch by launch, most samples
/// first.
std::vector<WaitingLine> waiting_lines(const schema::Reader& reader, std::int64_t run_id,
                                       std::int64_t launch_id);

/// A stacked bar for each of these lines of one launch, whose parts are the reasons: the lines with
/// most samples. nullopt for fewer than two lines with a hundredth of the samples.
std::optional<Plot> stalls_plot(std::span<const WaitingLine> lines);

/// Those with a hundredth of the samples or more. `shows_launch`: with the launch's name.
Table stalls_table(const std::vector<WaitingLine>& lines, bool shows_launch);

}  // namespace warpmeter::reports
