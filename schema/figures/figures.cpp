// SPDX-License-Identifier: MIT
#include "schema/figures/figures.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "schema/figures/formulas.h"
#include "schema/figures/timings.h"
#include "schema/figures/value.h"

namespace warpmeter::schema {
namespace {

class Names {
 public:
  Names(const Reader& reader, std::string_view sql) {
    reader.each(sql, {},
                [&](std::span<const Value> row) { names_[integer_in(row[0])] = text_in(row[1]); });
  }
  /// Empty for a name that was written since.
  std::string_view operator[](std::int64_t id) const {
    const auto found = names_.find(id);
    return found == names_.end() ? std::string_view() : std::string_view(found->second);
  }

 private:
  std::unordered_map<std::int64_t, std::string> names_;
};

/// A derived metric of launches that have certain counters: all of it but its value.
struct Derivation {
  const Formula* formula = nullptr;
  std::vector<std::size_t> places;  ///< the places of its terms among the counters
  bool has_all = true, has_denominator = false;
  Grade grade = Grade::measured;  ///< the weakest of its counters
  std::string_view reason;        ///< the reason of the weakest counter that has one
};

/// A counter of a launch: its number, its grade, the number of its reason, 1 with a value.
using Counted = std::array<std::int64_t, 4>;

/// Launches with the same counters of the same grades for the same reasons.
struct CountedShape {
  std::vector<Counted> counters;  ///< by ascending number
  std::vector<Derivation> derivations;
  /// By what is known of their values only: which quotients are undefined, what the timing gives.
  std::unordered_map<std::string, const FigureShape*> shapes;
};

class Pass {
 public:
  Pass(const Reader& reader, const LaunchKinds& kinds,
       const std::function<void(const LaunchFigures&)>& on_launch)
      : reader_(reader),
        kinds_(kinds),
        on_launch_(on_launch),
        counters_(reader, "SELECT counter_id, name FROM t_counter"),
        reasons_(reader, "SELECT reason_id, text FROM t_reason"),
        formulas_(read_formulas(reader)),
        timings_(reader, kinds),
        latest_(kinds.all.size()) {
    const std::vector<bool>& differ = kinds.alike.values_differ;
    some_differ_ = std::find(differ.begin(), differ.end(), true) != differ.end();
  }

  std::deque<FigureShape> run() {
    if (!kinds_.alike.empty()) read_groups();
    // Launches between which other runs have a few are read together, a part at a time.
    constexpr std::size_t part = 20'000;
    constexpr std::int64_t gap = 64;
    const std::vector<std::int64_t>& ids = kinds_.ids;
    while (launch_ < ids.size()) {
      std::size_t end = launch_ + 1;
      while (end < ids.size() && end - launch_ < part && ids[end] - ids[end - 1] <= gap) ++end;
      timings_.read(launch_, end);
      if (kinds_.alike.empty()) {
        run_part(end);
      } else {
        if (some_differ_) read_values(end);
        while (launch_ < end) finish_alike();
      }
    }
    return std::move(shapes_);
  }

 private:
  /// The launches up to this place.
  void run_part(std::size_t end) {
    const Parameters range = {{":first", kinds_.ids[launch_]}, {":last", kinds_.ids[end - 1]}};
    reader_.each(
        "SELECT launch_id, counter_id, value, grade, reason_id FROM t_value "
        "WHERE launch_id BETWEEN :first AND :last ORDER BY launch_id, counter_id",
        range, [&](std::span<const Value> row) {
          const std::int64_t id = integer_in(row[0]);
          while (launch_ < end && kinds_.ids[launch_] < id) finish_launch();
          if (launch_ == end || kinds_.ids[launch_] != id) return;  // another run's
          add_counter(row);
        });
    while (launch_ < end) finish_launch();
  }

  void add_counter(std::span<const Value> row) {
    const auto* reason = std::get_if<std::int64_t>(&row[4]);
    const auto* value = std::get_if<double>(&row[2]);
    counted_.push_back({integer_in(row[1]), integer_in(row[3]),
                        reason != nullptr ? *reason : no_reason, value != nullptr ? 1 : 0});
    values_.push_back(value != nullptr ? *value : 0);
  }

  // ---- launches that are alike

