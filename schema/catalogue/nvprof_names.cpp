// SPDX-License-Identifier: MIT
#include "schema/nvprof_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "schema/embedded.h"

namespace warpmeter::schema {
namespace {

using nlohmann::ordered_json;

NvprofForm form_from(const std::string& word) {
  if (word == "count") return NvprofForm::count;
  if (word == "ratio") return NvprofForm::ratio;
  if (word == "percent") return NvprofForm::percent;
  if (word == "bytes_per_second") return NvprofForm::bytes_per_second;
  if (word == "level") return NvprofForm::level;
  throw std::logic_error("nvprof_names.json: no form " + word);
}

NvprofName name_from(const ordered_json& json, bool is_event) {
  NvprofName name;
  name.name = json.at("name");
  name.is_event = is_event;
  name.description = json.at("description");
  name.form = form_from(json.value("form", "count"));
  name.scale = json.value("scale", 1.0);
  name.note = json.value("note", "");
  if (json.contains("reason")) {
    name.reason = json.at("reason");
    name.instead = json.at("instead");
  } else {
    name.answer = json.value("answer", name.name);
  }
  return name;
}

std::vector<NvprofName> read_names() {
  const ordered_json json = ordered_json::parse(embedded::nvprof_names);
  std::vector<NvprofName> names;
  for (const auto& row : json.at("metrics")) names.push_back(name_from(row, false));
  for (const auto& row : json.at("events")) names.push_back(name_from(row, true));
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
