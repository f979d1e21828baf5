// SPDX-License-Identifier: MIT
// One screen of a run: the headline, and the best of each family in a row.
#include "reports/sections/sections.h"

namespace warpmeter::reports::sections {

void add_brief(Document& document, const Source& source) {
  constexpr std::size_t most_families = 12;
  add_headline(document, source);
  add_other_limits(document, source);
  add_best_table(document, source, most_families);
}

}  // namespace warpmeter::reports::sections
