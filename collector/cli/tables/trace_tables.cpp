// SPDX-License-Identifier: MIT
#include "collector/cli/tables/trace_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "reports/table/stream.h"

namespace warpmeter::cli {
namespace {

using reports::Trace;
using reports::TracedActivity;
using reports::TracedShape;
using schema::Value;

/// Three decimals and a unit that leaves 1 to 1023 before them: "4.0000KB", "12.345GB/s".
std::string scaled(double value, const char* suffix) {
  const char* const prefixes[] = {"", "K", "M", "G", "T"};
  std::size_t prefix = 0;
  for (; value >= 1024 && prefix + 1 < std::size(prefixes); ++prefix) value /= 1024;
  if (prefix == 0) return fmt::format("{:.0f}{}", value, suffix);
  const int decimals = value < 10 ? 4 : value < 100 ? 3 : 2;
  return fmt::format("{:.{}f}{}{}", value, decimals, prefixes[prefix], suffix);
}

std::string plain(const std::optional<std::int64_t>& value) {
  return value ? fmt::format("{}", *value) : "-";
}

std::string extent_text(const std::optional<std::array<std::int64_t, 3>>& extent) {
  return extent ? fmt::format("({} {} {})", (*extent)[0], (*extent)[1], (*extent)[2]) : "-";
}

std::string bytes_text(const std::optional<std::int64_t>& bytes) {
  return bytes ? scaled(static_cast<double>(*bytes), "B") : "-";
}

std::string text_or_dash(const std::string& text) { return text.empty() ? "-" : text; }

/// The names by the shapes' places.
std::vector<std::string> names_of(const Trace& trace, KernelNameBase base) {
  std::set<std::string> kernels;
  for (const TracedShape& shape : trace.shapes) {
    if (shape.kind == "kernel") kernels.insert(shape.symbol);
  }
  const ShownNames shown(kernels, base);
  std::vector<std::string> names;
  for (const TracedShape& shape : trace.shapes) {
    names.push_back(printable(shape.kind == "kernel" ? shown.of(shape.symbol) : shape.name));
  }
  return names;
}

/// The cells that all activities of a shape share.
struct TextColumn {
  const char* heading;
  bool is_right;
};
constexpr TextColumn shape_columns[] = {{"Grid", false},   {"Block", false},  {"Registers", true},
                                        {"Static", true},  {"Dynamic", true}, {"Source", false},
                                        {"Target", false}, {"Device", false}, {"Context", true},
                                        {"Stream", true},  {"Thread", true},  {"Name", false}};
using ShapeCells = std::array<std::string, std::size(shape_columns)>;
constexpr TextColumn own_columns[] = {{"Start", true},
                                      {"Duration", true},
                                      {"Size", true},
                                      {"Throughput", true},
                                      {"Correlation", true}};
using OwnCells = std::array<std::string, std::size(own_columns)>;

/// The columns as they are printed: the own ones have numbers from `own` on.
constexpr std::size_t own = std::size(shape_columns), all_columns = own + std::size(own_columns);
constexpr std::size_t column_order[] = {own, own + 1, 0, 1, 2, 3,       4,  own + 2, own + 3,
                                        5,   6,       7, 8, 9, own + 4, 10, 11};

ShapeCells shape_cells(const TracedShape& shape, const std::string& name) {
  return {extent_text(shape.grid),
          extent_text(shape.block),
          plain(shape.registers),
          bytes_text(shape.static_shared_bytes),
          bytes_text(shape.dynamic_shared_bytes),
          text_or_dash(shape.source_memory),
          text_or_dash(shape.target_memory),
          text_or_dash(shape.device),
          plain(shape.context),
          plain(shape.stream),
          plain(shape.thread_id),
          name};
}

OwnCells own_cells(const TracedShape& shape, const TracedActivity& activity) {
  const auto time = [](const std::optional<std::int64_t>& ns) {
    return ns ? duration_text(static_cast<double>(*ns)) : "-";
  };
  const std::optional<double> rate = reports::throughput(shape, activity);
  return {time(activity.start_ns), time(activity.duration_ns),
          activity.faults ? plain(activity.faults) : bytes_text(activity.bytes),
          rate ? scaled(*rate, "B/s") : "-", plain(activity.correlation)};
}

/// A trace as people read it. Shapes are few, so their cells are written once: a million lines take
/// a second.
class TextTrace {
 public:
  TextTrace(const Trace& trace, KernelNameBase base) : trace_(trace) {
    const std::vector<std::string> names = names_of(trace, base);
    for (std::size_t i = 0; i < names.size(); ++i) {
      cells_.push_back(shape_cells(trace.shapes[i], names[i]));
    }
    for (std::size_t column = 0; column < std::size(shape_columns); ++column) {
      for (const ShapeCells& cells : cells_) look_at(column, cells[column]);
    }
    for (const TracedActivity& activity : trace.activities) look_at(activity);
    for (const std::size_t column : column_order) {
      if (widths_[column] > 0) columns_.push_back(column);
    }
  }

  std::string heading() const {
    std::string names, rule;
    for (const std::size_t column : columns_) {
      const char* heading = column_of(column).heading;
      append(names, column, heading);
      append(rule, column, std::string(width_of(column), '-'));
    }
    return names + "\n" + rule + "\n";
  }

