// SPDX-License-Identifier: MIT
#include "schema/figures/formulas.h"

#include <span>
#include <unordered_map>

#include "schema/figures/value.h"

namespace warpmeter::schema {

std::vector<Formula> read_formulas(const Reader& reader) {
  std::vector<Formula> formulas;
  std::unordered_map<std::int64_t, std::size_t> places;
  reader.each(
      "SELECT metric_id, name, scale, undefined FROM t_metric WHERE anchor_id IS NOT NULL "
      "ORDER BY metric_id",
      {}, [&](std::span<const Value> row) {
        places[integer_in(row[0])] = formulas.size();
        formulas.push_back({text_in(row[1]), text_in(row[3]), *number_in(row[2]), {}});
      });
  reader.each(
      "SELECT metric_id, counter_id, factor, is_denominator FROM t_term "
      "ORDER BY metric_id, is_denominator, counter_id",
      {}, [&](std::span<const Value> row) {
        const auto place = places.find(integer_in(row[0]));
        if (place == places.end()) return;
        formulas[place->second].terms.push_back(
            {integer_in(row[1]), *number_in(row[2]), integer_in(row[3]) != 0});
      });
  return formulas;
}

}  // namespace warpmeter::schema
