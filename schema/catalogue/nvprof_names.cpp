// SPDX-License-Identifier: MIT
#include "schema/nvprof_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "schema/catalogue/built_in_json.h"
#include "schema/embedded.h"

namespace warpmeter::schema {
namespace {

NvprofForm form_from(std::string_view word) {
  if (word == "count") return NvprofForm::count;
  if (word == "ratio") return NvprofForm::ratio;
  if (word == "percent") return NvprofForm::percent;
  if (word == "bytes_per_second") return NvprofForm::bytes_per_second;
  if (word == "level") return NvprofForm::level;
  throw std::logic_error("nvprof_names.json: no form " + std::string(word));
}

NvprofName name_from(const BuiltInJson& json, bool is_event) {
  NvprofName name;
  name.name = json.at("name").text;
  name.is_event = is_event;
  name.description = json.at("description").text;
  name.form = form_from(json.text_of("form", "count"));
  if (const BuiltInJson* scale = json.find("scale")) name.scale = scale->number();
  name.note = json.text_of("note");
  if (const BuiltInJson* reason = json.find("reason")) {
    name.reason = reason->text;
    name.instead = json.at("instead").text;
  } else {
    name.answer = json.text_of("answer", name.name);
  }
  return name;
}

std::vector<NvprofName> read_names() {
  const BuiltInJson json = BuiltInJson::parse(embedded::nvprof_names);
  std::vector<NvprofName> names;
  for (const BuiltInJson& row : json.at("metrics").children) {
    names.push_back(name_from(row, false));
  }
  for (const BuiltInJson& row : json.at("events").children) names.push_back(name_from(row, true));
  return names;
}

}  // namespace

std::span<const NvprofName> nvprof_names() {
  static const std::vector<NvprofName> names = read_names();
  return names;
}

const NvprofName* find_nvprof_name(std::string_view name, bool is_event) {
  const auto all = nvprof_names();
  const auto found = std::find_if(all.begin(), all.end(), [&](const NvprofName& known) {
    return known.is_event == is_event && known.name == name;
  });
  return found == all.end() ? nullptr : &*found;
}

std::string refusal(const NvprofName& name) {
  return fmt::format("{}; ask for {} instead", name.reason, name.instead);
}

}  // namespace warpmeter::schema
