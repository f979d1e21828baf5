// SPDX-License-Identifier: MIT
// The progress bar of `run` and `merge`: one line on standard error, redrawn in place, gone at the
// end.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "collector/run/session.h"

namespace warpmeter::cli {

/// "[######......] 12/45 lab1.db", at most `width` columns.
std::string progress_line(std::size_t done, std::size_t total, std::string_view what, int width);

/// "[######......] 12/45 transpose/tiled 4096: count", at most `width` columns.
std::string progress_line(const run::Progress& progress, int width);

class ProgressBar {
 public:
  /// Draws nothing unless `visible`.
  explicit ProgressBar(bool visible) : visible_(visible) {}
  ~ProgressBar() { clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// Draws at most ten times a second, but each new launch.
  void update(const run::Progress& progress);
  void update(std::size_t done, std::size_t total, std::string_view what);

  /// Takes the bar away, so that a message can be printed in its place.
  void clear();

 private:
  bool is_due(std::size_t done);
  void draw(const std::string& line, std::size_t done);

  bool visible_;
  bool drawn_ = false;
  std::size_t done_ = 0;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace warpmeter::cli
