// SPDX-License-Identifier: MIT
#include "schema/figures/kinds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "base/bytes.h"
#include "schema/alike/alike.h"

namespace warpmeter::schema {
namespace {

/// In the place of a condition on launches: all of the run, or those of a JSON array.
constexpr std::string_view of_run = "l.run_id = :run";
constexpr std::string_view among =
    "l.run_id = :run AND l.launch_id IN (SELECT value FROM json_each(:launches))";

/// {}: more columns, and the condition.
constexpr std::string_view kinds_sql =
    "SELECT l.launch_id, l.device_id, l.family, l.variant, l.size, l.grid_x, l.grid_y, l.grid_z, "
    "l.block_x, l.block_y, l.block_z, l.outcome <> 'done', l.verified, l.is_ceiling, "
    "coalesce(l.flops, 0) <> 0, l.reason, l.timing_reason, t.cache{} "
    "FROM t_launch l LEFT JOIN t_timing t ON t.launch_id = l.launch_id "
    "WHERE {} ORDER BY l.launch_id";

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

/// Adds the next launch by the number of its kind (t_alike). False where the number is out of turn.
bool add_alike(AlikeLaunches& alike, std::uint32_t number) {
  const std::uint32_t group = number & ~values_differ_bit;
  const bool differs = (number & values_differ_bit) != 0;
  if (group > alike.first.size()) return false;
  if (group == alike.first.size()) {
    alike.first.push_back(static_cast<std::uint32_t>(alike.groups.size()));
    alike.launches.push_back(0);
    alike.values_differ.push_back(differs);
  }
  alike.groups.push_back(group);
  ++alike.launches[group];
  return alike.values_differ[group] == differs;
}

/// The ids of the run's launches and which of them are alike, as the database has them; neither
/// where it does not say so, or says it of other launches than those that are there.
void read_alike(const Reader& reader, std::int64_t run_id, LaunchKinds& kinds) {
  bool is_sound = true;
  AlikeLaunches& alike = kinds.alike;
  reader.each(
      "SELECT first_launch_id, kinds FROM t_alike WHERE run_id = :run ORDER BY first_launch_id",
      {{":run", run_id}}, [&](std::span<const Value> row) {
        const auto* first = std::get_if<std::int64_t>(&row[0]);
        const auto* numbers = std::get_if<std::string>(&row[1]);
        is_sound = is_sound && first != nullptr && numbers != nullptr &&
                   (kinds.ids.empty() || *first > kinds.ids.back()) &&
                   *first < INT64_MAX - static_cast<std::int64_t>(numbers->size());
        if (!is_sound) return;
        std::int64_t id = *first;
        const Bytes bytes = bytes_in(*numbers);
        for (std::size_t at = 0; is_sound && at < bytes.size(); at += sizeof(std::uint32_t)) {
          const auto number = number_at<std::uint32_t>(bytes, at);
          is_sound = number && add_alike(alike, *number);
          kinds.ids.push_back(id++);
        }
      });
  if (!kinds.ids.empty() && is_sound) {
    is_sound = false;
    reader.each(
        "SELECT (SELECT min(launch_id) FROM t_launch WHERE run_id = :run), "
        "(SELECT max(launch_id) FROM t_launch WHERE run_id = :run)",
        {{":run", run_id}}, [&](std::span<const Value> row) {
          is_sound = row[0] == Value(kinds.ids.front()) && row[1] == Value(kinds.ids.back());
        });
  }
  if (is_sound) return;
  kinds.ids.clear();
  alike = {};
}

/// Kinds of launches with one key.
class KeyedKinds {
 public:
  explicit KeyedKinds(LaunchKinds& kinds) : kinds_(kinds) {}

  std::uint32_t place_of(std::span<const Value> row) {
    key_.clear();
    for (const Value& value : row.subspan(1)) append_value(key_, value);
    const auto [place, is_new] =
        known_.try_emplace(key_, static_cast<std::uint32_t>(kinds_.all.size()));
    if (is_new) kinds_.all.push_back(new_kind(row));
    return place->second;
  }

