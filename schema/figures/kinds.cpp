// SPDX-License-Identifier: MIT
#include "schema/figures/kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>

namespace warpmeter::schema {
namespace {

/// {}: more columns.
constexpr std::string_view kinds_sql =
    "SELECT l.launch_id, l.device_id, l.family, l.variant, l.size, l.grid_x, l.grid_y, l.grid_z, "
    "l.block_x, l.block_y, l.block_z, l.outcome <> 'done', l.verified, l.is_ceiling, "
    "coalesce(l.flops, 0) <> 0, l.reason, l.timing_reason, t.cache{} "
    "FROM t_launch l LEFT JOIN t_timing t ON t.launch_id = l.launch_id "
    "WHERE l.run_id = :run ORDER BY l.launch_id";

constexpr std::string_view resource_columns =
    ", l.registers, l.static_shared_bytes, l.dynamic_shared_bytes, l.local_bytes, l.code_bytes, "
    "l.spill_load_bytes, l.spill_store_bytes, l.resources_reason, l.spills_reason";

std::int64_t integer_or_0(const Value& value) {
  const auto* held = std::get_if<std::int64_t>(&value);
  return held != nullptr ? *held : 0;
}

std::string text_or_empty(const Value& value) {
  const auto* held = std::get_if<std::string>(&value);
  return held != nullptr ? *held : std::string();
}

template <class Number>
void append_number(std::string& key, Number number) {
  key.append(reinterpret_cast<const char*>(&number), sizeof number);
}

/// Appends its type, the length of a text, and its bytes.
void append_value(std::string& key, const Value& value) {
  key += static_cast<char>(value.index());
  if (const auto* number = std::get_if<std::int64_t>(&value)) append_number(key, *number);
  if (const auto* number = std::get_if<double>(&value)) append_number(key, *number);
  if (const auto* text = std::get_if<std::string>(&value)) {
    append_number(key, text->size());
    key += *text;
  }
}

LaunchKind new_kind(std::span<const Value> row) {
  LaunchKind kind;
  kind.first = integer_or_0(row[0]);
  kind.device_id = integer_or_0(row[1]);
  kind.family = text_or_empty(row[2]);
  kind.variant = text_or_empty(row[3]);
  if (std::holds_alternative<std::int64_t>(row[4])) kind.size = integer_or_0(row[4]);
  const auto extents = [&](std::size_t x) {
    return fmt::format("{}x{}x{}", integer_or_0(row[x]), integer_or_0(row[x + 1]),
                       integer_or_0(row[x + 2]));
  };
  kind.grid = extents(5);
  kind.block = extents(8);
  kind.failed = integer_or_0(row[11]) != 0;
  kind.verified = integer_or_0(row[12]) != 0;
  kind.is_ceiling = integer_or_0(row[13]) != 0;
  kind.computes = integer_or_0(row[14]) != 0;
  kind.reason = text_or_empty(row[15]);
  kind.timing_reason = text_or_empty(row[16]);
  kind.cache = text_or_empty(row[17]);
  return kind;
}

}  // namespace

std::optional<std::size_t> LaunchKinds::find(std::int64_t id) const {
  if (ids.empty() || id < ids.front()) return std::nullopt;
  // Where no other run was written meanwhile, its place is its distance from the first.
  const auto guess = static_cast<std::size_t>(id - ids.front());
  if (guess < ids.size() && ids[guess] == id) return guess;
  const auto found = std::lower_bound(ids.begin(), ids.end(), id);
  if (found == ids.end() || *found != id) return std::nullopt;
  return static_cast<std::size_t>(found - ids.begin());
}

LaunchKinds read_kinds(const Reader& reader, std::int64_t run_id, Alike alike) {
  LaunchKinds kinds;
  std::unordered_map<std::string, std::uint32_t> known;
  std::string key;
  const std::string sql =
      fmt::format(kinds_sql, alike == Alike::resources ? resource_columns : std::string_view());
  reader.each(sql, {{":run", run_id}}, [&](std::span<const Value> row) {
    key.clear();
    for (const Value& value : row.subspan(1)) append_value(key, value);
    const auto [place, is_new] =
        known.try_emplace(key, static_cast<std::uint32_t>(kinds.all.size()));
    if (is_new) kinds.all.push_back(new_kind(row));
    ++kinds.all[place->second].launches;
    kinds.ids.push_back(integer_or_0(row[0]));
    kinds.places.push_back(place->second);
  });
  return kinds;
}

std::vector<ExplainedKind> explained_kinds(const Reader& reader, std::int64_t run_id,
                                           const LaunchKinds& kinds) {
  std::vector<ExplainedKind> all;
  std::map<std::tuple<std::uint32_t, std::optional<std::int64_t>, std::int64_t>, std::size_t> known;
  reader.each(
      "SELECT l.launch_id, e.explanation_id, e.launch_id IS NULL AND EXISTS "
      "(SELECT 1 FROM t_value v WHERE v.launch_id = l.launch_id) "
      "FROM t_launch l LEFT JOIN t_explained e ON e.launch_id = l.launch_id "
      "WHERE l.run_id = :run ORDER BY l.launch_id",
      {{":run", run_id}}, [&](std::span<const Value> row) {
        const auto launch = kinds.find(integer_or_0(row[0]));
        if (!launch) return;  // it was written since
        const std::uint32_t kind = kinds.places[*launch];
        std::optional<std::int64_t> explanation;
        if (std::holds_alternative<std::int64_t>(row[1])) explanation = integer_or_0(row[1]);
        const auto [place, is_new] =
            known.try_emplace({kind, explanation, integer_or_0(row[2])}, all.size());
        if (is_new) all.push_back({kind, explanation, kinds.ids[*launch], 0});
        ++all[place->second].launches;
      });
  return all;
}

}  // namespace warpmeter::schema
