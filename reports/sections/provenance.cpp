// SPDX-License-Identifier: MIT
// Where the figures come from: enough to repeat the run, or to see why another one differs.
#include <fmt/format.h>

#include <algorithm>

#include "reports/disturbances.h"
#include "reports/sections/sections.h"
#include "reports/sql/sql.h"
#include "reports/table/number.h"

namespace warpmeter::reports::sections {
namespace {

/// Appends ", <text>" where there is a text.
void join(std::string& list, const std::string& text) {
  if (text.empty()) return;
  if (!list.empty()) list += ", ";
  list += text;
}

std::string labelled(const std::string& name, const std::string& value) {
  return value.empty() ? "" : name + " " + value;
}

/// "failed: 1 of 7 launches failed; 7 launches, 6 verified against what was expected"
std::string outcome_of(const Row& run, const RunRecord& record) {
  std::size_t finished = 0, verified = 0;
  for (const LaunchRecord& launch : record.launches) {
    finished += launch.count;
    verified += launch.verified ? launch.count : 0;
  }
  const std::string outcome = run.text("outcome"), reason = run.text("reason");
  std::string text = outcome == "running" ? "still running" : outcome;
  if (!reason.empty()) text += ": " + reason;
  const std::optional<std::int64_t> planned = run.integer("planned_launches");
  if (planned && finished < static_cast<std::size_t>(*planned)) {
    text += fmt::format("; {} of {}", grouped_number(static_cast<std::int64_t>(finished)),
                        counted(static_cast<std::size_t>(*planned), "launch", "launches"));
  } else {
    text += "; " + (finished == 0 ? "no launch finished" : counted(finished, "launch", "launches"));
  }
  if (verified > 0) {
    text += fmt::format(", {} verified against what was expected",
                        verified == finished ? "all" : std::to_string(verified));
  }
  return text;
}

std::string date_of(const Row& run) {
  const std::string until = run.text("until");
  return run.text("began") + (until.empty() ? "" : " to " + until) + " UTC";
}

std::string backend_text(const std::string& backend) {
  if (backend == "cupti") return "cupti (hardware counters)";
  if (backend == "model") return "model (PTX executed on the CPU)";
  return backend;
}

std::string device_text(const Row& device) {
  std::string details;
  join(details, device.text("chip"));
  const auto capability = device.integer("compute_capability").value_or(0);
  if (capability > 0) {
    join(details, fmt::format("compute capability {}.{}", capability / 10, capability % 10));
  }
  join(details, labelled("driver", device.text("driver")));
  return device.text("name") + (details.empty() ? "" : " (" + details + ")");
}

/// "1,980 MHz before, 1,755 MHz after", or once where they are equal.
std::string before_after(const std::vector<Row>& states, std::string_view column,
                         std::string_view unit) {
  std::vector<std::pair<std::string, std::string>> values;  // value, phase
  for (const Row& state : states) {
    const auto value = state.number(column);
    if (!value) continue;
    values.emplace_back(fmt::format("{} {}", readable_number(*value, Zeros::trim), unit),
                        state.text("phase"));
  }
  if (values.size() == 2 && values[0].first == values[1].first) {
    return values[0].first + " before and after";
  }
  std::string text;
  for (const auto& [value, phase] : values) join(text, value + " " + phase);
  return text;
}

std::string throttling(const std::vector<Row>& states) {
  std::string text;
  bool known = false;
  for (const Row& state : states) {
    if (!state.text("unavailable").empty()) continue;
    known = true;
    const std::string reasons = state.text("throttle_reasons");
    if (!reasons.empty()) join(text, reasons + " " + state.text("phase"));
  }
  return !known ? "" : text.empty() ? "none" : text;
}

std::string disturbances_text(const std::vector<Disturbance>& disturbances,
                              std::int64_t device_id) {
  std::string text;
  for (const Disturbance& one : disturbances) {
    if (one.device_id == device_id) text += (text.empty() ? "" : "; ") + one.text;
  }
  return text;
}

/// "CUDA_VISIBLE_DEVICES=2, SLURM_JOB_ID=17"
std::string environment_text(const schema::Rows& rows) {
  std::string text;
  for (const Row& row : each_row(rows)) join(text, row.text("name") + "=" + row.text("value"));
  return text;
}

void add_device(Facts& facts, const Row& device, const schema::Rows& all_states,
                const std::vector<Disturbance>& disturbances, bool is_only) {
  const std::string of = is_only ? "" : " of device " + device.text("ordinal");
  facts.pairs.emplace_back(is_only ? "Device" : "Device " + device.text("ordinal"),
                           device_text(device));
  if (!is_only && !device.text("uuid").empty()) {
    facts.pairs.emplace_back("UUID" + of, device.text("uuid"));
  }
  std::vector<Row> states;
  std::string unavailable;
  for (const Row& state : each_row(all_states)) {
    if (state.integer("device_id") != device.integer("device_id")) continue;
    states.push_back(state);
    if (unavailable.empty()) unavailable = state.text("unavailable");
  }
  const std::pair<const char*, std::string> known[] = {
      {"SM clock", before_after(states, "sm_clock_mhz", "MHz")},
      {"Memory clock", before_after(states, "memory_clock_mhz", "MHz")},
      {"Throttling", throttling(states)},
      {"Temperature", before_after(states, "temperature_c", "°C")},
      {"Power", before_after(states, "power_w", "W")},
  };
  bool any = false;
  for (const auto& [name, text] : known) {
    if (text.empty()) continue;
    facts.pairs.emplace_back(name + of, text);
    any = true;
  }
  if (!any && !unavailable.empty()) {
    facts.pairs.emplace_back("State" + of, unavailable);
    return;
  }
  const std::string disturbed =
      disturbances_text(disturbances, device.integer("device_id").value_or(0));
  if (!disturbed.empty()) facts.pairs.emplace_back("Disturbances" + of, disturbed);
}

std::string timing_text(const schema::Rows& rows) {
  std::string text;
  for (const Row& row : each_row(rows)) {
    const auto fewest = row.integer("fewest_samples").value_or(0);
    const auto most = row.integer("most_samples").value_or(0);
    std::string samples = fewest == most ? "" : grouped_number(fewest) + " to ";
    samples += counted(static_cast<std::size_t>(most), "sample", "samples");
    join(text, fmt::format("{} cache, {} a launch", row.text("cache"), samples));
  }
  return text;
}

}  // namespace

void add_title(Document& document, const Source& source) {
  if (!document.blocks.empty()) return;
  const schema::Rows runs = source.reader.query("SELECT label FROM runs WHERE run_id = :run",
                                                run_parameter(source.run.id));
  const std::string label = Row(runs, 0).text("label");
  document.heading(1, fmt::format("warpmeter report: run {}{}", source.run.id,
                                  label.empty() ? "" : ", " + label));
}

void add_provenance(Document& document, const Source& source) {
  const schema::Reader& reader = source.reader;
  const RunRecord& record = source.run;
  const schema::Parameters parameters = run_parameter(record.id);
  const schema::Rows runs = reader.query(sql::provenance, parameters);
  const schema::Rows devices = reader.query(sql::devices, parameters);
  const schema::Rows states = reader.query(sql::device_states, parameters);
  const schema::Rows timing = reader.query(sql::timing_summary, parameters);
  const std::vector<Disturbance> disturbances = disturbances_of(reader, record.id);
  const Row run(runs, 0);

  Facts facts;
  const auto add = [&](const char* name, std::string text) {
    if (!text.empty()) facts.pairs.emplace_back(name, std::move(text));
  };
  add("Run", fmt::format("{}, {}", record.id, run.text("uuid")));
  add("Label", run.text("label"));
  add("Outcome", outcome_of(run, record));
  add("Date", date_of(run));
  for (const Row& device : each_row(devices)) {
    add_device(facts, device, states, disturbances, devices.rows.size() == 1);
  }
  add("Timing", timing_text(timing));
  add("Backend", backend_text(run.text("backend")));
  std::string tool = run.text("tool_version");
  if (tool != "nvprof") tool = "warpmeter " + tool;  // a run from nvprof's file
  join(tool, labelled("revision", run.text("git_revision")));
  join(tool, labelled("CUDA", run.text("cuda_version")));
  add("Tool", std::move(tool));
  add("Host", run.text("host"));
  add("Command", run.text("command"));
  add("Environment", environment_text(reader.query(sql::environment, parameters)));

  // Beneath other sections the facts need a heading of their own.
  if (document.blocks.empty()) {
    add_title(document, source);
  } else {
    document.heading(2, run_title);
  }
  document.facts(std::move(facts));
}

}  // namespace warpmeter::reports::sections
