// SPDX-License-Identifier: MIT
#include "collector/cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "collector/cli/terminal.h"

namespace warpmeter::cli {

std::string progress_line(std::size_t done, std::size_t total, std::string_view what, int width) {
  const std::size_t cells = 20;
  const std::size_t all = std::max<std::size_t>(total, 1);
  const std::size_t full = cells * std::min(done, all) / all;
  std::string line = fmt::format("[{}{}] {}/{} {}", std::string(full, '#'),
                                 std::string(cells - full, '.'), done, total, what);
  line.resize(std::min(line.size(), static_cast<std::size_t>(std::max(width, 1))));
  return line;
}

std::string progress_line(const run::Progress& progress, int width) {
  const std::string size = progress.size > 0 ? fmt::format(" {}", progress.size) : "";
  return progress_line(
      progress.done, progress.total,
      fmt::format("{}/{}{}: {}", progress.family, progress.variant, size, progress.phase), width);
}

bool ProgressBar::is_due(std::size_t done) {
  if (!visible_) return false;
  const auto passed = std::chrono::steady_clock::now() - last_;
  return !drawn_ || done != done_ || passed >= std::chrono::milliseconds(100);
}

void ProgressBar::draw(const std::string& line, std::size_t done) {
  say_in_place(line);
  drawn_ = true;
  done_ = done;
  last_ = std::chrono::steady_clock::now();
}

// One column stays free: a full line would wrap on some terminals.

void ProgressBar::update(const run::Progress& progress) {
  if (!is_due(progress.done)) return;
  draw(progress_line(progress, terminal_width(STDERR_FILENO) - 1), progress.done);
}

void ProgressBar::update(std::size_t done, std::size_t total, std::string_view what) {
  if (!is_due(done)) return;
  draw(progress_line(done, total, what, terminal_width(STDERR_FILENO) - 1), done);
}

void ProgressBar::clear() {
  if (!drawn_) return;
  say_in_place("");
  drawn_ = false;
}

}  // namespace warpmeter::cli
