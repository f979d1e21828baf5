// SPDX-License-Identifier: MIT
#include "reports/sections/sections.h"

namespace warpmeter::reports::sections {

std::span<const Section> all_sections() {
  static constexpr Section sections[] = {
#define SECTION(function, name, in_short, meaning) {name, meaning, in_short, function},
#include "reports/sections/list.h"
  };
  return sections;
}

}  // namespace warpmeter::reports::sections
