// SPDX-License-Identifier: MIT
#include "schema/server/run_content.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>
#include <vector>

namespace warpmeter::schema::server {
namespace {

/// splitmix64's last step: every bit of the result depends on every bit of the number.
std::uint64_t mixed(std::uint64_t number) {
  number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9;
  number = (number ^ number >> 27) * 0x94d049bb133111eb;
  return number ^ number >> 31;
}

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0x9e3779b97f4a7c15 + text.size();
  while (text.size() >= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), 8);
    hash = mixed(hash ^ word);
    text.remove_prefix(8);
  }
  std::uint64_t word = 0;
  std::memcpy(&word, text.data(), text.size());
  return mixed(hash ^ word);
}

}  // namespace

std::string rows_of_run(const TableShape& table, const RunContent& content) {
  if (table.has("run_id")) return "run_id = ?1";
  if (content.launches == content.last_launch - content.first_launch + 1) {
    return fmt::format("launch_id BETWEEN {} AND {} AND ?1 IS NOT NULL", content.first_launch,
                       content.last_launch);
  }
  return "launch_id IN (SELECT launch_id FROM t_launch WHERE run_id = ?1)";
}

struct ContentReader::Column {
  std::string name;
  Reference reference = Reference::none;
  std::uint64_t tag = 0;
};

RunContent ContentReader::read(std::int64_t run_id) {
  RunContent content;
  Statement range(db_,
                  "SELECT min(launch_id), max(launch_id), count(*) FROM t_launch WHERE run_id = ?");
  range.bind(1, run_id);
  range.step();
  content.first_launch = range.integer(0);
  content.last_launch = range.integer(1);
  content.launches = range.integer(2);
  run_ = run_id;
  low_ = high_ = 0;
  add_rows(shapes_.run, run_id, content);
  for (const TableShape& table : shapes_.of_run) add_rows(table, run_id, content);
  for (const TableShape& table : shapes_.of_launch) add_rows(table, run_id, content);
  // The digest of all of it names the rows that launches share; its own predictions name counters.
  for (const TableShape& table : shapes_.of_explanation) {
    if (!table.has("counter_id")) continue;
    Statement used(db_, fmt::format("SELECT DISTINCT counter_id FROM {} WHERE explanation_id = ?",
                                    table.name));
    for (const std::int64_t explanation : content.explanations) {
      used.bind(1, explanation);
      while (used.step()) content.counters.insert(used.integer(0));
    }
  }
  content.digest = fmt::format("{:016x}{:016x}", high_, low_);
  return content;
}

void ContentReader::add_rows(const TableShape& table, std::int64_t run_id, RunContent& content) {
  std::vector<Column> columns;
  for (const std::string& name : table.columns) {
    columns.push_back({name, reference_of(name), hash_of(table.name + "." + name)});
  }
  Statement rows(db_, fmt::format("SELECT {} FROM {} WHERE {}", fmt::join(table.columns, ", "),
                                  table.name, rows_of_run(table, content)));
  rows.bind(1, run_id);
  Value value;
  while (rows.step()) {
    std::uint64_t row = 0;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const Column& column = columns[i];
      // Labels are names that people give and change: they are not what was measured.
      if (column.reference == Reference::run || (column.name == "label" && table.name == "t_run")) {
        continue;
      }
      const int index = static_cast<int>(i);
      if (rows.is_null(index)) continue;
      std::uint64_t hash = 0;
      if (column.reference == Reference::launch) {
        hash = static_cast<std::uint64_t>(rows.integer(index) - content.first_launch);
      } else if (column.reference != Reference::none) {
        hash = named(column.reference, rows.integer(index), content);
      } else {
        rows.read(index, value);
        if (const auto* integer = std::get_if<std::int64_t>(&value)) {
          hash = static_cast<std::uint64_t>(*integer);
        } else if (const auto* number = std::get_if<double>(&value)) {
          hash = std::bit_cast<std::uint64_t>(*number);
        } else if (const auto* text = std::get_if<std::string>(&value)) {
          hash = hash_of(*text);
        }
      }
      row += mixed(column.tag ^ mixed(hash + 0x9e3779b97f4a7c15));
    }
    low_ += mixed(row);
    high_ += mixed(row ^ 0xd6e8feb86659fd93);
    ++content.rows;
  }
}

/// The hash of what a number refers to, which is remembered with the run.
std::uint64_t ContentReader::named(Reference reference, std::int64_t number, RunContent& content) {
  std::set<std::int64_t>& used = reference == Reference::device    ? content.devices
                                 : reference == Reference::counter ? content.counters
                                 : reference == Reference::reason  ? content.reasons
                                                                   : content.explanations;
  auto& known = known_[static_cast<int>(reference)];
  const auto found = known.find(number);
  if (found != known.end()) {
    if (found->second.run != run_) used.insert(number);
    found->second.run = run_;
    return found->second.hash;
  }
  used.insert(number);
  std::uint64_t hash = 0;
  switch (reference) {
    case Reference::device:
      hash = hash_of_row(fmt::format("SELECT {} FROM t_device WHERE device_id = ?",
                                     fmt::join(without(shapes_.device.columns, "device_id"), ", ")),
                         number);
      break;
    case Reference::counter:
      hash = hash_of_row("SELECT name FROM t_counter WHERE counter_id = ?", number);
      break;
    case Reference::reason:
      hash = hash_of_row("SELECT text FROM t_reason WHERE reason_id = ?", number);
      break;
    default:
      hash = hash_of_row("SELECT digest FROM t_explanation WHERE explanation_id = ?", number);
      break;
  }
  known.emplace(number, Known{hash, run_});
  return hash;
}

std::uint64_t ContentReader::hash_of_row(const std::string& sql, std::int64_t number) {
  Statement row(db_, sql);
  row.bind(1, number);
  std::uint64_t hash = 0;
  if (!row.step()) return hash;
  for (int i = 0; i < row.columns(); ++i) {
    if (row.is_null(i)) continue;
    hash += mixed(hash_of(row.column_name(i)) ^ hash_of(row.text(i)));
  }
  return hash;
}

}  // namespace warpmeter::schema::server
