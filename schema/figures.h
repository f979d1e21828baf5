// SPDX-License-Identifier: MIT
// Every figure of a run but its resources in one pass: rows of the view `results`, for readers that
// want all of them. The view looks the counters of each metric up by key, which is right for some
// metrics of some launches and slow for a million; here the counters of a launch are read once and
// its metrics computed from the same formulas, which are tables of the database. A test holds both
// equal.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

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

/// The reason of a count that some blocks of a launch stand for begins so: "estimated from 41 of
/// 4096 blocks (1 %); …".
inline constexpr std::string_view estimate_words = "estimated from ";

/// The part of such a reason that says which blocks: "estimated from 41 of 4096 blocks (1 %)".
/// Empty for any other reason.
inline std::string_view estimate_of(std::string_view reason) {
  return reason.starts_with(estimate_words) ? reason.substr(0, reason.find(';')) : "";
}

/// In the order of launches; of each its counters, the metrics derived from them, those from its
/// timing. `launches`: of the run, only these; all where there are none.
void each_figure(const Reader& reader, std::int64_t run_id,
                 const std::function<void(const Figure&)>& on_figure,
                 std::span<const std::int64_t> launches = {});

}  // namespace warpmeter::schema
