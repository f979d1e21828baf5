// SPDX-License-Identifier: MIT
// The model has no clock, and still knows the cycles that each resource needs (limits/needs.h). No
// launch takes less than its limit: of two launches with one limit, the one that needs fewer cycles
// of it moves less of what limits both. Where their limits differ, each is compared.
//
// A count that is missing, not exact or another one in each launch may hide the limit: nothing is
// compared then, and the reason stands instead.
#include "reports/compare/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>

#include "reports/limits/needs.h"
#include "reports/record.h"
#include "reports/table/number.h"

namespace warpmeter::reports {
namespace {

using limits::LaunchFacts;
using limits::Limits;
using limits::Need;

/// The counts of a group as one launch, and what it needs.
class LimitsOfGroup {
 public:
  LimitsOfGroup(const LaunchGroup& group, const LaunchFacts* facts) : from_(group), facts_(facts) {
    const auto add = [&](std::string_view metric, const GroupFigure& figure) {
      shape_.figures.push_back({std::string(metric), figure.grade, ""});
      record_.values.push_back(figure.values);
    };
    for (const auto& [number, counter] : group.counters) add(counter.metric, counter);
    for (const auto& [name, metric] : group.derived) add(name, metric);
    for (const auto& [metric, reason] : group.missing) {
      if (group.find(metric) != nullptr) continue;
      shape_.figures.push_back({metric, schema::Grade::unavailable, reason});
      record_.values.emplace_back();
    }
    record_.count = group.launches;
    record_.shape = &shape_;
    subject_.variant = group.variant;
    subject_.launches = {&record_};
    group_.family = group.family;
    group_.size = group.size;
    unknown_ = why_unknown();
    if (!unknown_.empty()) return;
    limits_ = limits::limits_of(group_, subject_, *facts_);
    const Cell limit = limits::limit_of(*limits_);
    if (const auto* missing = std::get_if<Missing>(&limit.value)) unknown_ = missing->reason;
  }
  LimitsOfGroup(const LimitsOfGroup&) = delete;

  /// Why nobody knows what limits it; empty where it is known.
  const std::string& unknown() const { return unknown_; }
  const Limits& limits() const { return *limits_; }
  int compute_capability() const { return facts_->compute_capability; }

 private:
  std::string why_unknown() const {
    if (facts_ == nullptr || facts_->rates == nullptr) {
      return "the rates of its compute capability are not on the list";
    }
    const limits::Sum sum = limits::missing_count(subject_, facts_->compute_capability);
    if (!sum.missing.empty()) {
      return sum.missing + (sum.is_uncounted ? " (`run -m @limits` counts all that it needs)" : "");
    }
    for (const char* counter : limits::counters_of_limits(facts_->compute_capability)) {
      const GroupFigure* figure = from_.find(counter);
      if (figure == nullptr) continue;  // a resource that may lack its count
      if (figure->grade > schema::Grade::exact) {
        return fmt::format("{} is `{}`, not `exact`{}{}", counter, to_string(figure->grade),
                           figure->reason.empty() ? "" : ": ", figure->reason);
      }
      if (figure->values.front() != figure->values.back()) {
        return fmt::format("its launches differ: {} is {} to {}", counter,
                           grouped_number(std::llround(figure->values.front())),
                           grouped_number(std::llround(figure->values.back())));
      }
    }
    return "";
  }

  const LaunchGroup& from_;
  const LaunchFacts* facts_;
  schema::FigureShape shape_;
  LaunchRecord record_;
  Subject subject_;
  Group group_;
  std::optional<Limits> limits_;
  std::string unknown_;
};

/// The limits of each group once.
class AllLimits {
 public:
  AllLimits(const schema::Reader& reader, const std::vector<GroupPair>& pairs) {
    std::map<std::int64_t, std::map<const LaunchGroup*, std::int64_t>> first;  // launches, by run
    for (const GroupPair& pair : pairs) {
      for (const LaunchGroup* group : {pair.base, pair.contender}) {
        const auto& [run, kinds] = *group->kinds.begin();
        first[run][group] = kinds.of_run->all[kinds.places.front()].first;
      }
    }
    for (const auto& [run, launches] : first) {
      std::vector<std::int64_t> ids;
      for (const auto& [group, launch] : launches) ids.push_back(launch);
      facts_.push_back(std::make_unique<std::map<std::int64_t, LaunchFacts>>(
          limits::facts_of(reader, run, ids)));
      for (const auto& [group, launch] : launches) {
        const auto found = facts_.back()->find(launch);
        all_.try_emplace(group, *group, found == facts_.back()->end() ? nullptr : &found->second);
      }
    }
  }

