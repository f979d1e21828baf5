// SPDX-License-Identifier: MIT
#include "reports/explain/explained.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "base/error.h"
#include "reports/record.h"
#include "reports/sql/sql.h"
#include "reports/table/json.h"
#include "reports/unfinished.h"

namespace warpmeter::reports {
namespace {

schema::Value array_of(std::span<const std::int64_t> numbers) {
  return fmt::format("[{}]", fmt::join(numbers, ","));
}

using Titles = std::map<std::int64_t, std::string>;

/// The titles of the run's devices. A view makes one anew for each row that asks for it.
Titles titles_of(const schema::Reader& reader, std::int64_t run) {
  Titles titles;
  const schema::Rows rows = reader.query(sql::devices, run_parameter(run));
  for (const Row& row : each_row(rows)) {
    titles[row.integer("device_id").value_or(0)] = row.text("title");
  }
  return titles;
}

LaunchName name_of(const schema::LaunchKind& kind, const Titles& titles) {
  const auto title = titles.find(kind.device_id);
  return {kind.family, kind.variant, kind.size,
          kind.grid,   kind.block,   title == titles.end() ? "" : title->second};
}

/// Launches of one kind with one explanation.
struct DistinctLaunch {
  schema::ExplainedKind explained;
  LaunchName name;
  bool failed = false;
  std::string reason;  ///< why it failed, or has no findings
};

/// The launches of a run, those alike once: a profiled program launches a kernel a million times.
std::vector<DistinctLaunch> distinct_launches(const schema::Reader& reader, std::int64_t run,
                                              const schema::LaunchKinds& kinds) {
  const Titles titles = titles_of(reader, run);
  std::vector<DistinctLaunch> launches;
  std::map<std::int64_t, std::size_t> by_id;
  for (const schema::ExplainedKind& one : schema::explained_kinds(reader, run, kinds)) {
    const schema::LaunchKind& kind = kinds.all[one.kind];
    by_id[one.first] = launches.size();
    launches.push_back({one, name_of(kind, titles), kind.failed, kind.failed ? kind.reason : ""});
  }
  std::vector<std::int64_t> ids;
  for (const auto& [id, place] : by_id) ids.push_back(id);
  const schema::Rows rows = reader.query(sql::explained_reasons, {{":launches", array_of(ids)}});
  for (const Row& row : each_row(rows)) {
    DistinctLaunch& launch = launches[by_id.at(row.integer("launch_id").value_or(0))];
    if (!launch.failed) launch.reason = row.text("reason");
  }
  return launches;
}

/// The launches of the run, those with equal titles and explanations once.
class Gathering {
 public:
  void add(const DistinctLaunch& one, const ReadableNames& names) {
    ExplainedLaunch launch;
    launch.launches = one.explained.launches;
    launch.launch_id = one.explained.first;
    launch.name = one.name;
    launch.title = names.of(launch.name);
    launch.failed = one.failed;
    launch.reason = one.reason;
    const auto key = std::tuple(launch.title, one.explained.explanation_id, launch.reason);
    const auto [place, is_new] = known_.try_emplace(key, launches_.size());
    if (is_new) {
      launches_.push_back(std::move(launch));
    } else {
      launches_[place->second].launches += one.explained.launches;
    }
  }
  std::vector<ExplainedLaunch> take(const schema::Reader& reader) {
    std::map<std::int64_t, ExplainedLaunch*> by_id;
    std::vector<std::int64_t> ids;
    for (ExplainedLaunch& launch : launches_) {
      by_id[launch.launch_id] = &launch;
      ids.push_back(launch.launch_id);
    }
    const schema::Rows rows = reader.query(sql::explained_amounts, {{":launches", array_of(ids)}});
    for (const Row& row : each_row(rows)) {
      ExplainedLaunch& launch = *by_id.at(row.integer("launch_id").value_or(0));
      launch.found = row.integer("findings").value_or(0);
      launch.transactions = row.number("transactions").value_or(0);
    }
    return std::move(launches_);
  }

