// The views with the catalogue's formulas in them. A view that shows some metrics as columns names
// each in braces, and at the end of its FROM the counters that they need:
//
//   SELECT …, {gld_efficiency} AS gld_efficiency
//   FROM t_launch l {counters}
//
// becomes
//
//   SELECT …, 100.0 * (likely(global_load_bytes.value) / (32.0 *
//   likely(global_load_sectors.value)))
//     AS gld_efficiency
//   FROM t_launch l
//     LEFT JOIN t_value global_load_bytes ON …
//
// A launch then costs one lookup for each counter, where `v_derived`, which knows every metric from
// the rows of t_term, costs five for each metric. A quotient without one of its counters, or by 0,
// is NULL either way.
#pragma once

#include <string>
#include <string_view>

namespace warpmeter::schema {

/// Throws std::logic_error for a name in braces that is no metric with counters.
std::string with_formulas(std::string_view view);

}  // namespace warpmeter::schema
