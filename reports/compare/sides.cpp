// SPDX-License-Identifier: MIT
// A side is a run, or all runs of a label, or the launches of a run that have one value of a key: a
// variant, a device, a backend, a size. Values that the chosen run lacks are looked for in the
// latest run that has them, so that `--by backend last` holds the last run against the other
// backend's latest.
#include "reports/compare/sides.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>

#include "base/error.h"
#include "base/nearest.h"
#include "base/variant_name.h"
#include "base/with_noun.h"
#include "reports/compare/common_sizes.h"
#include "reports/compare/run_before_last.h"
#include "reports/record.h"
#include "reports/sql/sql.h"
#include "reports/unfinished.h"

namespace warpmeter::reports {
namespace {

using RunIds = std::vector<std::int64_t>;

/// `device`: that of the side; empty: those of its last run.
std::string about(const schema::Reader& reader, const RunIds& runs, std::string device = "") {
  const schema::Rows rows = reader.query(sql::provenance, run_parameter(runs.back()));
  const Row run = each_row(rows).at(0);
  if (device.empty()) device = run.text("device");
  std::string text =
      fmt::format("{} on {}, {}, warpmeter {} (git {})", device.empty() ? "no device" : device,
                  run.text("host").empty() ? "an unknown host" : run.text("host"),
                  run.text("began"), run.text("tool_version"), run.text("git_revision"));
  if (runs.size() > 1) text = fmt::format("{}, the last: {}", with_noun(runs.size(), "run"), text);
  return text;
}

Side side_of(const schema::Reader& reader, std::string name, RunIds runs) {
  Side side;
  side.about = about(reader, runs);
  side.name = std::move(name);
  side.runs = std::move(runs);
  return side;
}

std::vector<std::string> texts(const schema::Rows& rows) {
  std::vector<std::string> all;
  for (const Row& row : each_row(rows)) all.push_back(row.text(rows.columns.front()));
  return all;
}

Error unknown_value(std::string_view kind, std::string_view value,
                    const std::vector<std::string>& known, std::string_view where) {
  constexpr std::size_t shown = 8;
  const std::vector<std::string> first(
      known.begin(), known.begin() + static_cast<std::ptrdiff_t>(std::min(known.size(), shown)));
  std::string list = fmt::format("{}", fmt::join(first, ", "));
  if (known.size() > shown) list += fmt::format(" and {} more", known.size() - shown);
  const std::string others = known.empty() ? fmt::format("no launch has a {}", kind)
                                           : fmt::format("the {}s: {}", kind, list);
  return {ExitCode::usage, fmt::format("there is no {} '{}'{}{} ({})", kind, value, where,
                                       did_you_mean(value, known), others)};
}

// ---- by run, by label

Sides by_run(const schema::Reader& reader, const CompareRequest& request) {
  const auto& names = request.names;
  schema::KindsByRun kinds = request.kinds;
  const std::string base = names.empty() ? run_before_last(reader, kinds) : names.front();
  const std::string contender = names.size() < 2 ? "last" : names[1];
  const std::int64_t first = reader.find_run(base), second = reader.find_run(contender);
  if (first == second) {
    throw Error(ExitCode::usage,
                fmt::format("'{}' and '{}' are the same run, {}: name two, or compare its variants "
                            "with --by variant",
                            base, contender, first));
  }
  return {side_of(reader, run_name(reader, first, request.run_names), {first}),
          side_of(reader, run_name(reader, second, request.run_names), {second}),
          read_groups(reader, RunIds{first}, false, kinds),
          read_groups(reader, RunIds{second}, false, kinds)};
}

RunIds runs_of_label(const schema::Reader& reader, const std::string& label) {
  RunIds runs;
  const schema::Rows rows = reader.query(
      "SELECT run_id FROM runs WHERE label = :label AND outcome <> 'running' "
      "ORDER BY started, run_id",
      {{":label", label}});
  for (const Row& row : each_row(rows)) runs.push_back(row.integer("run_id").value_or(0));
  if (!runs.empty()) return runs;
  const std::vector<std::string> known =
      texts(reader.query("SELECT DISTINCT label FROM runs WHERE label IS NOT NULL ORDER BY label"));
  if (known.empty()) {
    throw Error(ExitCode::usage,
                fmt::format("there is no label '{}': no run has one (see: warpmeter "
                            "run --label)",
                            label));
  }
  throw unknown_value("label", label, known, "");
}

Sides by_label(const schema::Reader& reader, const CompareRequest& request) {
  if (request.names.size() != 2 || request.names[0] == request.names[1]) {
    throw Error(ExitCode::usage,
                "--by label needs two labels: warpmeter compare --by label BASE CONTENDER");
  }
  const RunIds first = runs_of_label(reader, request.names[0]);
  const RunIds second = runs_of_label(reader, request.names[1]);
  return {side_of(reader, request.names[0], first), side_of(reader, request.names[1], second),
          read_groups(reader, first), read_groups(reader, second)};
}

// ---- by a value that launches have

/// The value that people see, and others that they may type for it.
struct KeyOfLaunch {
  std::string_view kind;
  std::function<std::string(const LaunchGroup&)> shown;
  std::function<bool(const LaunchGroup&, const std::string&)> is;
};

constexpr std::size_t shortest_uuid = 8;  // "GPU-6f1d"

KeyOfLaunch key_of(Key by) {
  const auto full = [](const LaunchGroup& s) { return s.family + "/" + s.variant; };
  switch (by) {
    case Key::variant:
      return {"variant", full, [full](const LaunchGroup& s, const std::string& text) {
                const std::string bare = name_without_sizes(s.variant);  // at all of its sizes
                return s.variant == text || full(s) == text || bare == text ||
                       s.family + "/" + bare == text;
              }};
    case Key::size:
      return {"size", [](const LaunchGroup& s) { return s.size ? std::to_string(*s.size) : ""; },
              [](const LaunchGroup& s, const std::string& text) {
                return s.size && std::to_string(*s.size) == text;
              }};
    case Key::backend:
      return {"backend", [](const LaunchGroup& s) { return s.backend; },
              [](const LaunchGroup& s, const std::string& text) { return s.backend == text; }};
    default:
      return {"device", [](const LaunchGroup& s) { return s.device; },
              [](const LaunchGroup& s, const std::string& text) {
                return s.device == text || s.device.substr(0, s.device.find(" #")) == text ||
                       std::to_string(s.ordinal) == text ||
                       fmt::format("{} ({})", s.device, s.ordinal) == text ||
                       std::any_of(s.uuids.begin(), s.uuids.end(), [&](const std::string& uuid) {
                         return text.size() >= shortest_uuid && uuid.starts_with(text);
                       });
              }};
  }
}

/// The latest run that ended whose devices are such; none when there is none.
std::optional<std::int64_t> latest_run_with(const schema::Reader& reader, std::string_view column,
                                            std::string_view relation, const std::string& value) {
  const schema::Rows rows =
      reader.query(fmt::format("SELECT r.run_id FROM runs r JOIN devices d ON d.run_id = r.run_id "
                               "WHERE r.outcome <> 'running' AND d.{} {} :value "
                               "ORDER BY r.started DESC, r.run_id DESC LIMIT 1",
                               column, relation),
                   {{":value", value}});
  if (rows.rows.empty()) return std::nullopt;
  return each_row(rows).front().integer("run_id");
}

class ByValue {
 public:
  ByValue(const schema::Reader& reader, const CompareRequest& request)
      : reader_(reader), by_(request.by), key_(key_of(request.by)) {
    const bool names_run = request.names.size() == 1;
    if (!request.label.empty()) {
      if (names_run || !request.run.empty()) {
        throw Error(ExitCode::usage,
                    "--label takes all runs of a label: leave --run and the name of a run away, or "
                    "name two devices");
      }
      runs_ = runs_of_label(reader, request.label);
      values_ = request.names;
      groups_ = read_groups(reader, runs_, true);
      return;
    }
    if (names_run && !request.run.empty()) {
      throw Error(ExitCode::usage,
                  fmt::format("--by {} takes two {}s, or one run: leave '{}' or --run away",
                              key_.kind, key_.kind, request.names[0]));
    }
    if (names_run) {
      runs_ = {reader.find_run(request.names[0])};
    } else {
      runs_ = {reader.find_run(request.run.empty() ? "last" : request.run)};
      values_ = request.names;
    }
    groups_ = read_groups(reader, runs_, by_ == Key::device);
  }

