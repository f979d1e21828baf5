// SPDX-License-Identifier: MIT
#include "reports/gates/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include "base/error.h"
#include "base/named_files.h"
#include "base/nearest.h"
#include "base/utf8.h"

namespace warpmeter::reports {
namespace {

/// A line of the file as a message shows it, without blanks around it.
std::string line_of(std::string_view text, std::uint32_t line) {
  for (; line > 1 && text.find('\n') != text.npos; --line) text.remove_prefix(text.find('\n') + 1);
  text = text.substr(0, text.find('\n'));
  const std::size_t begin = std::min(text.find_first_not_of(" \t\r"), text.size());
  const std::size_t end = text.find_last_not_of(" \t\r");
  return printable(text.substr(begin, end == text.npos ? 0 : end + 1 - begin));
}

/// "expected ']', found the end of the line": toml++ says "Error while parsing table header:
/// expected ']', saw '\n'".
std::string in_words(const toml::parse_error& error) {
  std::string text(error.description());
  if (const std::size_t colon = text.find(": ");
      text.starts_with("Error while parsing ") && colon != text.npos) {
    text.erase(0, colon + 2);
  }
  const std::pair<std::string_view, std::string_view> words[] = {
      {"'\\n'", "the end of the line"},
      {"'\\r'", "the end of the line"},
      {"end-of-file", "the end of the file"},
      {"saw ", "found "}};
  for (const auto& [theirs, ours] : words) {
    const std::size_t found = text.find(theirs);
    if (found != text.npos) text.replace(found, theirs.size(), ours);
  }
  return text;
}

class ConfigReader {
 public:
  explicit ConfigReader(std::string path) : path_(std::move(path)) {}

  Config read() {
    const ReadFile file = read_regular_file(path_);
    if (!file.text) {
      throw Error(ExitCode::file,
                  fmt::format("{} {}: name another with --config", path_, file.why_not));
    }
    toml::parse_result parsed = toml::parse(*file.text);
    if (!parsed) {
      const toml::parse_error& error = parsed.error();
      fail(error.source(),
           fmt::format("'{}' is not valid TOML: {}", line_of(*file.text, error.source().begin.line),
                       in_words(error)));
    }
    const toml::table& root = parsed.table();
    only(root, {"check"}, "");
    const toml::node* check = root.get("check");
    if (check == nullptr) return {};
    if (!check->is_table()) fail(check->source(), "'check' is not a table: write [check]");
    return read_check(*check->as_table());
  }

 private:
  [[noreturn]] void fail(const toml::source_region& where, const std::string& what) const {
    throw Error(ExitCode::usage, fmt::format("{}, line {}, column {}: {}", path_, where.begin.line,
                                             where.begin.column, what));
  }

  void only(const toml::table& table, const std::vector<std::string>& known,
            std::string_view where) const {
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      fail(key.source(), fmt::format("there is no '{}'{}{} (there is: {})", name, where,
                                     did_you_mean(name, known), fmt::join(known, ", ")));
    }
  }

  Config read_check(const toml::table& check) const {
    only(check, {"gates", "expectations", "baseline", "max_slowdown", "significance"},
         " in [check]");
    Config config;
    if (const toml::node* gates = check.get("gates")) config.gates = read_gates(*gates);
    if (const toml::node* node = check.get("expectations")) {
      if (!node->is_boolean()) fail(node->source(), "'expectations' is true or false");
      config.expectations = node->as_boolean()->get();
    }
    if (const toml::node* node = check.get("baseline")) {
      if (!node->is_string()) fail(node->source(), "'baseline' is a text: a database or a run");
      config.baseline = node->as_string()->get();
    }
    config.max_slowdown = percentage(check, "max_slowdown", "3%", parse_percentage);
    config.significance = percentage(check, "significance", "0.1%", parse_significance);
    return config;
  }

  std::optional<double> percentage(const toml::table& check, std::string_view key,
                                   std::string_view example,
                                   double (*parse)(std::string_view, std::string_view)) const {
    const toml::node* node = check.get(key);
    if (node == nullptr) return std::nullopt;
    if (!node->is_string()) {
      fail(node->source(), fmt::format("'{}' is a text, as \"{}\"", key, example));
    }
    try {
      return parse(key, node->as_string()->get());
    } catch (const Error& error) {
      fail(node->source(), error.what());
    }
  }

  std::vector<Gate> read_gates(const toml::node& node) const {
    if (!node.is_array()) fail(node.source(), "'gates' is a list of gates: gates = [\"…\"]");
    std::vector<Gate> gates;
    for (const toml::node& entry : *node.as_array()) {
      if (entry.is_string()) {
        gates.push_back(read_gate(entry, entry.as_string()->get()));
        continue;
      }
      const toml::table* table = entry.as_table();
      if (table == nullptr) {
        fail(entry.source(), "a gate is a text or a table { gate = \"…\", because = \"…\" }");
      }
      only(*table, {"gate", "because"}, " in a gate");
      const toml::node* text = table->get("gate");
      if (text == nullptr || !text->is_string()) fail(entry.source(), "the gate's text is missing");
      gates.push_back(read_gate(*text, text->as_string()->get()));
      const toml::node* because = table->get("because");
      if (because == nullptr) continue;
      if (!because->is_string()) fail(because->source(), "'because' is a text");
      gates.back().because = because->as_string()->get();
    }
    return gates;
  }

  Gate read_gate(const toml::node& node, const std::string& text) const {
    try {
      return parse_gate(text);
    } catch (const Error& error) {
      fail(node.source(), error.what());
    }
  }

  std::string path_;
};

}  // namespace

std::optional<std::string> find_config(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path start = fs::canonical(folder, ignored);
  if (ignored) return std::nullopt;
  fs::path upwards;
  for (fs::path here = start;; here = here.parent_path(), upwards /= "..") {
    const fs::path name = upwards / "warpmeter.toml";
    if (fs::exists(here / "warpmeter.toml", ignored)) return name.string();
    if (fs::exists(here / ".git", ignored) || !here.has_relative_path()) return std::nullopt;
  }
}

Config read_config(const std::string& path) { return ConfigReader(path).read(); }

double parse_percentage(std::string_view name, std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  if (error != std::errc{} || (!rest.empty() && rest != "%") || !std::isfinite(number) ||
      number < 0) {
    throw Error(ExitCode::usage,
                fmt::format("{} '{}' is no percentage: write it as 3%", name, text));
  }
  return number / 100;
}

double parse_significance(std::string_view name, std::string_view text) {
  const double significance = parse_percentage(name, text);
  if (significance > 0 && significance < 1) return significance;
  throw Error(ExitCode::usage, fmt::format("{} '{}' is not between 0% and 100%", name, text));
}

}  // namespace warpmeter::reports
