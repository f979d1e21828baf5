// SPDX-License-Identifier: MIT
#include "reports/nvprof/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "reports/nvprof/activity_row.h"

namespace warpmeter::reports::nvprof {
namespace {

/// A column: its headings, its width in text, and what it holds of a row.
struct TraceColumn {
  std::string_view heading;
  std::size_t width;
  std::vector<std::string_view> csv_headings;
  enum class Unit { none, start, duration, static_shared, dynamic_shared, size, rate } unit;
  enum class Needs { nothing, gpu, copies, peers, managed } needs;

  /// Activities of one shape may have other words here.
  bool differs_within_shape(const TracedShape& shape) const {
    if (unit == Unit::start || unit == Unit::duration) return true;
    const bool has_size = unit == Unit::size || unit == Unit::rate || needs == Needs::managed;
    return has_size && shape.kind != "kernel";
  }
};

const std::vector<TraceColumn>& columns() {
  using Unit = TraceColumn::Unit;
  using Needs = TraceColumn::Needs;
  static const std::vector<TraceColumn> all = {
      {"Start", 8, {"Start"}, Unit::start, Needs::nothing},
      {"Duration", 8, {"Duration"}, Unit::duration, Needs::nothing},
      {"Grid Size", 19, {"Grid X", "Grid Y", "Grid Z"}, Unit::none, Needs::gpu},
      {"Block Size", 14, {"Block X", "Block Y", "Block Z"}, Unit::none, Needs::gpu},
      {"Regs*", 8, {"Registers Per Thread"}, Unit::none, Needs::gpu},
      {"SSMem*", 8, {"Static SMem"}, Unit::static_shared, Needs::gpu},
      {"DSMem*", 8, {"Dynamic SMem"}, Unit::dynamic_shared, Needs::gpu},
      {"Size", 8, {"Size"}, Unit::size, Needs::copies},
      {"Throughput", 10, {"Throughput"}, Unit::rate, Needs::copies},
      {"SrcMemType", 10, {"SrcMemType"}, Unit::none, Needs::copies},
      {"DstMemType", 10, {"DstMemType"}, Unit::none, Needs::copies},
      {"Device", 15, {"Device"}, Unit::none, Needs::gpu},
      {"Context", 8, {"Context"}, Unit::none, Needs::gpu},
      {"Stream", 8, {"Stream"}, Unit::none, Needs::gpu},
      {"Src Dev", 15, {"Src Dev"}, Unit::none, Needs::peers},
      {"Src Ctx", 8, {"Src Ctx"}, Unit::none, Needs::peers},
      {"Dst Dev", 15, {"Dst Dev"}, Unit::none, Needs::peers},
      {"Dst Ctx", 8, {"Dst Ctx"}, Unit::none, Needs::peers},
      {"Unified Memory", 20, {"Unified Memory"}, Unit::none, Needs::managed},
      {"Virtual Address", 15, {"Virtual Address"}, Unit::none, Needs::managed},
  };
  return all;
}

/// The columns and units follow from the contents of the rows.
struct Extent {
  std::int64_t rows = 0, gpu_rows = 0, copies = 0, peers = 0, managed = 0;
  ColumnUnit start, duration, static_shared, dynamic_shared, size, rate;
  TimeUnit start_text = TimeUnit::automatic, duration_text = TimeUnit::automatic;
};

class Trace {
 public:
  Trace(const schema::Reader& reader, const TraceRequest& request, const Sink& sink)
      : rows_(reader, request.run_id, request.process_id, request.resource_names),
        request_(request),
        sink_(sink) {}

  void print() {
    extent_ = extent();
    if (request_.gpu && extent_.gpu_rows == 0) sink_(fmt::format("{}\n", no_kernels));
    if (request_.api && extent_.rows == extent_.gpu_rows) sink_(fmt::format("{}\n", no_calls));
    if (extent_.rows == 0) return;
    for (const TraceColumn& column : columns()) {
      if (has(column.needs)) shown_.push_back(&column);
    }
    if (request_.api) read_launches();
    sink_(heading());
    visit([&](const ActivityRow& row) { take(row); });
    sink_(waiting_);
    if (!request_.style.csv && request_.gpu && extent_.gpu_rows > 0) sink_(footnotes());
  }

