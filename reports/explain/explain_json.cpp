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

ordered_json json_of(const ExplainedRemedy& remedy) {
  auto predictions = ordered_json::array();
  for (const ExplainedPrediction& p : remedy.predictions) {
    predictions.push_back(
        {{"counter", p.counter}, {"measured", or_null(p.measured)}, {"predicted", p.predicted}});
  }
  return {{"rank", remedy.rank},
          {"name", remedy.name},
          {"change", or_null(remedy.change)},
          {"words", or_null(remedy.words)},
          {"also_amounts", remedy.also_amounts},
          {"is_advised", remedy.is_advised},
          {"transactions", remedy.transactions},
          {"other_transactions", remedy.other_transactions},
          {"shared_bytes", or_null(remedy.shared_bytes)},
          {"blocks", or_null(remedy.blocks)},
          {"predictions", std::move(predictions)},
          {"lanes", json_of_lanes(remedy.lanes)}};
}

ordered_json json_of(const ExplainedFinding& finding, const ExplainedLaunch& launch) {
  auto remedies = ordered_json::array();
  for (const ExplainedRemedy& remedy : finding.remedies) remedies.push_back(json_of(remedy));
  return {{"rank", finding.rank},
          {"kind", finding.kind},
          {"file", or_null(finding.file)},
          {"line", or_null(finding.line)},
          {"also_lines", finding.also_lines},
          {"text", or_null(finding.text)},
          {"object", or_null(finding.object)},
          {"access", or_null(finding.access)},
          {"sentence", finding_sentence(finding)},
          {"advice", advice(finding, launch)},
          {"evidence", finding.evidence},
          {"requests", finding.requests},
          {"transactions", finding.transactions},
          {"ideal", finding.ideal},
          {"excess", finding.transactions - finding.ideal},
          {"other_transactions", finding.other_transactions},
          {"share", finding.share},
          {"share_of", or_null(finding.share_of)},
          {"grade", finding.grade},
          {"grade_reason", or_null(finding.grade_reason)},
          {"lanes", json_of_lanes(finding.lanes)},
          {"remedies", std::move(remedies)}};
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
