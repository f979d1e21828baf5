// SPDX-License-Identifier: MIT
#include "collector/cli/tables/trace_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "reports/table/stream.h"

namespace warpmeter::cli {
namespace {

using reports::Column;
using reports::Table;
using reports::Trace;
using reports::TracedActivity;
using reports::TracedShape;
using schema::Value;

/// Rows of a table for people: columns cannot be lined up before their rows are known.
constexpr std::size_t block_rows = 10'000;

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

Table empty_table() {
  Table table;
  table.columns = {right_column("Start"),   right_column("Duration"),  Column::text("Grid"),
                   Column::text("Block"),   right_column("Registers"), right_column("Static"),
                   right_column("Dynamic"), right_column("Size"),      right_column("Throughput"),
                   Column::text("Source"),  Column::text("Target"),    Column::text("Device"),
                   right_column("Context"), right_column("Stream"),    right_column("Correlation"),
                   right_column("Thread"),  Column::text("Name")};
  return table;
}

std::vector<reports::Cell> cells(const TracedShape& shape, const TracedActivity& activity,
                                 const std::string& name) {
  const auto time = [](const std::optional<std::int64_t>& ns) {
    return ns ? duration_text(static_cast<double>(*ns)) : "-";
  };
  const std::optional<double> rate = reports::throughput(shape, activity);
  return {time(activity.start_ns),
          time(activity.duration_ns),
          extent_text(shape.grid),
          extent_text(shape.block),
          plain(shape.registers),
          bytes_text(shape.static_shared_bytes),
          bytes_text(shape.dynamic_shared_bytes),
          activity.faults ? plain(activity.faults) : bytes_text(activity.bytes),
          rate ? scaled(*rate, "B/s") : "-",
          text_or_dash(shape.source_memory),
          text_or_dash(shape.target_memory),
          text_or_dash(shape.device),
          plain(shape.context),
          plain(shape.stream),
          plain(activity.correlation),
          plain(shape.thread_id),
          name};
}

/// Columns that no row of the trace fills are left out.
Table without_empty_columns(Table table) {
  for (std::size_t column = table.columns.size(); column-- > 0;) {
    const bool is_empty = std::all_of(table.rows.begin(), table.rows.end(), [&](const auto& row) {
      const auto* text = std::get_if<std::string>(&row[column].value);
      return text != nullptr && *text == "-";
    });
    if (!is_empty) continue;
    const auto place = static_cast<std::ptrdiff_t>(column);
    table.columns.erase(table.columns.begin() + place);
    for (auto& row : table.rows) row.erase(row.begin() + place);
  }
  return table;
}

void write_for_people(const Trace& trace, reports::Format format, KernelNameBase base,
                      const std::function<bool(std::string_view)>& write) {
  const std::vector<std::string> names = names_of(trace, base);
  Table table = empty_table();
  const auto flush = [&] {
    const std::string text = reports::render(without_empty_columns(std::move(table)), format);
    table = empty_table();
    return write(text);
  };
  for (const TracedActivity& activity : trace.activities) {
    if (table.rows.size() == block_rows && !flush()) return;
    table.rows.push_back(cells(trace.shapes[activity.shape], activity, names[activity.shape]));
  }
  if (!table.rows.empty()) flush();
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

void write_for_programs(const Trace& trace, reports::Format format,
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
  const bool is_for_programs = format == reports::Format::csv || format == reports::Format::json;
  if (is_for_programs) {
    write_for_programs(trace, format, write);
  } else {
    write_for_people(trace, format, base, write);
  }
}

}  // namespace warpmeter::cli