 private:
  bool has(TraceColumn::Needs needs) const {
    switch (needs) {
      case TraceColumn::Needs::nothing:
        return true;
      case TraceColumn::Needs::gpu:
        return request_.gpu;
      case TraceColumn::Needs::copies:
        return extent_.copies > 0;
      case TraceColumn::Needs::peers:
        return extent_.peers > 0;
      case TraceColumn::Needs::managed:
        return extent_.managed > 0;
    }
    return false;
  }

  bool shows(const TracedShape& shape) const {
    if (shape.kind == "call") return request_.api && is_of_api(shape.name, request_.apis);
    return request_.gpu && shape.kind != "range";
  }

  void visit(const std::function<void(const ActivityRow&)>& on_row) {
    rows_.each([&](const TracedShape& shape) { return shows(shape); }, on_row);
  }

  Extent extent() {
    Extent extent;
    std::int64_t start = 0, duration = 0, static_shared = 0, dynamic_shared = 0, size = 0;
    double rate = 0;
    const auto raise = [](std::int64_t& greatest, const std::optional<std::int64_t>& value) {
      greatest = std::max(greatest, value.value_or(0));
    };
    visit([&](const ActivityRow& row) {
      const bool is_call = row.kind == "call", moves = row.kind == "copy" || row.kind == "set";
      ++extent.rows;
      extent.gpu_rows += !is_call;
      extent.copies += moves;
      extent.peers += row.kind == "copy" && row.source_device;
      extent.managed += !is_call && !moves && row.kind != "kernel";
      raise(start, row.start_ns);
      raise(duration, row.duration_ns);
      raise(static_shared, row.static_shared_bytes);
      raise(dynamic_shared, row.dynamic_shared_bytes);
      if (!moves) return;
      raise(size, row.bytes);
      rate = std::max(rate, throughput(row, row).value_or(0));
    });
    const TimeUnit unit = request_.style.unit;
    extent.start_text = text_unit(static_cast<double>(start), unit);
    extent.duration_text = text_unit(static_cast<double>(duration), unit);
    extent.start = time_unit(static_cast<double>(start), unit);
    extent.duration = time_unit(static_cast<double>(duration), unit);
    extent.static_shared = size_unit(static_cast<double>(static_shared));
    extent.dynamic_shared = size_unit(static_cast<double>(dynamic_shared));
    extent.size = size_unit(static_cast<double>(size));
    extent.rate = rate_unit(rate);
    return extent;
  }

  /// The names of kernels, for the calls that launched them.
  void read_launches() {
    rows_.each([](const TracedShape& shape) { return shape.kind == "kernel"; },
               [&](const ActivityRow& row) {
                 if (row.correlation) launches_.emplace(*row.correlation, &name_of(row));
               });
  }

  const std::string& name_of(const ActivityRow& row) { return names_.of(row, request_.demangles); }

  std::string heading() const {
    std::string line, units;
    const bool csv = request_.style.csv;
    for (const TraceColumn* column : shown_) {
      if (!csv) {
        line += fmt::format("{}{:>{}}", line.empty() ? "" : "  ", column->heading, column->width);
        continue;
      }
      for (const std::string_view name : column->csv_headings) {
        if (!line.empty()) {
          line += ',';
          units += ',';
        }
        line += csv_text(name);
      }
      units += unit_of(column->unit).name;
    }
    if (!csv) return line + "  Name\n";
    return line + ",\"Name\",\"Correlation_ID\"\n" + units + ",,\n";
  }

