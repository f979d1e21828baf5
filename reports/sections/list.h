// SPDX-License-Identifier: MIT
// Every section of a report, a row each, in the order in which a report shows them: what was learnt
// first, then its evidence, then where the figures are from. A row yields
// the section's entry in all_sections(), and the declaration of the function that adds it:
//
//   void add_devices(Document& document, const Source& source);
//
// SECTION(function, name, in_short, meaning)
//
//   name      for --section
//   in_short  true if formats that cannot sort and filter show it, too
//   meaning   as the help of `--section` has it

#ifndef SECTION
#define SECTION(...)
#endif

SECTION(add_headline, "headline", true, "what was learnt, in a few sentences")
SECTION(add_failures, "failures", true, "launches that failed, and why")
SECTION(add_best, "best", true,
        "the best variant of each family, and its time against its energy (run -m @energy)")
SECTION(add_limits, "limits", true,
        "the resource that limits each variant, and the roofline (run -m @limits)")
SECTION(add_warp_states, "warp-states", true,
        "what the warps of each variant waited for, as stacked bars (run -m @compute on a GPU)")
SECTION(add_ceiling, "ceiling", true, "bandwidths as shares of the measured copy bandwidth")
SECTION(add_power, "power", true,
        "the card's power, clock and temperature over time (run -m @energy on a GPU)")
SECTION(add_findings, "findings", true, "what costs each variant most, and what would help")
SECTION(add_sweeps, "sweeps", true,
        "the best parameters of each sweep, plots over one and heat maps over two")
SECTION(add_timeline, "timeline", true,
        "what ran when in a traced program, and the longest gaps (profile --trace)")
SECTION(add_comparison, "comparison", true, "the variants of each family side by side, with plots")
SECTION(add_devices, "devices", true, "the cards of a run side by side, and which one is off")
SECTION(add_spills, "spills", true, "the kernels whose registers spill to local memory")
SECTION(add_expectations, "expectations", true, "how many expectations hold, and those that do not")
SECTION(add_costly_lines, "costly-lines", true,
        "the source lines that cost most beyond their ideal")
SECTION(add_stalls, "stalls", true,
        "what the warps waited for, by source line (run --lines on a GPU)")
SECTION(add_lines, "lines", false, "every source line that accesses memory")
SECTION(add_sources, "sources", false, "the source files with what each line costs beside it")
SECTION(add_launches, "launches", false, "every launch with its geometry")
SECTION(add_every_expectation, "every-expectation", true, "all expectations with their reasons")
SECTION(add_provenance, "run", true, "when, where, with what and how the run ended")
SECTION(add_doubtful, "not-exact", true, "the counts that are not exact, and why")
SECTION(add_unavailable, "unavailable", true, "what has no value, and why")

#undef SECTION
