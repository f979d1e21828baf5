// SPDX-License-Identifier: MIT
// A finding is the same one in two launches when its kind, array and access are and it stands on
// the same line; or, since a change moves lines, on a line of the same text; or is the only one
// left that fits.
#include "reports/compare/findings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "reports/record.h"
#include "reports/sql/sql.h"

namespace warpmeter::reports {
namespace {

using Findings = std::vector<ExplainedFinding>;

/// The findings of a launch, and what was looked for there.
struct Looked {
  Findings findings;
  std::set<std::string> kinds;

  bool is_known(const std::string& kind) const {
    return kinds.contains(kind) ||
           std::any_of(findings.begin(), findings.end(),
                       [&](const ExplainedFinding& finding) { return finding.kind == kind; });
  }
};

/// Shares of samples and of times are others in every run: those of times are compared as times.
bool varies(const std::string& kind) { return kind == "waiting" || kind == "below_copy"; }

bool is_alike(const ExplainedFinding& a, const ExplainedFinding& b) {
  return a.kind == b.kind && a.object == b.object && a.access == b.access;
}

bool is_on_one_line(const ExplainedFinding& a, const ExplainedFinding& b) {
  return is_alike(a, b) && a.file == b.file && a.line == b.line && a.text == b.text;
}

bool costs_more(const ExplainedFinding& a, const ExplainedFinding& b) {
  return std::pair(a.transactions, a.share) > std::pair(b.transactions, b.share);
}

/// The findings of both, the costliest of each; what was looked for in both.
Looked together(Looked all, const Looked& more) {
  for (const ExplainedFinding& finding : more.findings) {
    const auto known = std::find_if(all.findings.begin(), all.findings.end(),
                                    [&](const auto& one) { return is_on_one_line(one, finding); });
    if (known == all.findings.end()) {
      all.findings.push_back(finding);
    } else if (costs_more(finding, *known)) {
      *known = finding;
    }
  }
  std::erase_if(all.kinds, [&](const std::string& kind) { return !more.kinds.contains(kind); });
  return all;
}

/// The findings of all launches of a side together. Launches with one explanation are read once.
class FindingsOfGroups {
 public:
  FindingsOfGroups(const schema::Reader& reader, const std::vector<GroupPair>& pairs) {
    std::vector<const LaunchGroup*> groups;
    std::set<std::int64_t> runs;
    for (const GroupPair& pair : pairs) {
      for (const LaunchGroup* group : {pair.base, pair.contender}) {
        groups.push_back(group);
        runs.insert(group->runs.begin(), group->runs.end());
      }
    }
    for (const std::int64_t run : runs) read_explained(reader, run, groups);
    leave_unexplained(reader);
    std::vector<std::int64_t> read;
    for (const GroupPair& pair : pairs) {
      for (const LaunchGroup* group : {pair.base, pair.contender}) {
        const std::vector<std::int64_t> own = speakers(*group);
        read.insert(read.end(), own.begin(), own.end());
      }
    }
    for (auto& [launch, finding] : read_findings(reader, read, every_finding, false)) {
      looked_[launch].findings.push_back(std::move(finding));
    }
    const schema::Rows kinds =
        reader.query(sql::compared_kinds, {{":launches", nlohmann::json(read).dump()}});
    for (const Row& row : each_row(kinds)) {
      looked_[row.integer("launch_id").value_or(0)].kinds.insert(row.text("kind"));
    }
  }

  /// nullopt where nothing was looked for.
  std::optional<Looked> of(const LaunchGroup& group) const {
    std::optional<Looked> all;
    for (const std::int64_t launch : speakers(group)) {
      const auto found = looked_.find(launch);
      const Looked own = found == looked_.end() ? Looked{} : found->second;
      all = all ? together(std::move(*all), own) : own;
    }
    return all;
  }

 private:
  /// The first launch of a group that has an explanation.
  struct Speaker {
    std::int64_t launch = 0, explanation = 0;
  };

  void read_explained(const schema::Reader& reader, std::int64_t run,
                      const std::vector<const LaunchGroup*>& groups) {
    std::map<std::size_t, const LaunchGroup*> by_kind;
    std::shared_ptr<const schema::LaunchKinds> kinds;
    for (const LaunchGroup* group : groups) {
      const auto found = group->kinds.find(run);
      if (found == group->kinds.end()) continue;
      kinds = found->second.of_run;
      for (const std::size_t place : found->second.places) by_kind[place] = group;
    }
    if (!kinds) return;
    for (const schema::ExplainedKind& one : schema::explained_kinds(reader, run, *kinds)) {
      const auto group = by_kind.find(one.kind);
      if (group == by_kind.end() || !one.explanation_id) continue;
      speakers_[group->second].push_back({one.first, *one.explanation_id});
    }
  }