  const LimitsOfGroup& of(const LaunchGroup* group) const { return all_.at(group); }

  std::vector<std::string> uncounted() const {
    std::vector<const Limits*> known;
    for (const auto& [group, limits] : all_) {
      if (limits.unknown().empty()) known.push_back(&limits.limits());
    }
    return known.empty() ? std::vector<std::string>() : limits::uncounted_resources(known);
  }

 private:
  std::vector<std::unique_ptr<std::map<std::int64_t, LaunchFacts>>> facts_;
  std::map<const LaunchGroup*, LimitsOfGroup> all_;
};

/// A side as its sentences call it, and its need of one resource.
struct SideNeed {
  std::string side;
  const Need* need = nullptr;
};

/// The sides of a pair in words.
struct SideNames {
  std::string base = "the base", contender = "the contender";

  explicit SideNames(const PairName& name) {
    if (name.base == name.contender) return;
    base = name.base;
    contender = name.contender;
  }
};

std::string whole_text(double count) { return grouped_number(std::llround(count)); }

/// "1,024 wavefronts against 33,792 (1 a cycle)"
std::string counts_text(const Need& less, const Need& more) {
  return fmt::format("{} against {} ({} a cycle)", less.amount(), whole_text(more.count),
                     less.rate);
}

/// "1,024 wavefronts (1 a cycle)"
std::string count_of_both(const Need& need) {
  return fmt::format("{} ({} a cycle)", need.amount(), need.rate);
}

bool is_same(const Need& a, const Need& b) { return a.cycles.value == b.cycles.value; }

/// Base and contender, or the other way round: the one that needs fewer cycles first.
std::pair<SideNeed, SideNeed> by_cycles(SideNeed base, SideNeed contender) {
  if (contender.need->cycles.value < base.need->cycles.value) std::swap(base, contender);
  return {std::move(base), std::move(contender)};
}

const char* verb_of(const Need& need) { return need.is_memory ? "moves" : "needs"; }

std::string capitalised(std::string text) {
  if (text.starts_with("the ")) text.front() = 'T';
  return text;
}

class PairSentence {
 public:
  PairSentence(const PairName& name, const Limits& base, const Limits& contender)
      : names_(name), base_(base), contender_(contender) {}

  std::string text() const {
    const Need &base = limits::most_of(base_), &contender = limits::most_of(contender_);
    std::string text = base.column != contender.column ? of_two_limits(base, contender)
                       : is_same(base, contender)      ? of_equal_needs(base)
                                                       : of_one_limit(base, contender);
    const limits::Sum& memory = base_.needs.back().cycles.missing.empty()
                                    ? contender_.needs.back().cycles
                                    : base_.needs.back().cycles;
    if (!memory.missing.empty()) {
      text += fmt::format(" Device memory may limit more: its bytes are not known ({}).",
                          memory.missing);
    }
    return text;
  }

 private:
  std::string of_one_limit(const Need& base, const Need& contender) const {
    const auto [less, more] = by_cycles({names_.base, &base}, {names_.contender, &contender});
    return fmt::format("{} {} less of what limits both, {}: {}.", less.side, verb_of(base),
                       base.name, counts_text(*less.need, *more.need));
  }

  std::string of_equal_needs(const Need& need) const {
    std::string text =
        fmt::format("both {} the same of what limits them, {}: {}.",
                    need.is_memory ? "move" : "need", need.name, count_of_both(need));
    const auto [base, contender] = most_different();
    if (base == nullptr) return text + " No other resource with a count differs.";
    const auto [less, more] = by_cycles({names_.base, base}, {names_.contender, contender});
    return text + fmt::format(" The rest differs most in {}: {} {} less of it, {}.", base->name,
                              less.side, verb_of(*base), counts_text(*less.need, *more.need));
  }

