// SPDX-License-Identifier: MIT
#include "reports/disturbances.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <tuple>

#include "reports/record.h"
#include "reports/sql/sql.h"

namespace warpmeter::reports {
namespace {

/// More than a sentence holds.
constexpr std::size_t most_said = 4;

std::string words_of(const Row& row) {
  const std::string what = row.text("what");
  if (!what.empty()) return what;
  const std::string about = row.text("kind") == "process"
                                ? "whether somebody else was on the card is not known"
                                : row.text("kind") + " is not known";
  return fmt::format("{}: {}", about, row.text("reason"));
}

std::string brief_of(const Row& row) {
  const std::string name = row.text("process_name");
  if (!name.empty()) return name;
  return row.text("kind") == "process" ? "another process" : row.text("kind");
}

/// The key of a disturbance before and after, though its figures differ.
using DisturbanceKey = std::tuple<std::int64_t, std::string, std::int64_t, std::string>;

DisturbanceKey key_of(const Row& row) {
  const std::int64_t process = row.integer("process_id").value_or(0);
  return {row.integer("device_id").value_or(0), row.text("kind"), process,
          process != 0 ? "" : words_of(row)};
}

}  // namespace

std::vector<Disturbance> disturbances_of(const schema::Reader& reader, std::int64_t run) {
  std::vector<Disturbance> found;
  std::map<DisturbanceKey, std::size_t> known;
  std::vector<std::set<std::string>> phases;
  const schema::Rows rows = reader.query(sql::disturbances, run_parameter(run));
  for (const Row& row : each_row(rows)) {
    const auto [place, is_new] = known.try_emplace(key_of(row), found.size());
    if (is_new) {
      found.push_back({row.integer("device_id").value_or(0), row.text("device"), row.text("kind"),
                       brief_of(row), words_of(row), row.flag("disturbs")});
      phases.emplace_back();
    }
    phases[place->second].insert(row.text("phase"));
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    found[i].text += phases[i].size() == 2 ? ", before and after" : ", " + *phases[i].begin();
  }
  return found;
}

std::string felt_in_words(const std::vector<Disturbance>& disturbances) {
  std::set<std::int64_t> devices;
  for (const Disturbance& one : disturbances) devices.insert(one.device_id);
  std::string text;
  std::size_t said = 0, more = 0;
  for (const Disturbance& one : disturbances) {
    if (!one.is_felt) continue;
    if (said == most_said) {
      ++more;
      continue;
    }
    text += (said++ == 0 ? "" : "; ") + one.text;
    if (devices.size() > 1) text += fmt::format(" ({})", one.device);
  }
  if (more > 0) text += fmt::format("; and {} more", more);
  return text;
}

}  // namespace warpmeter::reports
