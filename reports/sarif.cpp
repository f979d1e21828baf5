// SPDX-License-Identifier: MIT
// The names and rules are those of "Static Analysis Results Interchange Format (SARIF) Version
// 2.1.0" (OASIS, 2020), sections 3.13 to 3.52.
#include "reports/sarif.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/escapes.h"
#include "base/utf8.h"
#include "reports/table/json.h"

namespace warpmeter::reports {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr const char* root = "%SRCROOT%";

std::string_view name_of(SarifLevel level) {
  constexpr std::string_view names[] = {"note", "warning", "error"};
  return names[static_cast<int>(level)];
}

ordered_json text_of(std::string_view text) { return {{"text", printable(text)}}; }

ordered_json location_of(const SarifPlace& place, const std::string& folder) {
  const SarifAddress address = sarif_address(place.file, folder);
  ordered_json artifact = {{"uri", address.uri}};
  if (address.is_in_folder) artifact["uriBaseId"] = root;
  ordered_json physical = {{"artifactLocation", std::move(artifact)}};
  if (place.line > 0) physical["region"] = {{"startLine", place.line}};
  return {{"physicalLocation", std::move(physical)}};
}

/// The message with links to the related places. A text that only looks like a link stays none.
std::string linked(const SarifResult& result) {
  std::string text = printable(result.message);
  for (std::size_t at = 0; (at = text.find("](", at)) != std::string::npos;)
    text.insert(at + 1, " ");
  for (std::size_t i = 0; i < result.related.size(); ++i) {
    text += fmt::format("{}[{}]({})", i == 0 ? " (see " : ", ", result.related[i].title, i + 1);
  }
  return result.related.empty() ? text : text + ")";
}

ordered_json json_of(const SarifRule& rule) {
  return {{"id", rule.id},
          {"shortDescription", text_of(rule.text)},
          {"help", text_of(rule.help)},
          {"defaultConfiguration", {{"level", name_of(rule.level)}}}};
}

ordered_json json_of(const SarifResult& result, const SarifLog& log, const std::string& folder) {
  const auto rule = std::find_if(log.rules.begin(), log.rules.end(),
                                 [&](const SarifRule& each) { return each.id == result.rule; });
  ordered_json json = {{"ruleId", result.rule},
                       {"ruleIndex", rule - log.rules.begin()},
                       {"level", name_of(result.level)},
                       {"message", {{"text", linked(result)}}}};
  auto location = ordered_json::object();
  if (!result.place.file.empty()) location = location_of(result.place, folder);
  if (!result.function.empty()) {
    const ordered_json function = {{"fullyQualifiedName", printable(result.function)},
                                   {"kind", "function"}};
    location["logicalLocations"] = ordered_json::array({function});
  }
  json["locations"] = ordered_json::array();
  if (!location.empty()) json["locations"].push_back(std::move(location));
  for (std::size_t i = 0; i < result.related.size(); ++i) {
    ordered_json related = {{"id", i + 1}};
    related.update(location_of(result.related[i], folder));
    related["message"] = text_of(result.related[i].title);
    json["relatedLocations"].push_back(std::move(related));
  }
  return json;
}

}  // namespace

SarifAddress sarif_address(const std::string& file, const std::string& folder) {
  constexpr const char* safe = "/-._~";
  const auto inside = [&](const fs::path& path) {
    const fs::path name = path.lexically_relative(folder);
    return name.empty() || *name.begin() == ".." ? "" : name.string();
  };
  const fs::path path = (fs::path(folder) / file).lexically_normal();
  std::string name = inside(path);
  if (name.empty()) {  // its folder may have two names
    std::error_code error;
    const fs::path other = fs::weakly_canonical(path, error);
    if (!error) name = inside(other);
  }
  if (!name.empty()) return {percent_encoded_but(name, safe), true};
  return {"file://" + percent_encoded_but(path.string(), safe), false};
}

std::string render_sarif(const SarifLog& log) {
  const std::string folder = fs::current_path().string();
  auto rules = ordered_json::array(), results = ordered_json::array(),
       notes = ordered_json::array();
  for (const SarifRule& rule : log.rules) rules.push_back(json_of(rule));
  for (const SarifResult& result : log.results) results.push_back(json_of(result, log, folder));
  for (const std::string& note : log.notes) {
    notes.push_back({{"level", "note"}, {"message", text_of(note)}});
  }
  for (const std::string& failure : log.failures) {
    notes.push_back({{"level", "error"}, {"message", text_of(failure)}});
  }
  const ordered_json run = {
      {"tool",
       {{"driver",
         {{"name", "warpmeter"}, {"semanticVersion", WARPMETER_VERSION}, {"rules", rules}}}}},
      {"invocations", ordered_json::array({{{"executionSuccessful", log.failures.empty()},
                                            {"toolExecutionNotifications", notes}}})},
      {"originalUriBaseIds",
       {{root, {{"description", {{"text", "The folder in which warpmeter was started."}}}}}}},
      {"results", results}};
  const ordered_json json = {{"$schema",
                              "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"
                              "sarif-schema-2.1.0.json"},
                             {"version", "2.1.0"},
                             {"runs", ordered_json::array({run})}};
  return json_text(json, 2) + "\n";
}

}  // namespace warpmeter::reports