  Sides find() {
    if (!values_.empty()) return two_values();
    if (by_ == Key::variant) return rest_against_first_of_family();
    return rest_against_first();
  }

 private:
  std::vector<LaunchGroup> having(const std::vector<LaunchGroup>& groups,
                                  const std::string& value) const {
    std::vector<LaunchGroup> found;
    for (const LaunchGroup& group : groups) {
      if (key_.is(group, value)) found.push_back(group);
    }
    return found;
  }

  std::vector<std::string> shown_values() const {
    std::vector<std::string> values;
    std::set<std::string> known = {""};
    for (const LaunchGroup& group : groups_) {
      std::string value = key_.shown(group);
      if (known.insert(value).second) values.push_back(std::move(value));
    }
    return values;
  }

  /// The side made of the chosen runs that have launches of it.
  Side side(std::string name, const std::vector<LaunchGroup>& groups) const {
    std::set<std::int64_t> having;
    for (const LaunchGroup& group : groups) having.insert(group.runs.begin(), group.runs.end());
    RunIds runs;
    std::copy_if(runs_.begin(), runs_.end(), std::back_inserter(runs),
                 [&](std::int64_t run) { return having.contains(run); });
    if (runs.empty()) runs = runs_;
    Side side = side_of(reader_, std::move(name), std::move(runs));
    const auto is_of_first = [&](const LaunchGroup& g) { return g.device == groups[0].device; };
    if (by_ == Key::device && std::all_of(groups.begin(), groups.end(), is_of_first)) {
      side.about = about(reader_, side.runs, groups.empty() ? "" : groups[0].device);
    }
    return side;
  }