  /// The figures that the counters of a group's launches give: all but those of times.
  struct CountedGroup {
    CountedShape* shape = nullptr;
    std::size_t first_value = 0, values = 0;  ///< their place in group_values_, and number
    std::string key;
    /// The figures of the launch before, and their key. Most launches of a group have the same.
    std::string latest_key;
    const FigureShape* latest = nullptr;
  };

  /// Reads the counters of the first launch of each group.
  void read_groups() {
    const std::vector<std::uint32_t>& first = kinds_.alike.first;
    groups_.reserve(first.size());
    const auto finish_group = [&] {
      CountedShape& shape = derive_counted(first[groups_.size()]);
      groups_.push_back({&shape, group_values_.size(), values_.size(), key_, "", nullptr});
      group_values_.insert(group_values_.end(), values_.begin(), values_.end());
      clear_launch();
    };
    reader_.each(
        "SELECT launch_id, counter_id, value, grade, reason_id FROM t_value WHERE launch_id IN "
        "(SELECT value FROM json_each(:launches)) ORDER BY launch_id, counter_id",
        {{":launches", kinds_.first_alike()}}, [&](std::span<const Value> row) {
          while (kinds_.ids[first[groups_.size()]] < integer_in(row[0])) finish_group();
          add_counter(row);
        });
    while (groups_.size() < first.size()) finish_group();
  }

  /// Reads the values of the launches up to this place, where those of their groups differ.
  void read_values(std::size_t end) {
    const Parameters range = {{":first", kinds_.ids[launch_]}, {":last", kinds_.ids[end - 1]}};
    reader_.each(
        "SELECT launch_id, value FROM t_value WHERE launch_id BETWEEN :first AND :last "
        "ORDER BY launch_id, counter_id",
        range, [&](std::span<const Value> row) {
          const std::int64_t id = integer_in(row[0]);
          while (launch_ < end && kinds_.ids[launch_] < id) finish_alike();
          if (launch_ == end || kinds_.ids[launch_] != id) return;  // another run's
          if (values_differ(launch_)) values_.push_back(number_in(row[1]).value_or(0));
        });
  }

  bool values_differ(std::size_t launch) const {
    return kinds_.alike.values_differ[kinds_.alike.groups[launch]];
  }

  void finish_alike() {
    const std::uint32_t group = kinds_.alike.groups[launch_];
    if (kinds_.alike.values_differ[group]) {
      finish_differing(groups_[group]);
      return;
    }
    const bool is_first = kinds_.alike.first[group] == launch_;
    const bool is_together = kinds_.of(launch_).cache.empty();
    if (is_together && !is_first) {
      ++launch_;
      return;
    }
    CountedGroup& counted = groups_[group];
    const auto begin = group_values_.begin() + static_cast<std::ptrdiff_t>(counted.first_value);
    values_.assign(begin, begin + static_cast<std::ptrdiff_t>(counted.values));
    key_ = counted.key;
    finish(counted, is_together ? kinds_.alike.launches[group] : 1);
  }

  /// A launch whose values were read.
  void finish_differing(CountedGroup& counted) {
    if (values_.size() != counted.shape->counters.size()) {
      throw Error(ExitCode::file,
                  "the database was changed by something else than warpmeter (a launch lost "
                  "counters): use a copy that was not");
    }
    key_.clear();
    for (const Derivation& derivation : counted.shape->derivations) derive(derivation);
    finish(counted, 1);
  }

  // ---- the figures of a launch

  void finish_launch() {
    derive_counted(launch_);
    finish(latest_[kinds_.places[launch_]].group, 1);
  }

  /// Appends the figures that its counters give.
  CountedShape& derive_counted(std::size_t launch) {
    CountedShape& counted = counted_shape(launch);
    key_.clear();
    for (const Derivation& derivation : counted.derivations) derive(derivation);
    return counted;
  }

  /// Appends the figures of its timing, and calls on_launch.
  void finish(CountedGroup& group, std::uint32_t times) {
    const LaunchKind& kind = kinds_.of(launch_);
    const Timed* timed = timings_.of(launch_);
    add_timed(kind, timed);
    if (group.latest == nullptr || group.latest_key != key_) {
      const FigureShape*& shape = group.shape->shapes[key_];
      if (shape == nullptr) shape = new_shape(*group.shape, kind, timed);
      group.latest = shape;
      group.latest_key = key_;
    }
    on_launch_({launch_, times, group.latest, values_});
    clear_launch();
    ++launch_;
  }

