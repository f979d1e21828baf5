// SPDX-License-Identifier: MIT
// reports/explain.schema.json describes the fields of findings and remedies as
// schema/explanation_fields.h declares them. Where they differ, the test leaves the schema as it
// should be, to be copied.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "reports/explain/explained.h"
#include "schema/grade.h"
#include "schema/store.h"
#include "tests/reports/golden_file.h"

namespace warpmeter::reports {
namespace {

using nlohmann::ordered_json;
namespace sorts = schema::sorts;

// The types of values, by sort.
ordered_json form_of(sorts::Text) { return {{"type", "string"}}; }
ordered_json form_of(sorts::TextOrNull) { return {{"type", {"string", "null"}}}; }
ordered_json form_of(sorts::Count) { return {{"type", "integer"}}; }
ordered_json form_of(sorts::CountOrNull) { return {{"type", {"integer", "null"}}}; }
ordered_json form_of(sorts::LineOrNull) { return form_of(sorts::CountOrNull()); }
ordered_json form_of(sorts::Lines) { return {{"type", "array"}, {"items", {{"type", "integer"}}}}; }
ordered_json form_of(sorts::Amounts) { return form_of(sorts::Lines()); }
ordered_json form_of(sorts::Flag) { return {{"type", "boolean"}}; }
ordered_json form_of(sorts::Share) { return {{"type", "number"}}; }
ordered_json form_of(sorts::GradeName) {
  ordered_json form = {{"type", "string"}, {"enum", ordered_json::array()}};
  for (const schema::GradeInfo& grade : schema::grades) form["enum"].push_back(grade.name);
  return form;
}
ordered_json form_of(sorts::Lanes) {
  return {{"oneOf", {{{"type", "null"}}, {{"$ref", "#/$defs/lanes"}}}}};
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  const std::size_t place = text.find(what);
  return place == text.npos ? text : text.replace(place, what.size(), by);
}

/// The view's description of a column, in the words of JSON. An array is never null.
std::string described(const schema::ViewInfo& view, std::string_view name,
                      const ordered_json& form) {
  const auto column = std::find_if(view.columns.begin(), view.columns.end(),
                                   [&](const auto& one) { return one.name == name; });
  std::string text = column->description;
  const std::string type = form.contains("type") ? form["type"].dump() : "";
  if (type == "\"array\"") text.resize(std::min(text.size(), text.find("; NULL")));
  if (type == "\"boolean\"") text = replaced(replaced(text, "1 when", "true when"), "0:", "false:");
  return replaced(text, "NULL", "null");
}

template <class Record>
void describe(std::string_view view_name, ordered_json& object) {
  const auto views = schema::views();
  const auto view = std::find_if(views.begin(), views.end(),
                                 [&](const auto& one) { return one.name == view_name; });
  ordered_json& properties = object["properties"];
  schema::for_each_field<Record>([&](const auto& field) {
    const ordered_json form = form_of(field.sort);
    ordered_json& property = properties[std::string(field.name)];
    property["description"] = described(*view, field.name, form);
    property.update(form);
  });
  object["required"] = ordered_json::array();
  for (const auto& [name, property] : properties.items()) object["required"].push_back(name);
}

TEST(ExplainSchema, DescribesTheFieldsAsTheyAreDeclared) {
  const auto path = std::filesystem::path(source_dir()) / "reports/explain.schema.json";
  ordered_json whole = ordered_json::parse(contents(path));
  describe<ExplainedFinding>("findings", whole["$defs"]["finding"]);
  describe<ExplainedRemedy>("remedies", whole["$defs"]["remedy"]);
  expect_golden("explain.schema.json", whole.dump(2) + "\n", "reports");
}

}  // namespace
}  // namespace warpmeter::reports
