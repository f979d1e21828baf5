// SPDX-License-Identifier: MIT
#include "schema/rows/launch_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>

namespace warpmeter::schema {
namespace {

constexpr std::size_t most_alike = 64;       // rows of a statement
constexpr std::size_t most_numbered = 4096;  // rows whose numbers are kept

/// Inserts a row with the number ?1, another one with the next number, and so on: ?2 rows.
std::string insertion_of_alike() {
  constexpr std::string_view columns =
      "run_id, device_id, family, variant, size, kernel, nvtx_range, grid_x, grid_y, grid_z, "
      "block_x, block_y, block_z, dynamic_shared_bytes, static_shared_bytes, registers, "
      "local_bytes, resources_reason, code_bytes, spill_load_bytes, spill_store_bytes, "
      "spills_reason, useful_bytes_read, useful_bytes_written, flops, verified, is_ceiling, "
      "outcome, reason, timing_reason";
  std::string numbers = "(0)";
  for (std::size_t i = 1; i < most_alike; ++i) numbers += fmt::format(", ({})", i);
  std::string parameters;
  const auto count = 1 + std::count(columns.begin(), columns.end(), ',');
  for (int i = 0; i < count; ++i) parameters += fmt::format(", ?{}", 3 + i);
  return fmt::format(
      "INSERT INTO t_launch (launch_id, {}) SELECT ?1 + column1{} FROM (VALUES {}) LIMIT ?2",
      columns, parameters, numbers);
}

/// All that a row holds but the run and the device.
auto row_of(const Launch& l) {
  return std::tie(l.grid[0], l.grid[1], l.grid[2], l.block[0], l.block[1], l.block[2],
                  l.dynamic_shared_bytes, l.outcome, l.verified, l.is_ceiling, l.size,
                  l.static_shared_bytes, l.registers, l.local_bytes, l.code.bytes,
                  l.code.spill_load_bytes, l.code.spill_store_bytes, l.useful_bytes_read,
                  l.useful_bytes_written, l.flops, l.kernel, l.variant, l.nvtx_range, l.family,
                  l.resources_reason, l.code.spills_reason, l.reason, l.timing_reason);
}

// A value's bytes behind its type or length: two rows never have the same key.
void append(std::string& key, const std::string& text) {
  key += fmt::format("{} {}", text.size(), text);
}
template <class Number>
void append(std::string& key, Number number) {
  key += fmt::format("{} ", static_cast<std::int64_t>(number));
}
template <class Number>
void append(std::string& key, const std::optional<Number>& number) {
  number ? append(key, *number) : append(key, std::string("-"));
}

}  // namespace

std::uint64_t LaunchRows::number_of(std::int64_t device_id, const Launch& launch) {
  std::string key;
  append(key, device_id);
  std::apply([&](const auto&... value) { (append(key, value), ...); }, row_of(launch));
  if (numbers_.size() >= most_numbered) numbers_.clear();
  const auto [place, is_new] = numbers_.try_emplace(key, next_number_);
  if (is_new) ++next_number_;
  return place->second;
}

LaunchRows::LaunchRows(sqlite3* db)
    : next_id_(db, "SELECT coalesce(max(launch_id), 0) + 1 FROM t_launch"),
      repeat_(db, insertion_of_alike()) {}

void LaunchRows::write(std::int64_t run_id, std::int64_t device_id,
                       std::span<const Launch> launches, const OnLaunch& on_launch) {
  next_id_.step();
  std::int64_t id = next_id_.integer(0);
  next_id_.reset();
  while (!launches.empty()) {
    const std::size_t most = std::min(launches.size(), most_alike);
    std::size_t alike = 1;
    while (alike < most && row_of(launches[alike]) == row_of(launches.front())) ++alike;
    write_alike(id, run_id, device_id, launches.front(), alike);
    const std::uint64_t row = number_of(device_id, launches.front());
    for (const Launch& launch : launches.first(alike)) on_launch(id++, row, launch);
    launches = launches.subspan(alike);
  }
}

void LaunchRows::write_alike(std::int64_t id, std::int64_t run_id, std::int64_t device_id,
                             const Launch& launch, std::size_t times) {
  // Registers are spilled to local memory: without it nothing is spilled.
  const bool spills_nothing = launch.local_bytes == 0 && !launch.code.spill_load_bytes;
  const std::optional<std::int64_t> nothing = 0;
  repeat_.execute(id, times, run_id, device_id, launch.family, launch.variant, launch.size,
                  launch.kernel, text_or_null(launch.nvtx_range), launch.grid[0], launch.grid[1],
                  launch.grid[2], launch.block[0], launch.block[1], launch.block[2],
                  launch.dynamic_shared_bytes, launch.static_shared_bytes, launch.registers,
                  launch.local_bytes, text_or_null(launch.resources_reason), launch.code.bytes,
                  spills_nothing ? nothing : launch.code.spill_load_bytes,
                  spills_nothing ? nothing : launch.code.spill_store_bytes,
                  text_or_null(launch.code.spills_reason), launch.useful_bytes_read,
                  launch.useful_bytes_written, launch.flops, launch.verified, launch.is_ceiling,
                  launch.outcome == LaunchOutcome::failed ? "failed" : "done",
                  text_or_null(launch.reason), text_or_null(launch.timing_reason));
}

}  // namespace warpmeter::schema