  void clear_launch() {
    counted_.clear();
    values_.clear();
  }

  // ---- what is known of a launch from its counters, their grades and reasons

  static constexpr std::int64_t no_reason = INT64_MIN;

  /// Most launches of a kind have the same counters as the one before.
  CountedShape& counted_shape(std::size_t launch) {
    auto& [counters, group] = latest_[kinds_.places[launch]];
    if (group.shape != nullptr && counters == counted_) return *group.shape;
    counters = counted_;
    const auto [place, is_new] = counted_shapes_.try_emplace(counted_);
    if (is_new) place->second = {counted_, derivations(), {}};
    group.shape = &place->second;
    group.latest = nullptr;
    return *group.shape;
  }

  std::optional<std::size_t> find(std::int64_t counter_id) const {
    const auto found =
        std::lower_bound(counted_.begin(), counted_.end(), counter_id,
                         [](const Counted& c, std::int64_t id) { return c[0] < id; });
    if (found == counted_.end() || (*found)[0] != counter_id) return std::nullopt;
    return static_cast<std::size_t>(found - counted_.begin());
  }

  /// As v_derived.sql: no figure unless every counter was recorded, no value unless each has one.
  std::vector<Derivation> derivations() const {
    std::vector<Derivation> all;
    for (const Formula& formula : formulas_) {
      Derivation derivation;
      derivation.formula = &formula;
      const Counted* telling = nullptr;  // the weakest counter that has a reason
      for (const Operand& term : formula.terms) {
        const auto place = find(term.counter_id);
        if (!place) break;
        derivation.places.push_back(*place);
        const Counted& counter = counted_[*place];
        derivation.has_denominator = derivation.has_denominator || term.is_denominator;
        derivation.has_all = derivation.has_all && counter[3] != 0;
        derivation.grade = std::max(derivation.grade, grade_numbered(counter[1]));
        if (counter[2] != no_reason && (telling == nullptr || counter[1] > (*telling)[1])) {
          telling = &counter;
        }
      }
      if (derivation.places.size() != formula.terms.size()) continue;
      if (telling != nullptr) derivation.reason = reasons_[(*telling)[2]];
      all.push_back(std::move(derivation));
    }
    return all;
  }

  // ---- what depends on the values; key_ says it

  static constexpr char has_value = '+', has_none = '-', is_undefined = '0';

  void derive(const Derivation& derivation) {
    double sums[2] = {0, 0};
    const std::vector<Operand>& terms = derivation.formula->terms;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      sums[terms[i].is_denominator ? 1 : 0] += terms[i].factor * values_[derivation.places[i]];
    }
    double value = 0;
    if (derivation.has_denominator && sums[1] == 0) {
      key_ += is_undefined;
    } else if (!derivation.has_all) {
      key_ += has_none;
    } else {
      key_ += has_value;
      value = derivation.formula->scale * (sums[0] / (derivation.has_denominator ? sums[1] : 1));
    }
    values_.push_back(value);
  }

  /// `timed`: nullptr without a timing.
  void add_timed(const LaunchKind& kind, const Timed* timed) {
    if (kind.failed) {
      key_ += 'f';
      return;
    }
    if (timed == nullptr) {
      key_ += 'r' + kind.timing_reason;
      values_.resize(values_.size() + timings_.metrics().size());
      return;
    }
    key_ += timed->median_ns == 0 ? is_undefined : has_value;
    for (const std::optional<double>& value : timed->values) {
      key_ += value ? has_value : has_none;
      values_.push_back(value.value_or(0));
    }
    if (!timed->confidence) return;
    key_ += 'c';
    values_.push_back(*timed->confidence);
  }

