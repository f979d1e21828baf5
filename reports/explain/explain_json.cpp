// SPDX-License-Identifier: MIT
#include <map>

#include "reports/explain/explain.h"
#include "reports/explain/sentences.h"
#include "reports/table/json.h"

namespace warpmeter::reports {
namespace {

using nlohmann::ordered_json;

ordered_json or_null(const std::string& text) {
  return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}
template <class T>
ordered_json or_null(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json json_of_lanes(const std::string& text) {
  if (text.empty()) return nullptr;
  read_lanes(text);  // throws for what is no picture of a warp
  return stored_json(text, lanes_of_finding);
}

// The value of a field.
template <class Sort, class Value>
ordered_json json_of(Sort, const Value& value) {
  return value;
}
template <class Sort, class Value>
ordered_json json_of(Sort, const std::optional<Value>& value) {
  return or_null(value);
}
ordered_json json_of(schema::sorts::TextOrNull, const std::string& text) { return or_null(text); }
ordered_json json_of(schema::sorts::Lanes, const std::string& text) { return json_of_lanes(text); }

/// The fields of a record behind its rank. `add_before` adds the keys before a field that are none.
template <class Record, class AddBefore>
ordered_json json_of_fields(const Record& record, AddBefore add_before) {
  ordered_json object = {{"rank", record.rank}};
  schema::for_each_field<Record>([&](const auto& field) {
    add_before(field.name, object);
    object[std::string(field.name)] = json_of(field.sort, record.*field.member);
  });
  return object;
}

ordered_json json_of(const ExplainedRemedy& remedy) {
  auto predictions = ordered_json::array();
  for (const ExplainedPrediction& p : remedy.predictions) {
    predictions.push_back(
        {{"counter", p.counter}, {"measured", or_null(p.measured)}, {"predicted", p.predicted}});
  }
  return json_of_fields(remedy, [&](std::string_view field, ordered_json& object) {
    if (field == "lanes") object["predictions"] = std::move(predictions);
  });
}

ordered_json json_of(const ExplainedFinding& finding, const ExplainedLaunch& launch) {
  auto remedies = ordered_json::array();
  for (const ExplainedRemedy& remedy : finding.remedies) remedies.push_back(json_of(remedy));
  ordered_json object = json_of_fields(finding, [&](std::string_view field, ordered_json& written) {
    if (field != "evidence") return;
    written["sentence"] = finding_sentence(finding);
    written["advice"] = advice(finding, launch);
  });
  object["remedies"] = std::move(remedies);
  return object;
}

ordered_json json_of(const ExplainedLaunch& launch) {
  auto findings = ordered_json::array();
  for (const ExplainedFinding& finding : launch.findings) {
    findings.push_back(json_of(finding, launch));
  }
  return {{"launch_id", launch.launch_id},     {"launches", launch.launches},
          {"family", launch.name.family},      {"variant", launch.name.variant},
          {"size", or_null(launch.name.size)}, {"grid", launch.name.grid},
          {"block", launch.name.block},        {"outcome", launch.failed ? "failed" : "done"},
          {"reason", or_null(launch.reason)},  {"found", launch.found},
          {"findings", std::move(findings)}};
}

}  // namespace

std::string explained_json(const schema::Reader& reader, std::int64_t run,
                           const std::vector<ExplainedLaunch>& launches) {
  std::vector<std::int64_t> ids;
  for (const ExplainedLaunch& launch : launches) ids.push_back(launch.launch_id);
  std::map<std::int64_t, ordered_json> looked_for;
  for (const LookedFor& kind : read_looked_for_each(reader, ids)) {
    looked_for[kind.launch_id].push_back(
        {{"kind", kind.kind}, {"words", kind.words}, {"reason", or_null(kind.reason)}});
  }
  std::string text = "{\n  \"format_version\": " + std::to_string(explain_format_version) +
                     ",\n  \"run\": " + std::to_string(run) + ",\n  \"launches\": [";
  bool is_first = true;
  for (const ExplainedLaunch& launch : launches) {
    ordered_json object = json_of(launch);
    object["looked_for"] = std::move(looked_for[launch.launch_id]);
    text += (is_first ? "\n    " : ",\n    ") + json_text(object);
    is_first = false;
  }
  return text + "\n  ]\n}\n";
}

}  // namespace warpmeter::reports
