// SPDX-License-Identifier: MIT
#include "tests/collector/model/check/corpus.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <sstream>
#include <stdexcept>

namespace warpmeter::corpus {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kinds[] = {"out of bounds",      "misaligned",
                                      "uninitialised read", "shared-memory race",
                                      "global-memory race", "race between blocks",
                                      "equal writes",       "divergent barrier",
                                      "absent lanes",       "trap"};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream >> std::ws, part, ',');) {
    part.erase(part.find_last_not_of(' ') + 1);
    parts.push_back(part);
  }
  return parts;
}

/// The content of one kernel's comments, gathered line by line until its end.
struct Section {
  std::string kernel;
  Kernel said;
};

void add_marks(std::set<Mark>& marks, int line, const std::string& text, const std::string& where) {
  for (const std::string& kind : split(text)) {
    if (std::find(std::begin(kinds), std::end(kinds), kind) == std::end(kinds)) {
      throw std::runtime_error(fmt::format("{}: there is no kind '{}'", where, kind));
    }
    marks.emplace(line, kind);
  }
}

void read_line(Section& section, const std::string& line, int number, const std::string& where) {
  static const std::regex entry(R"(__global__ void (?:__\w+\(.*\) )?(\w+)\()");
  static const std::regex marks(R"(// (?:! (.*?))?\s*(?:\?! (.*))?$)");
  std::smatch match;
  if (section.kernel.empty() && std::regex_search(line, match, entry)) section.kernel = match[1];
  if (line.starts_with("// fills: ")) {
    section.said.fills.clear();
    for (const std::string& fill : split(line.substr(10))) section.said.fills.insert(fill);
  }
  if (line == "// model only") section.said.model_only = true;
  if (line == "// may hang") section.said.may_hang = true;
  const std::size_t mark = std::min(line.find("  // ! "), line.find("  // ?! "));
  if (mark == std::string::npos) return;
  const std::string comment = line.substr(mark + 2);
  if (!std::regex_match(comment, match, marks)) return;
  add_marks(section.said.required, number, match[1], where);
  add_marks(section.said.allowed, number, match[2], where);
}

/// By the kernels' names.
std::map<std::string, Kernel> read_source(const fs::path& path) {
  std::map<std::string, Kernel> all;
  std::ifstream stream(path);
  Section section;
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    if (section.said.fills.empty()) section.said.fills.insert(fills().begin(), fills().end());
    read_line(section, line, number, fmt::format("{}:{}", path.string(), number));
    if (line != "}" || section.kernel.empty()) continue;
    all.emplace(section.kernel, std::move(section.said));
    section = {};
  }
  return all;
}

void read_file(const std::string& folder, const std::string& stem, std::vector<Kernel>& all) {
  const fs::path source = fs::path(folder) / (stem + ".cu");
  std::map<std::string, Kernel> said = read_source(source);
  model::Spec spec;
  model::read_spec((fs::path(folder) / (stem + ".yaml")).string(), spec);
  for (model::LaunchSpec& launch : spec.launches) {
    const auto found = said.find(launch.kernel);
    if (found == said.end()) {
      throw std::runtime_error(fmt::format("{} launches '{}', which {} does not have (any more)",
                                           stem, launch.kernel, source.string()));
    }
    Kernel kernel = std::move(found->second);
    said.erase(found);
    kernel.file = stem;
    kernel.is_planted = stem.starts_with("planted");
    kernel.launch = std::move(launch);
    if (kernel.is_planted == kernel.required.empty()) {
      throw std::runtime_error(fmt::format(
          "{}: {} {}", source.string(), kernel.launch.kernel,
          kernel.is_planted ? "has no line with a mistake" : "is to be correct, and has a mark"));
    }
    all.push_back(std::move(kernel));
  }
  if (!said.empty()) {
    throw std::runtime_error(fmt::format("{}.yaml does not launch {}", stem, said.begin()->first));
  }
}

std::string to_string(const std::set<Mark>& marks) {
  std::vector<std::string> all;
  for (const auto& [line, kind] : marks) all.push_back(fmt::format("line {}: {}", line, kind));
  return fmt::format("{}", fmt::join(all, ", "));
}

}  // namespace

const std::vector<std::string>& fills() {
  static const std::vector<std::string> all = {"zeros", "1", "iota", "random"};
  return all;
}

model::LaunchSpec Kernel::filled(const std::string& fill) const {
  model::LaunchSpec answer = launch;
  for (std::string& argument : answer.arguments) {
    const std::size_t at = argument.find("=FILL");
    // Small numbers, since kernels take remainders of them for indices.
    if (at != std::string::npos)
      argument.replace(at + 1, 4, fill == "random" ? "random:0..99" : fill);
  }
  return answer;
}

std::vector<Kernel> kernels(const std::string& source) {
  const std::string folder = source + "/tests/collector/model/check";
  std::vector<std::string> stems;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".cu") continue;
    const std::string stem = entry.path().stem().string();
    if (stem != "gaps") stems.push_back(stem);  // a test of its own has its launches
  }
  std::sort(stems.begin(), stems.end());
  std::vector<Kernel> all;
  for (const std::string& stem : stems) read_file(folder, stem, all);
  return all;
}

std::string ptx_of(const std::string& build, const std::string& file) {
  return build + "/tests/collector/model/check/images/" + file + ".sm_90.ptx";
}

std::string judge(const Kernel& kernel, const std::string& fill, const std::set<Mark>& reported) {
  std::set<Mark> marked, others;
  for (const Mark& mark : reported) {
    const bool is_required = kernel.required.contains(mark);
    if (is_required) marked.insert(mark);
    const bool is_remark = mark.second == "equal writes";
    if (!is_required && !kernel.allowed.contains(mark) && !is_remark) others.insert(mark);
  }
  const bool happens = kernel.is_planted && kernel.fills.contains(fill);
  if (!happens) {
    others.insert(marked.begin(), marked.end());
    for (const Mark& mark : reported) {
      if (mark.second != "equal writes") others.insert(mark);
    }
    if (others.empty()) return "";
    return fmt::format("{} with {} is correct, but reported: {}", kernel.launch.kernel, fill,
                       to_string(others));
  }
  std::string wrong;
  if (marked.empty()) {
    wrong = fmt::format("{} with {}: missed, one of these has to be found: {}",
                        kernel.launch.kernel, fill, to_string(kernel.required));
  }
  if (!others.empty()) {
    wrong += fmt::format("{}{} with {}: no mistake, but reported: {}", wrong.empty() ? "" : "; ",
                         kernel.launch.kernel, fill, to_string(others));
  }
  return wrong;
}

}  // namespace warpmeter::corpus