  const FigureShape* new_shape(const CountedShape& counted, const LaunchKind& kind,
                               const Timed* timed) {
    FigureShape& shape = shapes_.emplace_back();
    for (const Counted& counter : counted.counters) {
      shape.figures.push_back({std::string(counters_[counter[0]]),
                               std::max(grade_numbered(counter[1]),
                                        counter[3] != 0 ? Grade::measured : Grade::unavailable),
                               std::string(counter[2] != no_reason ? reasons_[counter[2]] : ""),
                               counter[0]});
    }
    for (std::size_t i = 0; i < counted.derivations.size(); ++i) {
      const Derivation& derivation = counted.derivations[i];
      const bool undefined = key_[i] == is_undefined && derivation.grade != Grade::unavailable;
      shape.figures.push_back(
          {derivation.formula->name, key_[i] == has_value ? derivation.grade : Grade::unavailable,
           undefined ? derivation.formula->undefined : std::string(derivation.reason)});
    }
    if (kind.failed) return &shape;
    for (std::size_t i = 0; i < timings_.metrics().size(); ++i) {
      const MetricInfo& metric = *timings_.metrics()[i];
      const bool has = timed != nullptr && timed->values[i];
      shape.figures.push_back({metric.name, has ? Grade::measured : Grade::unavailable,
                               has ? "" : reason_of(kind, timed, metric)});
    }
    if (timed != nullptr && timed->confidence) {
      shape.figures.push_back({std::string(relative_confidence), Grade::measured, ""});
    }
    return &shape;
  }

  /// As v_timed.sql: why a metric has no value.
  static std::string reason_of(const LaunchKind& kind, const Timed* timed,
                               const MetricInfo& metric) {
    if (timed == nullptr)
      return kind.timing_reason.empty() ? "it was not timed" : kind.timing_reason;
    if (timed->median_ns == 0) return metric.undefined;
    return "its useful bytes are not known";
  }

  const Reader& reader_;
  const LaunchKinds& kinds_;
  const std::function<void(const LaunchFigures&)>& on_launch_;
  Names counters_, reasons_;
  std::vector<Formula> formulas_;
  Timings timings_;
  std::deque<FigureShape> shapes_;
  std::map<std::vector<Counted>, CountedShape> counted_shapes_;
  /// The counters of the launch before, and what follows from them.
  struct LatestLaunch {
    std::vector<Counted> counters;
    CountedGroup group;
  };
  std::vector<LatestLaunch> latest_;  ///< by kind

  std::vector<CountedGroup> groups_;  ///< those of kinds_.alike
  std::vector<double> group_values_;
  bool some_differ_ = false;  ///< true if there are groups whose values are told one by one

  std::size_t launch_ = 0;        ///< the place of the launch that is read
  std::vector<Counted> counted_;  ///< its counters, by ascending id
  std::vector<double> values_;    ///< theirs, then those of its other figures
  std::string key_;
};

}  // namespace

std::optional<std::size_t> FigureShape::find(std::string_view metric) const {
  const auto found = std::find_if(figures.begin(), figures.end(),
                                  [&](const FigureKind& one) { return one.metric == metric; });
  if (found == figures.end()) return std::nullopt;
  return static_cast<std::size_t>(found - figures.begin());
}

std::deque<FigureShape> each_launch(const Reader& reader, const LaunchKinds& kinds,
                                    const std::function<void(const LaunchFigures&)>& on_launch) {
  return Pass(reader, kinds, on_launch).run();
}

void each_error(const Reader& reader, std::int64_t run_id,
                const std::function<void(std::int64_t launch, std::string_view metric,
                                         double error)>& on_error) {
  reader.each(
      "SELECT i.launch_id, i.metric, (i.high - i.low) / 2 FROM t_launch l CROSS JOIN t_interval i "
      "ON i.launch_id = l.launch_id WHERE l.run_id = :run",
      {{":run", run_id}}, [&](std::span<const Value> row) {
        on_error(integer_in(row[0]), text_in(row[1]), number_in(row[2]).value_or(0));
      });
}

void each_figure(const Reader& reader, std::int64_t run_id,
                 const std::function<void(const Figure&)>& on_figure) {
  LaunchKinds kinds = read_kinds(reader, run_id);
  kinds.alike = {};  // each launch is to be told
  each_launch(reader, kinds, [&](const LaunchFigures& launch) {
    for (std::size_t i = 0; i < launch.values.size(); ++i) {
      const FigureKind& figure = launch.shape->figures[i];
      if (figure.metric == relative_confidence) continue;
      on_figure({kinds.ids[launch.launch], figure.metric,
                 figure.has_value() ? std::optional(launch.values[i]) : std::nullopt, figure.grade,
                 figure.reason});
    }
  });
}

}  // namespace warpmeter::schema
