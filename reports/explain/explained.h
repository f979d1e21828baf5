// SPDX-License-Identifier: MIT
// The findings of a run's launches in the database. Launches of one name that are told the same are
// one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "reports/explain/warp_picture.h"
#include "reports/record.h"
#include "reports/selector.h"
#include "schema/field.h"
#include "schema/figures/kinds.h"
#include "schema/store.h"

namespace warpmeter::reports {

struct ExplainedPrediction {
  std::string counter;
  std::optional<double> measured;
  std::int64_t predicted = 0;
};

// The members of the two records are the rows of schema/explanation_fields.h, as the views have
// them.

struct ExplainedRemedy {
  std::int64_t rank = 0;
#define REMEDY(sort, name, description) schema::sorts::sort::Read name{};
#include "schema/explanation_fields.h"
  std::int64_t spared_requests = 0;  ///< the spared requests among the finding's
  bool changes_requests = false;     ///< more or fewer requests make the accesses
  std::vector<ExplainedPrediction> predictions;

  /// "tile[16][17]", or the name.
  const std::string& title() const { return change.empty() ? name : change; }
};
constexpr auto fields_of(const ExplainedRemedy*) {
  return std::tuple{
#define REMEDY(sort, name, description) \
  schema::Field{schema::sorts::sort(), #name, &ExplainedRemedy::name},
#include "schema/explanation_fields.h"
  };
}

struct ExplainedFinding {
  std::int64_t rank = 0;
#define FINDING(sort, name, description) schema::sorts::sort::Read name{};
#define FINDING_VIEW(sort, name, sql, description) schema::sorts::sort::Read name{};
#include "schema/explanation_fields.h"
  std::vector<ExplainedRemedy> remedies;

  /// "kernels/transpose.cu:44"; empty where no line is known.
  std::string place() const;
};
constexpr auto fields_of(const ExplainedFinding*) {
  return std::tuple{
#define FINDING(sort, name, description) \
  schema::Field{schema::sorts::sort(), #name, &ExplainedFinding::name},
#define FINDING_VIEW(sort, name, sql, description) FINDING(sort, name, description)
#include "schema/explanation_fields.h"
  };
}

inline constexpr std::int64_t every_finding = INT64_MAX;

/// The findings of some launches, by launch and rank; without remedies. The first `top` of each
/// launch, their lanes only where `lanes`.
std::vector<std::pair<std::int64_t, ExplainedFinding>> read_findings(
    const schema::Reader& reader, std::span<const std::int64_t> launches, std::int64_t top,
    bool lanes);

struct LookedFor {
  std::string kind, words, reason;  ///< reason: why not; empty where it was looked for
  std::int64_t launch_id = 0;
  std::int64_t launches = 1;
};

struct ExplainedLaunch {
  std::int64_t launch_id = 0;  ///< the launch id of the first
  std::int64_t launches = 1;
  LaunchName name;
  std::string title;  ///< "transpose/tiled at 4,096"
  bool failed = false;
  std::string reason;  ///< why it failed, or why nothing was looked for; empty where it was
  std::int64_t found = 0;
  double transactions = 0;  ///< wavefronts and sectors that were counted in it
  std::optional<std::int64_t> shared_bytes, resident_blocks;
  std::vector<ExplainedFinding> findings;  ///< the first `top`

  bool is_clean() const { return reason.empty() && !failed && found == 0; }
  /// By which launches are put in order: the share of one that costs little is not worth what that
  /// of another is.
  double badness() const {
    return findings.empty() ? 0 : findings.front().share * (1 + transactions);
  }
};

struct ExplainRequest {
  std::int64_t run = 0;
  std::vector<Selector> selectors;  ///< none: every launch
  std::int64_t top = 5;             ///< findings of a launch
  bool all_remedies = false;        ///< those tried in vain too
  bool predictions = false;
  bool pictures = false;
  std::shared_ptr<const schema::LaunchKinds> kinds =
      {};  ///< the kinds of the run; null: they are read
};

/// In the order of the launches. Throws Error{usage} for a selector that matches none,
/// Error{nothing} where the run has no launch.
std::vector<ExplainedLaunch> read_explained(const schema::Reader& reader,
                                            const ExplainRequest& request);

/// The kinds that were looked for in one of the launches at least, in words, in the order of the
/// catalogue of kinds.
std::vector<std::string> read_looked_for(const schema::Reader& reader,
                                         std::span<const std::int64_t> launches);
/// The kinds that were not looked for in some of them, each kind and reason once, in the same
/// order.
std::vector<LookedFor> read_not_looked_for(const schema::Reader& reader,
                                           std::span<const std::int64_t> launches);
/// Both launch by launch.
std::vector<LookedFor> read_looked_for_each(const schema::Reader& reader,
                                            std::span<const std::int64_t> launches);

}  // namespace warpmeter::reports