 private:
  std::map<std::tuple<std::string, std::optional<std::int64_t>, std::string>, std::size_t> known_;
  std::vector<ExplainedLaunch> launches_;
};

/// The numbers of a JSON array; none where there is none.
std::vector<std::int64_t> numbers_of(const std::string& text, std::string_view what) {
  std::vector<std::int64_t> numbers;
  if (text.empty()) return numbers;
  const auto json = stored_json(text, what);
  if (!json.is_array()) refuse_stored(what);
  for (const auto& number : json) {
    if (!number.is_number_integer()) refuse_stored(what);
    numbers.push_back(number.get<std::int64_t>());
  }
  return numbers;
}

/// The value of a column, as the type of a field.
template <class Type>
Type value_of(const Row& row, std::string_view column) {
  if constexpr (std::is_same_v<Type, std::string>) return row.text(column);
  if constexpr (std::is_same_v<Type, bool>) return row.flag(column);
  if constexpr (std::is_same_v<Type, double>) return row.number(column).value_or(0);
  if constexpr (std::is_same_v<Type, std::int64_t>) return row.integer(column).value_or(0);
  if constexpr (std::is_same_v<Type, std::optional<std::int64_t>>) return row.integer(column);
  if constexpr (std::is_same_v<Type, std::vector<std::int64_t>>) {
    return numbers_of(row.text(column), column);
  }
}

/// The record of a row with a rank and the columns of select().
template <class Record>
Record record_of(const Row& row) {
  Record record;
  record.rank = row.integer("rank").value_or(0);
  schema::for_each_field<Record>([&](const auto& field) {
    auto& member = record.*field.member;
    member = value_of<std::remove_reference_t<decltype(member)>>(row, field.name);
  });
  return record;
}

/// The query with the columns of a record in the place of {fields}; lanes only where :lanes.
template <class Record>
std::string select(std::string_view query) {
  std::vector<std::string> columns;
  schema::for_each_field<Record>([&](const auto& field) {
    const bool is_lanes = std::is_same_v<decltype(field.sort), schema::sorts::Lanes>;
    columns.push_back(fmt::format(is_lanes ? "iif(:lanes, {0}, NULL) AS {0}" : "{}", field.name));
  });
  return fmt::format(fmt::runtime(query), fmt::arg("fields", fmt::join(columns, ", ")));
}

/// "vector 4" takes four requests at once, and an atomic of a block is a request with one
/// transaction; other remedies leave requests as they are, or make more of them. The launch's own
/// counters need not be there: who names metrics gets those.
std::int64_t spared_requests(const ExplainedFinding& finding, const ExplainedRemedy& remedy) {
  if (remedy.name == "one atomic a block") return finding.requests - remedy.transactions;
  constexpr std::string_view vector = "vector ";
  if (!std::string_view(remedy.name).starts_with(vector)) return 0;
  const std::int64_t together =
      std::clamp(std::strtoll(remedy.name.c_str() + vector.size(), nullptr, 10), 1LL, 64LL);
  return finding.requests - (finding.requests + together - 1) / together;
}

/// Puts what belongs to the launches into them.
class Details {
 public:
  Details(const schema::Reader& reader, std::vector<ExplainedLaunch>& launches,
          const ExplainRequest& request)
      : reader_(reader), top_(request.top), lanes_(request.pictures) {
    for (ExplainedLaunch& launch : launches) {
      if (launch.found == 0) continue;
      with_findings_.push_back(launch.launch_id);
      by_id_[launch.launch_id] = &launch;
    }
    ids_ = array_of(with_findings_);
  }

  void read_findings() {
    const schema::Rows resources = reader_.query(sql::explained_resources, {{":launches", ids_}});
    for (const Row& row : each_row(resources)) {
      ExplainedLaunch& launch = launch_of(row.integer("launch_id"));
      launch.shared_bytes = row.integer("shared_bytes");
      launch.resident_blocks = row.integer("resident_blocks");
    }
    for (auto& [launch, finding] : reports::read_findings(reader_, with_findings_, top_, lanes_)) {
      launch_of(launch).findings.push_back(std::move(finding));
    }
  }

  void read_remedies(bool all) {
    const schema::Rows rows = reader_.query(select<ExplainedRemedy>(sql::explained_remedies),
                                            {{":launches", ids_},
                                             {":top", top_},
                                             {":all", std::int64_t{all}},
                                             {":lanes", std::int64_t{lanes_}}});
    for (const Row& row : each_row(rows)) {
      ExplainedFinding& finding = finding_of_row(row);
      ExplainedRemedy& remedy = finding.remedies.emplace_back(record_of<ExplainedRemedy>(row));
      remedy.changes_requests = row.flag("changes_requests");
      remedy.spared_requests = spared_requests(finding, remedy);
    }
  }

  void read_predictions() {
    const schema::Rows rows =
        reader_.query(sql::explained_predictions, {{":launches", ids_}, {":top", top_}});
    for (const Row& row : each_row(rows)) {
      for (ExplainedRemedy& remedy : finding_of_row(row).remedies) {
        if (remedy.rank != row.integer("remedy_rank")) continue;
        remedy.predictions.push_back(
            {row.text("counter"), row.number("measured"), row.integer("predicted").value_or(0)});
      }
    }
  }

 private:
  ExplainedLaunch& launch_of(std::optional<std::int64_t> id) {
    const auto found = by_id_.find(id.value_or(0));
    if (found == by_id_.end()) refuse_stored("the launch of a finding");
    return *found->second;
  }
  /// Ranks count from 1 without a gap.
  ExplainedFinding& finding_of_row(const Row& row) {
    std::vector<ExplainedFinding>& findings = launch_of(row.integer("launch_id")).findings;
    const std::int64_t rank = row.integer("finding_rank").value_or(0);
    if (rank < 1 || static_cast<std::uint64_t>(rank) > findings.size()) {
      refuse_stored("the rank of a finding");
    }
    return findings[static_cast<std::size_t>(rank - 1)];
  }

