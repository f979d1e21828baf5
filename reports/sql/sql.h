// The SQL of the sections: each constant is the .sql file of its name beside this one
// or in explain/. All but
// schema_version and some of a comparison's bind :run; they read public views only.
#pragma once

#include <string_view>

namespace warpmeter::reports::sql {

extern const std::string_view compared_counter_names, compared_counters, compared_explanations,
    compared_findings, compared_kinds, compared_launches, compared_samples, untimed;

extern const std::string_view explained_findings, explained_launches, explained_predictions,
    explained_remedies, explained_resources, looked_for, looked_for_kinds, not_looked_for;

extern const std::string_view earlier_run;

extern const std::string_view checked_values, costliest_line;

extern const std::string_view cards, ceiling, costly_lines, device_states, devices, confidences,
    repeated_samples, disturbances, environment, expectations, history, history_subjects, launches,
    line_costs, lines, codes, provenance, results, run, schema_version, source_figures,
    source_files, stalls, timings, timing_summary;

}  // namespace warpmeter::reports::sql
