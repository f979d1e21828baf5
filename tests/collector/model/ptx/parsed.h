// SPDX-License-Identifier: MIT
// PTX for tests: a body is enough, the rest is put around it.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include "collector/model/ptx/flow/control_flow.h"
#include "collector/model/ptx/module.h"
#include "tests/paths.h"

namespace warpmeter::model::ptx {

inline std::string with_header(const std::string& text) {
  return ".version 9.0\n.target sm_90\n.address_size 64\n" + text;
}

/// Registers %p0 to %p9 and %r0 to %r9 (32 bits), %d0 to %d9 (64 bits) are declared, in lines 5 to
/// 7 of the text; the body starts in line 8.
inline std::string entry(const std::string& body) {
  return with_header(
      ".visible .entry k() {\n.reg .pred %p<10>;\n.reg .b32 %r<10>;\n.reg .b64 %d<10>;\n" + body +
      "\n}\n");
}

inline std::unique_ptr<Module> parsed(const std::string& text) {
  auto result = parse(text);
  if (const auto* problem = std::get_if<Diagnostic>(&result)) {
    throw std::runtime_error("line " + std::to_string(problem->line) + ": " + problem->message);
  }
  return std::move(std::get<0>(result));
}

/// The diagnostic as "line:column: message"; "parsed" when there is none.
inline std::string problem(const std::string& text) {
  const auto result = parse(text);
  const auto* diagnostic = std::get_if<Diagnostic>(&result);
  if (diagnostic == nullptr) return "parsed";
  return std::to_string(diagnostic->line) + ":" + std::to_string(diagnostic->column) + ": " +
         diagnostic->message;
}

inline ControlFlow graph_of(const Function& function) {
  auto result = control_flow(function);
  if (const auto* problem = std::get_if<Diagnostic>(&result)) {
    throw std::runtime_error("line " + std::to_string(problem->line) + ": " + problem->message);
  }
  return std::get<0>(std::move(result));
}

inline std::string data_file(const std::string& name) {
  std::ifstream file(source_dir() + "/tests/collector/model/ptx/data/" + name, std::ios::binary);
  if (!file) throw std::runtime_error("no data file " + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace warpmeter::model::ptx
