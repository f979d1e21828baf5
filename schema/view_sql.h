// SPDX-License-Identifier: MIT
// A view's file says in braces what is said elsewhere, once: the formulas, in the catalogue, and
// the scale of grades, in schema/records.h. Nothing of these is written in a view.
//
//   {gld_efficiency}         the metric's formula, over the counters that {counters} joins
//   {counters}               joins of the counters so named, at the end of the FROM: t_launch is l
//   {gld_efficiency(a, b)}   the same formula, with a and b in the places of its counters
//   {duration}               of the launch l and its timing t
//   {timed}, {resources}     WHEN and THEN, each metric's name and its formula, of those of timings
//                            and of those of the launch itself
//   {timed names}, {resource names}   the names of the same, as a list
//   {grade ptx}              the number of a grade, as t_grade has it
//   {grades}                 in a comment: all grades
//   {not_explained}          why the launch l of the device d has no explanation
//   {spills_unknown}         why the spills of the launch l on the device d are not known
//   {finding}, {remedy}      the fields of the row f (explanation_fields.h)
//   {finding described}      in the comment: the same fields
//
// SQLite and PostgreSQL read the same views but for a few words, which are in braces too:
//
//   {real 100}               a floating-point number: 100.0 by itself is a decimal fraction there
//   {group_concat}           string_agg there
//   {l of r}                 the launches l of the run r; there the condition says in which months
//   {comparison}             v_comparison; there its rows, which are computed when a run is added
//   {once a, b}              a subquery whose columns a, b name a row is computed once, as it is
//   {counters}               one look at all rows of a launch there, where its planner takes long
//                            over many joins of tables in parts
//
// A view that shows some metrics as columns has SQL like this then:
//
//   SELECT …, 100.0 * (likely(global_load_bytes.value) / (32.0 *
//   likely(global_load_sectors.value)))
//     AS gld_efficiency
//   FROM t_launch l
//     LEFT JOIN t_value global_load_bytes ON …
//
// A launch costs one lookup for each counter, where `v_derived`, which knows every metric from the
// rows of t_term, costs five for each metric. A quotient without one of its counters, or by 0, is
// NULL either way.
#pragma once

#include <string>
#include <string_view>

namespace warpmeter::schema {

enum class Dialect { sqlite, postgresql };

/// Throws std::logic_error for what is none of these.
std::string view_sql(std::string_view file, Dialect dialect = Dialect::sqlite);

}  // namespace warpmeter::schema
