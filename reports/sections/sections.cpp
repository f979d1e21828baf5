// SPDX-License-Identifier: MIT
#include "reports/sections/sections.h"

#include <array>

namespace warpmeter::reports::sections {

std::span<const Section> all_sections() {
  static constexpr std::array<Section, 17> sections = {
      {{"headline", "what was learnt, in a few sentences", true,
        [](Document& d, const Source& s) { add_headline(d, s); }},
       {"run", "when, where, with what and how the run ended", true,
        [](Document& d, const Source& s) { add_provenance(d, s); }},
       {"failures", "launches that failed, and why", true,
        [](Document& d, const Source& s) { add_failures(d, s.run); }},
       {"comparison", "the variants of each family side by side, with plots", true,
        [](Document& d, const Source& s) { add_comparison(d, s.run, s.plots); }},
       {"sweeps", "the best parameters of each sweep, plots over one and heat maps over two", true,
        [](Document& d, const Source& s) { add_sweeps(d, s.run, s.plots); }},
       {"findings", "what costs each variant most, and what would help", true,
        [](Document& d, const Source& s) { add_findings(d, s); }},
       {"devices", "the cards of a run side by side, and which one is off", true,
        [](Document& d, const Source& s) { add_devices(d, s); }},
       {"ceiling", "bandwidths as shares of the measured copy bandwidth", true,
        [](Document& d, const Source& s) { add_ceiling(d, s.reader, s.run); }},
       {"expectations", "how many expectations hold, and those that do not", true,
        [](Document& d, const Source& s) { add_expectations(d, s); }},
       {"costly-lines", "the source lines that cost most beyond their ideal", true,
        [](Document& d, const Source& s) { add_costly_lines(d, s.reader, s.run); }},
       {"stalls", "what the warps waited for, by source line (run --lines on a GPU)", true,
        [](Document& d, const Source& s) { add_stalls(d, s.reader, s.run); }},
       {"lines", "every source line that accesses memory", false,
        [](Document& d, const Source& s) { add_lines(d, s.reader, s.run); }},
       {"sources", "the source files with what each line costs beside it", false,
        [](Document& d, const Source& s) { add_sources(d, s.reader, s.run); }},
       {"launches", "every launch with its geometry", false,
        [](Document& d, const Source& s) { add_launches(d, s.reader, s.run); }},
       {"not-exact", "the counts that are not exact, and why", true,
        [](Document& d, const Source& s) { add_doubtful(d, s.run); }},
       {"unavailable", "what has no value, and why", true,
        [](Document& d, const Source& s) { add_unavailable(d, s.run); }},
       {"every-expectation", "all expectations with their reasons", true,
        [](Document& d, const Source& s) { add_every_expectation(d, s); }}}};
  return sections;
}

}  // namespace warpmeter::reports::sections
