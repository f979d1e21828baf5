// SPDX-License-Identifier: MIT
#include "collector/runtime/check/made_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "collector/model/input/kernel_file.h"
#include "collector/runtime/check/python_objects.h"
#include "collector/runtime/check/python_place.h"
#include "collector/runtime/check/sources.h"
#include "collector/runtime/image/given_sources.h"

namespace warpmeter::runtime {
namespace {

/// A text as it stands in a file, behind so many other lines.
struct Literal {
  std::string file;
  int lines_before = 0;
};

std::optional<Literal> literal_of(const std::string& text) {
  if (text.find('\n') == std::string::npos && text.find("__global__") == std::string::npos) {
    return std::nullopt;  // so short a text may stand anywhere
  }
  for (const std::string& file : python_files()) {
    const std::string script = allowed_source(model::relative_path(file));
    const std::size_t at = script.find(text);
    if (at == std::string::npos) continue;
    const auto begin = script.begin(), here = begin + static_cast<std::ptrdiff_t>(at);
    return Literal{model::relative_path(file), static_cast<int>(std::count(begin, here, '\n'))};
  }
  return std::nullopt;
}

/// "script.py@12.cu"; another text of the same line: "script.py@12-2.cu".
std::string own_name(const HostPlace& place, const std::string& text) {
  static auto* known = new std::map<std::string, std::string>;  // as long as the process
  for (int number = 1;; ++number) {
    const std::string name = fmt::format("{}@{}{}.cu", place.file, place.line,
                                         number > 1 ? fmt::format("-{}", number) : "");
    const auto [first, is_new] = known->try_emplace(name, text);
    if (is_new || first->second == text) return name;
  }
}

void move_lines(model::Program& program, int file, int by) {
  const auto move = [&](int& line) {
    if (line > 0) line += by;
  };
  for (model::Place& place : program.places) {
    if (place.file == file) {
      move(place.line);
      move(place.own_line);
    }
    if (place.code_file == file) move(place.code_line);
  }
}

}  // namespace

void name_sources(model::Program& program) {
  for (std::size_t i = 0; i < program.files.size(); ++i) {
    std::string& file = program.files[i];
    const std::optional<std::string> text = given_source(file);
    if (!text) continue;
    if (const auto literal = literal_of(*text)) {
      file = literal->file;
      move_lines(program, static_cast<int>(i), literal->lines_before);
      continue;
    }
    const auto place = python_place();
    const std::string name = place ? own_name(*place, *text) : file;
    keep_source(name, *text);
    file = name;
  }
}

}  // namespace warpmeter::runtime