  /// Explanations that say why nothing was looked for have no findings to compare. A group keeps
  /// one launch of each other one.
  void leave_unexplained(const schema::Reader& reader) {
    nlohmann::json launches = nlohmann::json::array();
    for (const auto& [group, speakers] : speakers_) {
      for (const Speaker& speaker : speakers) launches.push_back(speaker.launch);
    }
    std::set<std::int64_t> explained;
    reader.each(sql::compared_explanations, {{":launches", launches.dump()}},
                [&](std::span<const schema::Value> row) {
                  if (const auto* launch = std::get_if<std::int64_t>(&row[0])) {
                    explained.insert(*launch);
                  }
                });
    for (auto& [group, speakers] : speakers_) {
      std::set<std::int64_t> known;
      std::erase_if(speakers, [&](const Speaker& speaker) {
        return !explained.contains(speaker.launch) || !known.insert(speaker.explanation).second;
      });
    }
  }

  std::vector<std::int64_t> speakers(const LaunchGroup& group) const {
    std::vector<std::int64_t> launches;
    const auto found = speakers_.find(&group);
    if (found == speakers_.end()) return launches;
    for (const Speaker& speaker : found->second) launches.push_back(speaker.launch);
    return launches;
  }

  std::map<const LaunchGroup*, std::vector<Speaker>> speakers_;
  std::map<std::int64_t, Looked> looked_;
};

constexpr std::array<bool (*)(const ExplainedFinding&, const ExplainedFinding&), 3> same_by = {
    is_on_one_line,
    [](const ExplainedFinding& a, const ExplainedFinding& b) {
      return is_alike(a, b) && a.file == b.file && a.text == b.text;
    },
    is_alike};

FindingChange change_of(const ExplainedFinding& base, const ExplainedFinding& contender) {
  constexpr double least_share = 0.1;  // %: of launches as a whole, what people are shown
  const bool is_counted = base.transactions > 0 || contender.transactions > 0;
  const double more = is_counted ? static_cast<double>(contender.transactions - base.transactions)
                                 : contender.share - base.share;
  if (more == 0 || (!is_counted && std::abs(more) < least_share)) return FindingChange::same;
  return more > 0 ? FindingChange::worse : FindingChange::better;
}

/// Those of the first that the second was looked through for: others neither came nor went.
Findings comparable(const Looked& looked, const Looked& other) {
  Findings findings;
  for (const ExplainedFinding& finding : looked.findings) {
    if (!varies(finding.kind) && other.is_known(finding.kind)) findings.push_back(finding);
  }
  return findings;
}

/// Appends the differences of one pair.
void compare_pair(const PairName& name, const Findings& bases, const Findings& contenders,
                  FindingChanges& changes) {
  std::map<const ExplainedFinding*, const ExplainedFinding*>
      partner;  // the partner of each finding of the contender
  std::set<const ExplainedFinding*> taken;
  for (const auto is_same : same_by) {
    for (const ExplainedFinding& contender : contenders) {
      if (partner.contains(&contender)) continue;
      for (const ExplainedFinding& base : bases) {
        if (taken.contains(&base) || !is_same(base, contender)) continue;
        partner[&contender] = &base;
        taken.insert(&base);
        break;
      }
    }
  }
  for (const ExplainedFinding& contender : contenders) {
    const auto found = partner.find(&contender);
    if (found == partner.end()) {
      changes.pairs.push_back({name, FindingChange::came, std::nullopt, contender});
      continue;
    }
    const FindingChange change = change_of(*found->second, contender);
    if (change == FindingChange::same) {
      ++changes.same;
    } else {
      changes.pairs.push_back({name, change, *found->second, contender});
    }
  }
  for (const ExplainedFinding& base : bases) {
    if (!taken.contains(&base)) {
      changes.pairs.push_back({name, FindingChange::went, base, std::nullopt});
    }
  }
}

}  // namespace

std::string_view to_string(FindingChange change) {
  switch (change) {
    case FindingChange::came:
      return "came";
    case FindingChange::went:
      return "went";
    case FindingChange::worse:
      return "worse";
    case FindingChange::better:
      return "better";
    case FindingChange::same:
      break;
  }
  return "same";
}

FindingChanges compare_findings(const schema::Reader& reader, const std::vector<GroupPair>& pairs) {
  FindingChanges changes;
  const FindingsOfGroups findings(reader, pairs);
  for (const GroupPair& pair : pairs) {
    const auto base = findings.of(*pair.base), contender = findings.of(*pair.contender);
    if (!base || !contender) continue;
    compare_pair(pair.name, comparable(*base, *contender), comparable(*contender, *base), changes);
  }
  return changes;
}

std::string array_of(const ExplainedFinding& finding) {
  return finding.object.empty()   ? finding.access
         : finding.access.empty() ? finding.object
                                  : finding.access + " of " + finding.object;
}

}  // namespace warpmeter::reports
