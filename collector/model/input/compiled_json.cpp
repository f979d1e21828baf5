// SPDX-License-Identifier: MIT
#include "collector/model/input/compiled_json.h"

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace warpmeter::model {

using nlohmann::json;

json json_of(const Compiled& compiled) {
  json value;
  value["ptx"] = compiled.ptx;
  const auto* cubin = reinterpret_cast<const std::uint8_t*>(compiled.cubin.data());
  value["cubin"] = json::binary({cubin, cubin + compiled.cubin.size()});
  value["named"] = compiled.named;
  // A compiler repeats the bytes of the source, which need not be UTF-8.
  const auto* failure = reinterpret_cast<const std::uint8_t*>(compiled.failure.data());
  value["failure"] = json::binary({failure, failure + compiled.failure.size()});
  return value;
}

Compiled compiled_of(const json& value) {
  Compiled compiled;
  compiled.ptx = value.at("ptx").get<std::string>();
  for (const std::uint8_t byte : value.at("cubin").get_binary()) {
    compiled.cubin.push_back(std::byte{byte});
  }
  compiled.named = value.at("named").get<std::map<std::string, std::string>>();
  if (const auto failure = value.find("failure"); failure != value.end()) {
    const json::binary_t& bytes = failure->get_binary();
    compiled.failure.assign(bytes.begin(), bytes.end());
  }
  return compiled;
}

}  // namespace warpmeter::model
