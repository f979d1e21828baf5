// SPDX-License-Identifier: MIT
// The formulas of metrics, as t_metric and t_term have them (schema/catalogue.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schema/store.h"

namespace warpmeter::schema {

struct Operand {
  std::int64_t counter_id = 0;
  double factor = 1;
  bool is_denominator = false;
};

/// That of a metric: scale × the sum of the numerator / the sum of the denominator.
struct Formula {
  std::string name, undefined;
  double scale = 1;
  std::vector<Operand> terms;  ///< those of the numerator first
};

/// Those of the metrics that have counters.
std::vector<Formula> read_formulas(const Reader& reader);

}  // namespace warpmeter::schema
