// The progress bar of `run`: one line on standard error, redrawn in place, gone at the end.
#pragma once

#include <chrono>
#include <string>

#include "collector/run/session.h"

namespace warpmeter::cli {

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

  /// Takes the bar away, so that a message can be printed in its place.
  void clear();

 private:
  bool visible_;
  bool drawn_ = false;
  std::size_t done_ = 0;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace warpmeter::cli