  std::string of_two_limits(const Need& base, const Need& contender) const {
    return fmt::format("{} is limited by {}, {} by {}.{}{}", names_.base, base.name,
                       names_.contender, contender.name, of_resource(base.column),
                       of_resource(contender.column));
  }

  /// " tiled_padded needs fewer cycles of shared memory: …."
  std::string of_resource(const std::string& column) const {
    const Need &base = limits::need_named(base_, column),
               &contender = limits::need_named(contender_, column);
    if (is_same(base, contender)) {
      return fmt::format(" Both need as many cycles of {}: {}.", base.name, count_of_both(base));
    }
    const auto [less, more] = by_cycles({names_.base, &base}, {names_.contender, &contender});
    return fmt::format(" {} needs fewer cycles of {}: {}.", capitalised(less.side), base.name,
                       counts_text(*less.need, *more.need));
  }

  std::pair<const Need*, const Need*> most_different() const {
    std::pair<const Need*, const Need*> most;
    double difference = 0;
    for (std::size_t i = 0; i < base_.needs.size(); ++i) {
      const Need &base = base_.needs[i], &contender = contender_.needs[i];
      if (!base.cycles.missing.empty() || !contender.cycles.missing.empty()) continue;
      const double here = std::abs(base.cycles.value - contender.cycles.value);
      if (here <= difference) continue;
      difference = here;
      most = {&base, &contender};
    }
    return most;
  }

  SideNames names_;
  const Limits &base_, &contender_;
};

bool is_alike(const Limits& base, const Limits& contender) {
  return std::equal(base.needs.begin(), base.needs.end(), contender.needs.begin(),
                    [](const Need& a, const Need& b) {
                      return a.cycles.missing.empty() == b.cycles.missing.empty() && is_same(a, b);
                    });
}

/// "the base and the contender: …" once where both have the same reason.
std::string unknown_text(const LimitsOfGroup& base, const LimitsOfGroup& contender) {
  if (base.unknown().empty() && contender.unknown().empty()) {
    return base.compute_capability() == contender.compute_capability()
               ? ""
               : "the architectures differ, and no clock compares their cycles";
  }
  if (base.unknown() == contender.unknown()) return base.unknown();
  if (contender.unknown().empty()) return fmt::format("in the base, {}", base.unknown());
  if (base.unknown().empty()) return fmt::format("in the contender, {}", contender.unknown());
  return fmt::format("in the base, {}; in the contender, {}", base.unknown(), contender.unknown());
}

LimitPair limits_of_pair(const PairName& name, const LimitsOfGroup& base,
                         const LimitsOfGroup& contender) {
  LimitPair pair{name, {}, unknown_text(base, contender)};
  if (!pair.sentence.empty()) return pair;
  const auto add = [&](const std::string& column) {
    const Need& of_base = limits::need_named(base.limits(), column);
    pair.needs.push_back({of_base.name, of_base.unit, of_base.count,
                          limits::need_named(contender.limits(), column).count});
  };
  const Need &most = limits::most_of(base.limits()), &other = limits::most_of(contender.limits());
  add(most.column);
  if (other.column != most.column) add(other.column);
  pair.is_alike = is_alike(base.limits(), contender.limits());
  pair.sentence = PairSentence(name, base.limits(), contender.limits()).text();
  return pair;
}

}  // namespace

ComparedLimits compare_limits(const schema::Reader& reader, const std::vector<GroupPair>& pairs) {
  std::vector<GroupPair> on_model;
  for (const GroupPair& pair : pairs) {
    if (pair.base->backend == "model" && pair.contender->backend == "model") {
      on_model.push_back(pair);
    }
  }
  ComparedLimits compared;
  const AllLimits limits(reader, on_model);
  for (const GroupPair& pair : on_model) {
    compared.pairs.push_back(
        limits_of_pair(pair.name, limits.of(pair.base), limits.of(pair.contender)));
  }
  compared.uncounted = limits.uncounted();
  return compared;
}

}  // namespace warpmeter::reports