  void append_line(std::string& text, const TracedActivity& activity) const {
    const OwnCells own_ones = own_cells(trace_.shapes[activity.shape], activity);
    std::string line;
    for (const std::size_t column : columns_) {
      append(line, column, column >= own ? own_ones[column - own] : cells_[activity.shape][column]);
    }
    text += line;
    text += '\n';
  }

 private:
  static const TextColumn& column_of(std::size_t column) {
    return column >= own ? own_columns[column - own] : shape_columns[column];
  }
  std::size_t width_of(std::size_t column) const { return widths_[column]; }

  /// A column that is empty everywhere is left out.
  void look_at(std::size_t column, const std::string& cell) {
    if (cell == "-") return;
    std::size_t& width = widths_[column];
    width = std::max({width, cell.size(), std::string_view(column_of(column).heading).size()});
  }
  /// Each has a greatest width, so that none needs to be written to know it.
  void look_at(const TracedActivity& activity) {
    constexpr std::size_t time = 9, size = 10, rate = 11, number = 11;
    if (activity.start_ns) widths_[own] = time;
    if (activity.duration_ns) widths_[own + 1] = time;
    if (activity.bytes || activity.faults) widths_[own + 2] = size;
    if (activity.bytes && activity.duration_ns) widths_[own + 3] = rate;
    if (activity.correlation) widths_[own + 4] = number;
  }

  void append(std::string& line, std::size_t column, std::string_view cell) const {
    if (!line.empty()) line += "  ";
    const bool is_last = column == columns_.back();
    const std::size_t width = width_of(column);
    const std::size_t room = width > cell.size() ? width - cell.size() : 0;
    if (column_of(column).is_right) line.append(room, ' ');
    line += cell;
    if (!column_of(column).is_right && !is_last) line.append(room, ' ');
  }

  const Trace& trace_;
  std::vector<ShapeCells> cells_;
  std::array<std::size_t, all_columns> widths_{};  ///< 0: no cell has anything
  std::vector<std::size_t> columns_;               ///< those that are printed
};

void write_text(const Trace& trace, KernelNameBase base,
                const std::function<bool(std::string_view)>& write) {
  if (trace.activities.empty()) return;
  constexpr std::size_t piece_bytes = 1 << 16;
  const TextTrace lines(trace, base);
  std::string text = lines.heading();
  for (const TracedActivity& activity : trace.activities) {
    lines.append_line(text, activity);
    if (text.size() < piece_bytes) continue;
    if (!write(text)) return;
    text.clear();
  }
  write(text);
}

Value value_of(const std::optional<std::int64_t>& number) {
  return number ? Value(*number) : Value();
}
Value value_of(const std::string& text) { return text.empty() ? Value() : Value(text); }
Value part(const std::optional<std::array<std::int64_t, 3>>& extent, std::size_t axis) {
  return extent ? Value((*extent)[axis]) : Value();
}

/// The columns for programs. The first are the activity's own.
const std::vector<std::string>& column_names() {
  static const std::vector<std::string> names = {"start_ns",
                                                 "duration_ns",
                                                 "bytes",
                                                 "faults",
                                                 "throughput",
                                                 "correlation",
                                                 "kind",
                                                 "name",
                                                 "grid_x",
                                                 "grid_y",
                                                 "grid_z",
                                                 "block_x",
                                                 "block_y",
                                                 "block_z",
                                                 "registers",
                                                 "static_shared_bytes",
                                                 "dynamic_shared_bytes",
                                                 "source_memory",
                                                 "target_memory",
                                                 "device",
                                                 "context",
                                                 "stream",
                                                 "process_id",
                                                 "thread_id"};
  return names;
}

void write_rows(const Trace& trace, reports::Format format,
                const std::function<bool(std::string_view)>& write) {
  reports::RowStream rows(format, 0, write);
  rows.columns(column_names());
  for (const TracedActivity& activity : trace.activities) {
    const TracedShape& s = trace.shapes[activity.shape];
    const std::optional<double> rate = reports::throughput(s, activity);
    const bool goes_on = rows.row({value_of(activity.start_ns),
                                   value_of(activity.duration_ns),
                                   value_of(activity.bytes),
                                   value_of(activity.faults),
                                   rate ? Value(*rate) : Value(),
                                   value_of(activity.correlation),
                                   s.kind,
                                   s.name,
                                   part(s.grid, 0),
                                   part(s.grid, 1),
                                   part(s.grid, 2),
                                   part(s.block, 0),
                                   part(s.block, 1),
                                   part(s.block, 2),
                                   value_of(s.registers),
                                   value_of(s.static_shared_bytes),
                                   value_of(s.dynamic_shared_bytes),
                                   value_of(s.source_memory),
                                   value_of(s.target_memory),
                                   value_of(s.device),
                                   value_of(s.context),
                                   value_of(s.stream),
                                   value_of(s.process_id),
                                   value_of(s.thread_id)});
    if (!goes_on) return;
  }
  rows.finish();
}

}  // namespace

void write_trace(const Trace& trace, reports::Format format, KernelNameBase base,
                 const std::function<bool(std::string_view)>& write) {
  if (format == reports::Format::table) {
    write_text(trace, base, write);
  } else {
    write_rows(trace, format, write);
  }
}

}  // namespace warpmeter::cli
