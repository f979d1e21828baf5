// SPDX-License-Identifier: MIT
// The counts of a layout where elements that lie the same distance apart lie next to each other
// instead: of structures an array for each member, of a matrix its transpose. Every recorded access
// of the buffer goes where its element lies then, and is counted by the rule that counts it today.
#pragma once

#include <cstdint>
#include <optional>

#include "collector/model/explain/access_group.h"
#include "collector/model/explain/subject.h"

namespace warpmeter::model::explain {

struct Coalesced {
  std::uint64_t transactions = 0;  ///< the transactions of the group's sites
  /// The counts of all accesses of the buffer: now, and then.
  struct Change {
    AccessCounts now, then;
  };
  Change loads, stores;
};

/// `step`: bytes from one element to the next. Nothing: it cannot be counted (lanes that lie in
/// other ways too, more ways than are kept, elements too far apart for their numbers to be known,
/// another part of the launch that is not known to leave the buffer alone). Where it can, the grade
/// of the finding is no better than that of any access it moves.
std::optional<Coalesced> coalesced(const Subject& subject, const AccessGroup& group,
                                   std::int64_t step, schema::Finding& finding);

}  // namespace warpmeter::model::explain
