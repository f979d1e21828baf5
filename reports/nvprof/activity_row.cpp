// SPDX-License-Identifier: MIT
#include "reports/nvprof/activity_row.h"

#include <fmt/format.h>

#include <map>

#include "reports/nvprof/cells.h"
#include "reports/nvprof/kernel_name.h"

namespace warpmeter::reports::nvprof {
namespace {

std::string text_of(const std::optional<std::int64_t>& value) {
  return value ? fmt::format("{}", *value) : "";
}

std::string titled(const std::string& name, std::int64_t number) {
  return name.empty() ? fmt::format("{}", number) : fmt::format("{} ({})", name, number);
}

std::string size_of(const std::optional<std::int64_t>& bytes) {
  return bytes ? size_text(static_cast<double>(*bytes)) : "";
}

std::string geometry(const std::optional<std::array<std::int64_t, 3>>& size) {
  return size ? fmt::format("({} {} {})", (*size)[0], (*size)[1], (*size)[2]) : "";
}

bool is_copy(const ActivityRow& row) { return row.kind == "copy" || row.kind == "set"; }
bool is_managed(const ActivityRow& row) {
  return !is_copy(row) && row.kind != "kernel" && row.kind != "call";
}

/// Migrations have no throughput here.
std::optional<double> rate_of(const ActivityRow& row) {
  return is_copy(row) ? throughput(row, row) : std::nullopt;
}

/// nvprof showed the memory of a set as its source.
std::string source_of(const ActivityRow& row) {
  if (!is_copy(row)) return "";
  return row.kind == "set" ? row.target_memory : row.source_memory;
}
std::string target_of(const ActivityRow& row) {
  return row.kind == "copy" ? row.target_memory : "";
}

/// The bytes of a migration with six decimals, or the number of page faults.
std::string managed_amount(const ActivityRow& row) {
  if (!is_managed(row)) return "";
  if (!row.bytes) return text_of(row.faults);
  const auto bytes = static_cast<double>(*row.bytes);
  const ColumnUnit unit = size_unit(bytes);
  return fmt::format("{:.6f}{}", bytes / unit.factor, unit.name);
}

std::string address_of(const ActivityRow& row) {
  return is_managed(row) && row.address ? fmt::format("{:#x}", *row.address) : "";
}

/// A page fault of the CPU is a moment and has no duration.
std::optional<std::int64_t> duration_of(const ActivityRow& row) {
  const bool is_moment = is_managed(row) && row.duration_ns && *row.duration_ns == 0;
  return is_moment ? std::nullopt : row.duration_ns;
}

std::string time_of(const std::optional<std::int64_t>& ns, TimeUnit unit) {
  return ns ? time_text(static_cast<double>(*ns), unit) : "";
}

}  // namespace

ActivityRows::ActivityRows(const schema::Reader& reader, std::int64_t run_id,
                           std::int64_t process_id, const ResourceNames& resource_names)
    : trace_(read_trace(reader, run_id, process_id)) {
  std::map<std::int64_t, std::string> names;
  const schema::Rows devices =
      reader.query("SELECT ordinal, name FROM devices WHERE run_id = :run", {{":run", run_id}});
  for (const auto& row : devices.rows) names[whole(row[0])] = words(row[1]);
  const auto title = [&](const std::optional<std::int64_t>& ordinal) -> std::string {
    if (!ordinal) return "";
    const auto found = names.find(*ordinal);
    return fmt::format("{} ({})", found == names.end() ? "GPU" : found->second, *ordinal);
  };
  for (const TracedShape& shape : trace_.shapes) {
    rows_.push_back({shape,
                     {},
                     title(shape.device_ordinal),
                     title(shape.source_device),
                     title(shape.target_device),
                     shape.context ? context_text(resource_names, process_id, *shape.context) : "",
                     shape.stream ? stream_text(resource_names, process_id,
                                                shape.context.value_or(0), *shape.stream)
                                  : ""});
  }
}

void ActivityRows::each(const std::function<bool(const TracedShape&)>& accepts,
                        const std::function<void(const ActivityRow&)>& on_row) {
  std::vector<bool> accepted;
  for (const ActivityRow& row : rows_) accepted.push_back(accepts(row));
  for (const TracedActivity& activity : trace_.activities) {
    ActivityRow& row = rows_[activity.shape];
    if (!accepted[activity.shape]) continue;
    static_cast<TracedActivity&>(row) = activity;
    on_row(row);
  }
}

std::string context_text(const ResourceNames& names, std::int64_t process, std::int64_t context) {
  return titled(names.context ? names.context(process, context) : "", context);
}

std::string stream_text(const ResourceNames& names, std::int64_t process, std::int64_t context,
                        std::int64_t stream) {
  return titled(names.stream ? names.stream(process, context, stream) : "", stream);
}

const std::string& ShownNames::of(const ActivityRow& row, bool demangles) {
  const bool has_symbol = row.kind == "kernel" && !row.symbol.empty() && !demangles;
  const auto [found, is_new] = known_.try_emplace(has_symbol ? row.symbol : row.name);
  if (is_new) {
    found->second = row.kind == "kernel" && !has_symbol ? kernel_name(row.name) : found->first;
  }
  return found->second;
}

std::string text_cell(const ActivityRow& row, std::string_view heading, TimeUnit unit) {
  if (heading == "Start") return time_of(row.start_ns, unit);
  if (heading == "Duration") return time_of(duration_of(row), unit);
  if (heading == "Grid Size") return geometry(row.grid);
  if (heading == "Block Size") return geometry(row.block);
  if (heading == "Regs*") return text_of(row.registers);
  if (heading == "SSMem*") return size_of(row.static_shared_bytes);
  if (heading == "DSMem*") return size_of(row.dynamic_shared_bytes);
  if (heading == "Size") return is_copy(row) ? size_of(row.bytes) : "";
  if (heading == "Throughput") return rate_of(row) ? rate_text(*rate_of(row)) : "";
  if (heading == "SrcMemType") return source_of(row);
  if (heading == "DstMemType") return target_of(row);
  if (heading == "Device") return row.device_title;
  if (heading == "Context") return is_managed(row) ? "" : row.context_title;
  if (heading == "Stream") return is_managed(row) ? "" : row.stream_title;
  if (heading == "Src Dev") return row.source_title;
  if (heading == "Src Ctx") return text_of(row.source_context);
  if (heading == "Dst Dev") return row.target_title;
  if (heading == "Dst Ctx") return text_of(row.target_context);
  if (heading == "Unified Memory") return managed_amount(row);
  return address_of(row);
}

std::string csv_cell(const ActivityRow& row, std::string_view heading, std::size_t part,
                     const ColumnUnit& unit) {
  const auto scaled = [&](const std::optional<std::int64_t>& value) {
    return value ? in_unit(static_cast<double>(*value), unit) : "";
  };
  if (heading == "Start") return scaled(row.start_ns);
  if (heading == "Duration") return scaled(duration_of(row));
  if (heading == "Grid Size") return row.grid ? fmt::format("{}", (*row.grid)[part]) : "";
  if (heading == "Block Size") return row.block ? fmt::format("{}", (*row.block)[part]) : "";
  if (heading == "SSMem*") return scaled(row.static_shared_bytes);
  if (heading == "DSMem*") return scaled(row.dynamic_shared_bytes);
  if (heading == "Size") return is_copy(row) ? scaled(row.bytes) : "";
  if (heading == "Throughput") return rate_of(row) ? in_unit(*rate_of(row), unit) : "";
  const std::string text = text_cell(row, heading, TimeUnit::automatic);
  return text.empty() || heading == "Regs*" ? text : csv_text(text);
}

}  // namespace warpmeter::reports::nvprof
