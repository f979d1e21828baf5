// SPDX-License-Identifier: MIT
// One metric of one variant over the runs of a database: how it went, and where it changed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reports/table/table.h"
#include "schema/store.h"

namespace warpmeter::reports {

struct HistoryChoice {
  std::string variant;  ///< "transpose/tiled", "tiled", or a glob
  std::string metric = "duration";
  std::string device, backend;  ///< empty: each; a part of the device's name is enough
  std::optional<std::int64_t> size;
  bool by_revision = false;  ///< one value a git revision instead of one a run
};

/// A run, or the runs of a git revision.
struct HistoryPoint {
  std::int64_t run_id = 0;  ///< the first of them
  std::int64_t runs = 1;
  std::string started, revision, label;
  double value = 0;  ///< the median of its launches
  std::int64_t launches = 0;
  std::string grade;
  std::string estimate;  ///< the blocks that were run, where they stand for all
  std::map<std::int64_t, std::string> unfinished;  ///< for its runs: "interrupted" or "failed"
  std::optional<double>
      change;  ///< a new level begins here: its median over the one before, less 1
};

/// The subject of a history: one variant at one size on one device.
struct HistorySeries {
  std::string family, variant, size, device, backend, unit;
  std::vector<HistoryPoint> points;  ///< in the order of time
  bool exact = false;                ///< counts without noise: every change of the value is one
};

/// Throws Error{usage} for a variant or metric that does not exist, with those that do, and
/// Error{nothing} when there is no value, with the reason.
std::vector<HistorySeries> read_history(const schema::Reader& reader, const HistoryChoice& choice);

/// Plots and tables for people, one long table for programs. `width`: columns of the terminal; 0 is
/// none.
std::string render_history(const std::vector<HistorySeries>& series, const HistoryChoice& choice,
                           Format format, std::size_t width, bool plots);

}  // namespace warpmeter::reports
