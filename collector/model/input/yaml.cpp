// SPDX-License-Identifier: MIT
#include "collector/model/input/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/named_files.h"
#include "base/nearest.h"
#include "collector/model/input/fill.h"
#include "collector/model/input/npy.h"

namespace warpmeter::model {
namespace {

constexpr std::size_t largest_file = std::size_t{4} << 20;

Text at_mark(const YAML::Mark& mark) { return {"", mark.line + 1, mark.column + 1}; }

}  // namespace

void refuse(const std::string& path, const Text& at, const std::string& what, ExitCode code) {
  if (path.empty()) throw Error(code, what);
  throw Error(code, at.line == 0 ? fmt::format("{}: {}", path, what)
                                 : fmt::format("{}:{}:{}: {}", path, at.line, at.column, what));
}

void YamlFile::read(const std::function<void(const YAML::Node& root)>& use) const {
  if (size_of_file(path_) > largest_file) {
    throw Error(ExitCode::usage, fmt::format("{} is larger than {} can be ({} bytes); write less",
                                             path_, kind_, largest_file));
  }
  const std::vector<std::byte> contents = read_whole_file(path_);
  read({reinterpret_cast<const char*>(contents.data()), contents.size()}, use);
}

void YamlFile::read(std::string_view text,
                    const std::function<void(const YAML::Node& root)>& use) const {
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(std::string(text));
    if (documents.size() > 1) {
      refuse(documents[1], fmt::format("a second document begins here, and {} is one: leave out "
                                       "the --- between them",
                                       kind_));
    }
    use(documents.empty() ? YAML::Node() : documents.front());
  } catch (const YAML::Exception& wrong) {
    model::refuse(path_, at_mark(wrong.mark), wrong.msg + "; mend it as YAML or JSON");
  }
}

void YamlFile::refuse(const Text& at, const std::string& what) const {
  model::refuse(path_, at, what + hint_);
}

void YamlFile::refuse(const YAML::Node& node, const std::string& what) const {
  refuse(place(node), what);
}

Text YamlFile::place(const YAML::Node& node) {
  const bool is_known = node.IsDefined() && node.Mark().line >= 0;
  return is_known ? at_mark(node.Mark()) : Text{"", 1, 1};  // an empty file
}

void YamlFile::check_keys(const YAML::Node& node, const std::vector<std::string>& known) const {
  if (!node.IsMap()) {
    refuse(node,
           fmt::format("is no table of names and values: known are {}", fmt::join(known, ", ")));
  }
  std::vector<std::string> seen;
  for (const auto& pair : node) {
    const Text key = text(pair.first, "a name");
    if (std::find(known.begin(), known.end(), key.text) == known.end()) {
      refuse(key, fmt::format("'{}' is none of {}{}", key.text, fmt::join(known, ", "),
                              did_you_mean(key.text, known)));
    }
    check_new(seen, key);
  }
}

void YamlFile::check_new(std::vector<std::string>& seen, const Text& name) const {
  if (std::find(seen.begin(), seen.end(), name.text) != seen.end()) {
    refuse(name, fmt::format("'{}' stands here a second time", name.text));
  }
  seen.push_back(name.text);
}

Text YamlFile::text(const YAML::Node& node, std::string_view what) const {
  if (!node.IsScalar()) refuse(node, fmt::format("{} has to be one value", what));
  Text result = place(node);
  result.text = node.Scalar();
  return result;
}

std::vector<Text> YamlFile::texts(const YAML::Node& node, std::string_view what) const {
  std::vector<Text> all;
  if (!node) return all;
  if (node.IsScalar()) return {text(node, what)};
  if (!node.IsSequence()) refuse(node, fmt::format("{} has to be a value or a list", what));
  for (const YAML::Node& part : node) all.push_back(text(part, what));
  return all;
}

std::vector<std::string> YamlFile::words(const std::vector<Text>& texts) {
  std::vector<std::string> all;
  for (const Text& text : texts) all.push_back(text.text);
  return all;
}

std::string YamlFile::beside(const std::string& path) const {
  std::string place = (std::filesystem::path(path_).parent_path() / path).string();
  if (names_ == Names::near && !NamedFiles(path_).allows(place)) {
    throw Error(ExitCode::usage,
                fmt::format("{} names {}, which lies neither below its folder nor below this one: "
                            "copy that file there, or run the command in a folder above both",
                            path_, path));
  }
  return place;
}

void YamlFile::read_compile_options(const YAML::Node& root, CompileOptions& options) const {
  if (const YAML::Node node = root["std"]; node && options.standard.empty()) {
    const Text standard = text(node, "std");
    options.standard = standard.text;
    checked(standard, [&] { check_standard("std", options.standard); });
  }
  if (const YAML::Node node = root["compiler"]; node && options.compiler.empty()) {
    const Text compiler = text(node, "compiler");
    options.compiler = compiler.text;
    checked(compiler, [&] { check_compiler("compiler", options.compiler); });
  }
  for (const Text& include : texts(root["include"], "include")) {
    options.includes.push_back(beside(include.text));
    checked(include, [&] { check_include("include", options.includes.back()); });
  }
  for (Text& define : defines(root["define"])) options.defines.push_back(std::move(define.text));
}

std::vector<Text> YamlFile::defines(const YAML::Node& node) const {
  std::vector<Text> all;
  const auto add_table = [&](const YAML::Node& table) {
    for (const auto& pair : table) {
      Text define = text(pair.first, "define");
      if (!pair.second.IsNull()) define.text += "=" + text(pair.second, define.text).text;
      all.push_back(std::move(define));
    }
  };
  if (!node) return all;
  if (node.IsMap()) {
    add_table(node);
  } else if (node.IsSequence()) {
    for (const YAML::Node& part : node) {  // "- N: 1" is a table of one
      if (part.IsMap()) {
        add_table(part);
      } else {
        all.push_back(text(part, "define"));
      }
    }
  } else {
    all.push_back(text(node, "define"));
  }
  std::vector<std::string> seen;
  for (const Text& define : all) {
    checked(define, [&] { check_define("define", define.text); });
    Text name = define;
    name.text.resize(std::min(name.text.find('='), name.text.size()));
    check_new(seen, name);
  }
  return all;
}

std::vector<Text> YamlFile::settings(const YAML::Node& node) const {
  std::vector<Text> all;
  if (!node) return all;
  if (!node.IsMap()) refuse(node, "set has to be a table of variables and values");
  std::vector<std::string> seen;
  for (const auto& pair : node) {
    Text setting = text(pair.first, "a variable");
    check_new(seen, setting);
    std::string value = fmt::format("{}", fmt::join(words(texts(pair.second, setting.text)), ","));
    if (names_file(value)) value = beside(value);
    setting.text = fmt::format("{}={}", setting.text, value);
    all.push_back(std::move(setting));
  }
  return all;
}

}  // namespace warpmeter::model
