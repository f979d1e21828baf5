#include "collector/cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "collector/cli/terminal.h"

namespace warpmeter::cli {

std::string progress_line(const run::Progress& progress, int width) {
  const std::size_t cells = 20;
  const std::size_t total = std::max<std::size_t>(progress.total, 1);
  const std::size_t full = cells * std::min(progress.done, total) / total;
  const std::string size = progress.size > 0 ? fmt::format(" {}", progress.size) : "";
  std::string line = fmt::format("[{}{}] {}/{} {}/{}{}: {}", std::string(full, '#'),
                                 std::string(cells - full, '.'), progress.done, progress.total,
                                 progress.family, progress.variant, size, progress.phase);
  line.resize(std::min(line.size(), static_cast<std::size_t>(std::max(width, 1))));
  return line;
}

void ProgressBar::update(const run::Progress& progress) {
  if (!visible_) return;
  const auto now = std::chrono::steady_clock::now();
  if (drawn_ && progress.done == done_ && now - last_ < std::chrono::milliseconds(100)) return;
  // One column stays free: a full line would wrap on some terminals.
  const std::string line = progress_line(progress, terminal_width(STDERR_FILENO) - 1);
  say(fmt::format("\r{}\x1b[K", line));
  drawn_ = true;
  done_ = progress.done;
  last_ = now;
}

void ProgressBar::clear() {
  if (!drawn_) return;
  say("\r\x1b[K");
  drawn_ = false;
}

}  // namespace warpmeter::cli
