// SPDX-License-Identifier: MIT
#include "reports/stalls.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "reports/plot/stack.h"
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

std::string stall_meaning(std::string_view reason) {
  for (const auto& [name, words] : known_reasons) {
    if (name == reason) return std::string(words);
  }
  return std::string(reason);
}

std::string stall_words(std::string_view reason) {
  const std::string meaning = stall_meaning(reason);
  return meaning == reason ? meaning : fmt::format("{} ({})", meaning, reason);
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

std::optional<Plot> stalls_plot(std::span<const WaitingLine> lines) {
  constexpr std::size_t most_bars = 12, most_names = most_parts - 2;
  std::vector<const WaitingLine*> shown;
  std::vector<std::vector<Part>> bars;
  for (const WaitingLine& line : lines) {
    if (line.share < least_shown || shown.size() == most_bars) continue;
    shown.push_back(&line);
    auto& parts = bars.emplace_back();
    for (const auto& reason : line.reasons) parts.push_back({reason.name, reason.share});
  }
  if (shown.size() < 2) return std::nullopt;
  const std::vector<std::string> names = largest_parts(bars, most_names);
  Plot plot;
  plot.form = Plot::Form::stack;
  plot.title = "Waits by line of " + lines.front().launch;
  plot.description =
      fmt::format("{} samples of the GPU; the lines with most of them, and the largest reasons.",
                  grouped_number(lines.front().launch_samples));
  plot.x.label = "share of all samples (%)";
  plot.data.columns = {Column::text("line")};
  const auto add = [&](const std::string& name, const std::string& heading) {
    plot.data.columns.push_back(Column::number(name, heading, "", Kind::quotient));
  };
  for (const std::string& name : names) add(name, stall_meaning(name));
  add("other_reasons", "other reasons");
  add("selected", "issuing");
  bool has_others = false;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    std::vector<Cell> row = {shown[i]->place()};
    double named = 0;
    for (const std::string& name : names) {
      double share = 0;
      for (const Part& part : bars[i]) share += part.name == name ? part.value : 0;
      named += share;
      row.emplace_back(share);
    }
    const double rest = shown[i]->waiting_share - named;
    constexpr double rounding = 1e-9;
    has_others = has_others || rest > rounding;
    row.emplace_back(std::max(rest, 0.0));
    row.emplace_back(std::max(shown[i]->share - shown[i]->waiting_share, 0.0));
    plot.data.rows.push_back(std::move(row));
  }
  if (!has_others) {
    const auto at = static_cast<std::ptrdiff_t>(names.size() + 1);
    plot.data.columns.erase(plot.data.columns.begin() + at);
    for (auto& row : plot.data.rows) row.erase(row.begin() + at);
  }
  return plot;
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
