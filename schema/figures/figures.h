// SPDX-License-Identifier: MIT
// Every figure of a run but its resources in one pass: rows of the view `results`, for readers that
// want all of them. The view looks the counters of each metric up by key, which is right for some
// metrics of some launches and slow for a million; here the counters of a launch are read once and
// its metrics computed from the same formulas, which are tables of the database. A test holds both
// equal.
//
// Most launches of a run have figures of the same metrics and grades, for the same reasons: they
// share a FigureShape, and only the values are there for each launch.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schema/figures/kinds.h"
#include "schema/records.h"
#include "schema/store.h"

namespace warpmeter::schema {

/// As the columns of `results`. Texts live until the pass ends.
struct Figure {
  std::int64_t launch_id = 0;
  std::string_view metric;
  std::optional<double> value;
  Grade grade = Grade::unavailable;
  std::string_view reason;
};

/// The parts of a figure that launches share.
struct FigureKind {
  std::string metric;
  Grade grade = Grade::unavailable;
  std::string reason;
  std::int64_t counter_id = 0;  ///< its number in the database; 0 where it is derived

  bool has_value() const { return grade != Grade::unavailable; }
};

/// The figures of a launch: its counters, the metrics derived from them, those from its timing, and
/// last the `relative_confidence` of a timing with several samples.
struct FigureShape {
  std::vector<FigureKind> figures;

  /// The place of a metric; nullopt without it.
  std::optional<std::size_t> find(std::string_view metric) const;
};

struct LaunchFigures {
  std::size_t launch = 0;   ///< its place in LaunchKinds::ids
  std::uint32_t times = 1;  ///< the number of launches with these figures: it and later ones
  const FigureShape* shape = nullptr;
  std::span<const double> values;  ///< one a figure of the shape; 0 for those without a value
};

inline constexpr std::string_view relative_confidence = "relative_confidence";

/// The reason of a count that some blocks of a launch stand for begins so: "estimated from 41 of
/// 4096 blocks (1 %); …".
inline constexpr std::string_view estimate_words = "estimated from ";

/// The part of such a reason that says which blocks: "estimated from 41 of 4096 blocks (1 %)".
/// Empty for any other reason.
inline std::string_view estimate_of(std::string_view reason) {
  return reason.starts_with(estimate_words) ? reason.substr(0, reason.find(';')) : "";
}

/// Calls `on_launch` for the launches in their order, also for those without figures. Launches
/// without a timing that `kinds` calls alike have one call, at the first of them. The shapes that
/// it names are those that are returned, and stay where they are.
std::deque<FigureShape> each_launch(const Reader& reader, const LaunchKinds& kinds,
                                    const std::function<void(const LaunchFigures&)>& on_launch);

/// Calls `on_error` for each estimate of a run with the launch, its counter or metric, and the half
/// of its interval: so far away lies, in 95 % of such cases at most, what all blocks give.
void each_error(const Reader& reader, std::int64_t run_id,
                const std::function<void(std::int64_t launch, std::string_view metric,
                                         double error)>& on_error);

/// The same figure by figure, for each launch, as `results` has them.
void each_figure(const Reader& reader, std::int64_t run_id,
                 const std::function<void(const Figure&)>& on_figure);

}  // namespace warpmeter::schema