  const schema::Reader& reader_;
  std::int64_t top_;
  bool lanes_;
  std::vector<std::int64_t> with_findings_;
  schema::Value ids_;  ///< the same
  std::map<std::int64_t, ExplainedLaunch*> by_id_;
};

bool selects(const std::vector<Selector>& selectors, const LaunchName& launch) {
  return selectors.empty() ||
         std::any_of(selectors.begin(), selectors.end(),
                     [&](const Selector& selector) { return selector.selects(launch); });
}

std::vector<LookedFor> looked_for_of(const schema::Rows& rows, bool counted) {
  std::vector<LookedFor> all;
  for (const Row& row : each_row(rows)) {
    all.push_back({row.text("kind"), row.text("words"), row.text("reason"),
                   row.integer("launch_id").value_or(0),
                   counted ? row.integer("launches").value_or(1) : 1});
  }
  return all;
}

std::size_t place_of_kind(const std::string& kind) {
  const auto& kinds = schema::finding_kinds;
  return static_cast<std::size_t>(
      std::find_if(kinds.begin(), kinds.end(), [&](const auto& k) { return kind == k.name; }) -
      kinds.begin());
}

std::vector<LookedFor> in_order(std::vector<LookedFor> kinds) {
  std::stable_sort(kinds.begin(), kinds.end(), [](const LookedFor& a, const LookedFor& b) {
    return place_of_kind(a.kind) < place_of_kind(b.kind);
  });
  return kinds;
}

}  // namespace

std::vector<std::pair<std::int64_t, ExplainedFinding>> read_findings(
    const schema::Reader& reader, std::span<const std::int64_t> launches, std::int64_t top,
    bool lanes) {
  const schema::Rows rows = reader.query(
      select<ExplainedFinding>(sql::explained_findings),
      {{":launches", array_of(launches)}, {":top", top}, {":lanes", std::int64_t{lanes}}});
  std::vector<std::pair<std::int64_t, ExplainedFinding>> findings;
  for (const Row& row : each_row(rows)) {
    findings.emplace_back(row.integer("launch_id").value_or(0), record_of<ExplainedFinding>(row));
  }
  return findings;
}

std::string ExplainedFinding::place() const {
  return file.empty() || !line ? "" : fmt::format("{}:{}", file, *line);
}

std::vector<ExplainedLaunch> read_explained(const schema::Reader& reader,
                                            const ExplainRequest& request) {
  require_run(reader, request.run);
  std::shared_ptr<const schema::LaunchKinds> kinds = request.kinds;
  if (!kinds) {
    kinds = std::make_shared<const schema::LaunchKinds>(schema::read_kinds(reader, request.run));
  }
  const std::vector<DistinctLaunch> distinct = distinct_launches(reader, request.run, *kinds);
  const std::string cut_short = why_unfinished(reader, request.run);
  if (distinct.empty()) {
    throw Error(ExitCode::nothing,
                fmt::format("run {} ended before a launch was finished, so there is nothing to "
                            "explain: choose another with --run (see: warpmeter list runs)",
                            request.run));
  }
  std::vector<LaunchName> names;
  ReadableNames readable;
  for (const DistinctLaunch& launch : distinct) {
    names.push_back(launch.name);
    readable.add(launch.name);
  }
  std::vector<Selector> selectors = request.selectors;
  require_selected(names, selectors, request.run, cut_short);
  Gathering gathering;
  for (const DistinctLaunch& launch : distinct) {
    if (selects(selectors, launch.name)) gathering.add(launch, readable);
  }
  std::vector<ExplainedLaunch> launches = gathering.take(reader);
  Details details(reader, launches, request);
  details.read_findings();
  details.read_remedies(request.all_remedies);
  if (request.predictions) details.read_predictions();
  return launches;
}

std::vector<std::string> read_looked_for(const schema::Reader& reader,
                                         std::span<const std::int64_t> launches) {
  const schema::Rows rows =
      reader.query(sql::looked_for_kinds, {{":launches", array_of(launches)}});
  std::vector<LookedFor> kinds;
  for (const Row& row : each_row(rows)) {
    LookedFor& kind = kinds.emplace_back();
    kind.kind = row.text("kind");
    kind.words = row.text("words");
  }
  std::vector<std::string> words;
  for (const LookedFor& kind : in_order(kinds)) words.push_back(kind.words);
  return words;
}

std::vector<LookedFor> read_not_looked_for(const schema::Reader& reader,
                                           std::span<const std::int64_t> launches) {
  return in_order(
      looked_for_of(reader.query(sql::not_looked_for, {{":launches", array_of(launches)}}), true));
}

std::vector<LookedFor> read_looked_for_each(const schema::Reader& reader,
                                            std::span<const std::int64_t> launches) {
  return looked_for_of(reader.query(sql::looked_for, {{":launches", array_of(launches)}}), false);
}

}  // namespace warpmeter::reports