 private:
  LaunchKinds& kinds_;
  std::unordered_map<std::string, std::uint32_t> known_;
  std::string key_;
};

/// The kinds of the first launches of groups. False where one of these is not there.
bool read_kinds_of_groups(const Reader& reader, const std::string& sql, std::int64_t run_id,
                          LaunchKinds& kinds) {
  KeyedKinds keyed(kinds);
  const AlikeLaunches& alike = kinds.alike;
  std::vector<std::uint32_t> kind_of_group;
  reader.each(sql, {{":run", run_id}, {":launches", kinds.first_alike()}},
              [&](std::span<const Value> row) { kind_of_group.push_back(keyed.place_of(row)); });
  if (kind_of_group.size() != alike.first.size()) return false;
  for (std::size_t i = 0; i < kind_of_group.size(); ++i) {
    kinds.all[kind_of_group[i]].launches += alike.launches[i];
  }
  kinds.places.reserve(alike.groups.size());
  for (const std::uint32_t group : alike.groups) kinds.places.push_back(kind_of_group[group]);
  return true;
}

}  // namespace

std::string LaunchKinds::first_alike() const {
  std::vector<std::int64_t> first;
  first.reserve(alike.first.size());
  for (const std::uint32_t place : alike.first) first.push_back(ids[place]);
  return fmt::format("[{}]", fmt::join(first, ","));
}

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
  const std::string_view more = alike == Alike::resources ? resource_columns : std::string_view();
  LaunchKinds kinds;
  read_alike(reader, run_id, kinds);
  if (!kinds.alike.empty()) {
    const std::string sql = fmt::format(kinds_sql, more, among);
    if (read_kinds_of_groups(reader, sql, run_id, kinds)) return kinds;
    kinds = {};
  }
  KeyedKinds keyed(kinds);
  reader.each(fmt::format(kinds_sql, more, of_run), {{":run", run_id}},
              [&](std::span<const Value> row) {
                const std::uint32_t place = keyed.place_of(row);
                ++kinds.all[place].launches;
                kinds.ids.push_back(integer_or_0(row[0]));
                kinds.places.push_back(place);
              });
  return kinds;
}

std::vector<ExplainedKind> explained_kinds(const Reader& reader, std::int64_t run_id,
                                           const LaunchKinds& kinds) {
  std::vector<ExplainedKind> all;
  std::map<std::tuple<std::uint32_t, std::optional<std::int64_t>, std::int64_t>, std::size_t> known;
  const bool by_group = !kinds.alike.empty();
  Parameters parameters = {{":run", run_id}};
  if (by_group) parameters.emplace_back(":launches", kinds.first_alike());
  reader.each(fmt::format("SELECT l.launch_id, e.explanation_id, e.launch_id IS NULL AND EXISTS "
                          "(SELECT 1 FROM t_value v WHERE v.launch_id = l.launch_id) "
                          "FROM t_launch l LEFT JOIN t_explained e ON e.launch_id = l.launch_id "
                          "WHERE {} ORDER BY l.launch_id",
                          by_group ? among : of_run),
              parameters, [&](std::span<const Value> row) {
                const auto launch = kinds.find(integer_or_0(row[0]));
                if (!launch) return;  // it was written since
                const std::uint32_t kind = kinds.places[*launch];
                std::optional<std::int64_t> explanation;
                if (std::holds_alternative<std::int64_t>(row[1]))
                  explanation = integer_or_0(row[1]);
                const auto [place, is_new] =
                    known.try_emplace({kind, explanation, integer_or_0(row[2])}, all.size());
                if (is_new) all.push_back({kind, explanation, kinds.ids[*launch], 0});
                all[place->second].launches +=
                    by_group ? kinds.alike.launches[kinds.alike.groups[*launch]] : 1;
              });
  return all;
}

}  // namespace warpmeter::schema
