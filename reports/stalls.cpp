// SPDX-License-Identifier: MIT
#include "reports/stalls.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "reports/record.h"
#include "reports/sql/sql.h"
#include "reports/table/number.h"

namespace warpmeter::reports {
namespace {

constexpr double least_shown = 1;  // per cent
constexpr std::size_t most_reasons = 3;

/// NVIDIA's names of what a warp waits for, and what that is.
constexpr std::array<std::pair<std::string_view, std::string_view>, 16> known_reasons = {{
    {"barrier", "other warps at a barrier"},
    {"branch_resolving", "a branch's target"},
    {"dispatch_stall", "the dispatcher"},
    {"drain", "its stores, at its end"},
    {"imc_miss", "a constant"},
    {"lg_throttle", "the queue to global and local memory"},
    {"long_scoreboard", "global or local memory"},
    {"math_pipe_throttle", "a busy arithmetic unit"},
    {"membar", "a memory fence"},
    {"mio_throttle", "the queue to shared memory"},
    {"no_instructions", "its next instruction"},
    {"not_selected", "its turn, ready to go on"},
    {"short_scoreboard", "shared memory"},
    {"sleeping", "its sleep to end"},
    {"tex_throttle", "the queue of textures"},
    {"wait", "a fixed number of cycles"},
}};

}  // namespace

std::string stall_words(std::string_view reason) {
  for (const auto& [name, words] : known_reasons) {
    if (name == reason) return fmt::format("{} ({})", words, name);
  }
  return std::string(reason);
}

std::string WaitingLine::place() const {
  return file.empty() ? "(no line)" : fmt::format("{}:{}", file, line);
}

std::string WaitingLine::reasons_text() const {
  std::string text;
  for (std::size_t i = 0; i < std::min(most_reasons, reasons.size()); ++i) {
    if (i > 0 && reasons[i].share < least_shown) break;
    text += fmt::format("{}{} {:.0f} %", i > 0 ? ", " : "", stall_words(reasons[i].name),
                        reasons[i].share);
  }
  return text;
}

std::vector<WaitingLine> waiting_lines(const schema::Reader& reader, std::int64_t run_id,
                                       std::int64_t launch_id) {
  const schema::Rows rows = reader.query(sql::stalls, {{":run", run_id}, {":launch", launch_id}});
  std::vector<WaitingLine> lines;
  std::map<std::int64_t, std::int64_t> samples;
  for (const Row& row : each_row(rows)) {
    const std::int64_t launch = row.integer("launch_id").value_or(0);
    const std::int64_t line = row.integer("line").value_or(0);
    const std::string file = row.text("file");
    if (lines.empty() || lines.back().launch_id != launch || lines.back().file != file ||
        lines.back().line != line) {
      WaitingLine one;
      one.launch_id = launch;
      const auto size = row.integer("size");
      one.launch = fmt::format("{}/{}{}", row.text("family"), row.text("variant"),
                               size ? " at " + grouped_number(*size) : "");
      one.file = file;
      one.line = line;
      one.text = row.text("text");
      lines.push_back(std::move(one));
    }
    const double share = row.number("share").value_or(0);
    samples[launch] += row.integer("samples").value_or(0);
    lines.back().share += share;
    if (row.text("reason") == "selected") continue;
    lines.back().waiting_share += share;
    lines.back().reasons.push_back({row.text("reason"), share});
  }
  for (WaitingLine& line : lines) line.launch_samples = samples[line.launch_id];
  std::stable_sort(lines.begin(), lines.end(), [](const WaitingLine& a, const WaitingLine& b) {
    return a.launch_id != b.launch_id ? a.launch_id < b.launch_id : a.share > b.share;
  });
  return lines;
}

Table stalls_table(const std::vector<WaitingLine>& lines, bool shows_launch) {
  Table table;
  table.columns = {Column::text("line"), Column::text("text", "source", Kind::code)};
  if (shows_launch) table.columns.push_back(Column::text("in"));
  table.columns.insert(
      table.columns.end(),
      {Column::number("share", "of the samples", "%", Kind::quotient),
       Column::number("waiting", "waiting", "%", Kind::quotient), Column::text("reasons", "for")});
  for (const WaitingLine& line : lines) {
    if (line.share < least_shown) continue;
    std::vector<Cell> cells = {line.place(), line.text};
    if (shows_launch) cells.push_back(line.launch);
    cells.insert(cells.end(), {line.share, line.waiting_share, line.reasons_text()});
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace warpmeter::reports