  Sides two_values() const {
    Sides sides;
    sides.base = find_value(values_[0], sides.base_groups);
    sides.contender = find_value(values_[1], sides.contender_groups);
    if (by_ == Key::variant) keep_common_sizes(values_, groups_, sides);
    const auto first_launch = [](const std::vector<LaunchGroup>& groups) -> std::int64_t {
      if (groups.empty() || groups[0].launches == 0) return -1;
      const KindsOfRun& kinds = groups[0].kinds.begin()->second;
      return kinds.of_run->all[kinds.places.front()].first;
    };
    if (values_[0] == values_[1] ||
        (first_launch(sides.base_groups) >= 0 &&
         first_launch(sides.base_groups) == first_launch(sides.contender_groups))) {
      throw Error(ExitCode::usage, fmt::format("'{}' and '{}' are the same {}: name two",
                                               values_[0], values_[1], key_.kind));
    }
    return sides;
  }

  /// The launches with the value: of the run, else of the latest run on such a device or backend.
  Side find_value(const std::string& value, std::vector<LaunchGroup>& groups) const {
    groups = having(groups_, value);
    if (!groups.empty()) return side(value, groups);
    if (by_ == Key::device || by_ == Key::backend) {
      const auto run =
          latest_run_with(reader_, by_ == Key::device ? "title" : "backend", "=", value);
      if (run) {
        groups = having(read_groups(reader_, RunIds{*run}, by_ == Key::device), value);
        return side_of(reader_, fmt::format("{}, run {}", value, *run), {*run});
      }
      const schema::Rows known = reader_.query(
          by_ == Key::device ? "SELECT DISTINCT title FROM devices ORDER BY title"
                             : "SELECT DISTINCT backend FROM devices ORDER BY backend");
      throw unknown_value(key_.kind, value, texts(known), "");
    }
    throw unknown_value(key_.kind, value, shown_values(), fmt::format(" in run {}", runs_.back()));
  }

  Sides rest_against_first_of_family() {
    Sides sides;
    std::map<std::string, std::string> first;  // family → variant
    for (const LaunchGroup& group : groups_) {
      const std::string variant = name_without_sizes(group.variant);
      const auto place = first.try_emplace(group.family, variant).first;
      (place->second == variant ? sides.base_groups : sides.contender_groups).push_back(group);
    }
    sides.base = side("the first variant of each family", sides.base_groups);
    sides.contender = side("the others", sides.contender_groups);
    return sides;
  }

  Sides rest_against_first() {
    const std::vector<std::string> values = shown_values();
    if (values.size() < 2 && by_ != Key::size) return other_run(values.empty() ? "" : values[0]);
    Sides sides;
    if (values.empty()) return sides;
    for (const LaunchGroup& group : groups_) {
      (key_.shown(group) == values[0] ? sides.base_groups : sides.contender_groups)
          .push_back(group);
    }
    sides.base = side(values[0], sides.base_groups);
    sides.contender = side(values.size() == 2 ? values[1] : "the others", sides.contender_groups);
    return sides;
  }

  /// The run has one device or backend: the other side is the latest run on another. Hardware is
  /// the base of a comparison with the model.
  Sides other_run(const std::string& here) {
    const bool is_device = by_ == Key::device;
    const std::string value = groups_.empty() ? ""
                              : is_device     ? groups_.front().device
                                              : groups_.front().backend;
    const auto other = latest_run_with(reader_, is_device ? "title" : "backend", "<>", value);
    if (!other) {
      throw Error(ExitCode::nothing,
                  fmt::format("every run of the database is on {}: measure on another {} first, or "
                              "merge another machine's database",
                              here.empty() ? value : here, key_.kind));
    }
    Sides sides;
    sides.contender_groups = std::move(groups_);
    sides.contender = side_of(reader_, fmt::format("{}, run {}", value, runs_.back()), runs_);
    sides.base_groups = read_groups(reader_, RunIds{*other}, is_device);
    const std::string there = sides.base_groups.empty() ? "the other"
                              : is_device               ? sides.base_groups.front().device
                                                        : sides.base_groups.front().backend;
    sides.base = side_of(reader_, fmt::format("{}, run {}", there, *other), {*other});
    if (!is_device && value == "cupti") {
      std::swap(sides.base, sides.contender);
      std::swap(sides.base_groups, sides.contender_groups);
    }
    return sides;
  }

  const schema::Reader& reader_;
  Key by_;
  KeyOfLaunch key_;
  RunIds runs_;
  std::vector<std::string> values_;
  std::vector<LaunchGroup> groups_;
};

}  // namespace

Sides find_sides(const schema::Reader& reader, const CompareRequest& request) {
  if (request.names.size() > 2) {
    throw Error(ExitCode::usage,
                fmt::format("'{}' is one too many: a comparison has two sides", request.names[2]));
  }
  if (request.by == Key::run || request.by == Key::label) {
    if (!request.run.empty()) {
      throw Error(ExitCode::usage,
                  "--run chooses where --by variant, device, backend or size look: "
                  "name the two sides as BASE and CONTENDER instead");
    }
    return request.by == Key::run ? by_run(reader, request) : by_label(reader, request);
  }
  return ByValue(reader, request).find();
}

}  // namespace warpmeter::reports