  ColumnUnit unit_of(TraceColumn::Unit unit) const {
    switch (unit) {
      case TraceColumn::Unit::none:
        return {"", 1};
      case TraceColumn::Unit::start:
        return extent_.start;
      case TraceColumn::Unit::duration:
        return extent_.duration;
      case TraceColumn::Unit::static_shared:
        return extent_.static_shared;
      case TraceColumn::Unit::dynamic_shared:
        return extent_.dynamic_shared;
      case TraceColumn::Unit::size:
        return extent_.size;
      case TraceColumn::Unit::rate:
        return extent_.rate;
    }
    return {"", 1};
  }

  void take(const ActivityRow& row) {
    const auto [place, is_new] = cells_.try_emplace(row.shape, shown_.size());
    for (std::size_t i = 0; i < shown_.size(); ++i) {
      std::string& cell = place->second[i];
      if (is_new || shown_[i]->differs_within_shape(row)) cell = cell_of(row, *shown_[i]);
      if (i > 0) waiting_ += request_.style.csv ? "," : "  ";
      waiting_ += cell;
    }
    if (request_.style.csv) {
      waiting_ += ',';
      waiting_ += csv_text(full_name(row));
      waiting_ += ',';
      if (row.correlation) waiting_ += std::to_string(*row.correlation);
    } else {
      waiting_ += "  ";
      waiting_ += full_name(row);
    }
    waiting_ += '\n';
    constexpr std::size_t enough = 64 * 1024;
    if (waiting_.size() <= enough) return;
    sink_(waiting_);
    waiting_.clear();
  }

  std::string cell_of(const ActivityRow& row, const TraceColumn& column) const {
    std::string cell;
    if (request_.style.csv) {
      for (std::size_t i = 0; i < column.csv_headings.size(); ++i) {
        if (i > 0) cell += ',';
        cell += csv_cell(row, column.heading, i, unit_of(column.unit));
      }
      return cell;
    }
    const bool is_start = column.unit == TraceColumn::Unit::start;
    cell = text_cell(row, column.heading, is_start ? extent_.start_text : extent_.duration_text);
    if (column.width == 15) cell.resize(std::min(cell.size(), column.width));
    if (cell.empty()) cell = "-";
    if (cell.size() < column.width) cell.insert(0, column.width - cell.size(), ' ');
    return cell;
  }

  /// "scale(int*) [114]", "cudaLaunchKernel (scale(int*) [114])", "[CUDA memset]"
  std::string full_name(const ActivityRow& row) {
    const std::string& name = name_of(row);
    if (row.kind == "kernel" && row.correlation) {
      return name + " [" + std::to_string(*row.correlation) + "]";
    }
    const auto launch =
        row.kind == "call" && row.correlation ? launches_.find(*row.correlation) : launches_.end();
    if (launch == launches_.end()) return name;
    return fmt::format("{} ({} [{}])", name, *launch->second, *row.correlation);
  }

  std::string footnotes() const {
    std::string text =
        "\nRegs: Number of registers used per CUDA thread. This number includes registers used "
        "internally by the CUDA driver and/or tools and can be more than what the compiler "
        "shows.\nSSMem: Static shared memory allocated per CUDA block.\n"
        "DSMem: Dynamic shared memory allocated per CUDA block.\n";
    if (extent_.copies > 0) {
      text +=
          "SrcMemType: The type of source memory accessed by memory operation/copy\n"
          "DstMemType: The type of destination memory accessed by memory operation/copy\n";
    }
    return text;
  }

  ActivityRows rows_;
  const TraceRequest& request_;
  const Sink& sink_;
  Extent extent_;
  ShownNames names_;
  std::vector<const TraceColumn*> shown_;
  std::unordered_map<std::int64_t, const std::string*> launches_;  ///< by correlation
  /// The last cells of each shape, by its number.
  std::unordered_map<std::size_t, std::vector<std::string>> cells_;
  std::string waiting_;
};

}  // namespace

bool is_of_api(std::string_view function, std::string_view apis) {
  return apis == "all" || (apis == "runtime") == function.starts_with("cuda");
}

void print_trace(const schema::Reader& reader, const TraceRequest& request, const Sink& sink) {
  Trace(reader, request, sink).print();
}

}  // namespace warpmeter::reports::nvprof
