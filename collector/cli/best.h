// --best: of the variants of a run, those that nothing beats, for each family, size and device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reports/table.h"
#include "schema/store.h"

namespace warpmeter::cli {

/// Throws Error{usage} for a name that is no metric of the catalogue, with the nearest.
void check_best(const std::vector<std::string>& metrics);

/// By one metric the best five and those equal to the fifth, best first; by several the front: the
/// variants that no other beats in one without being worse in another. Which end of a metric is the
/// better one, the catalogue says. What lacks a value of one of them is left out; no row, where
/// every variant does. Variants compete on the same device; of several, a column names it.
reports::Table best_table(const schema::Reader& reader, std::int64_t run_id,
                          const std::vector<std::string>& metrics);

}  // namespace warpmeter::cli
