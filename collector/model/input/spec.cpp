// JSON is read as the YAML that it is.
#include "collector/model/input/spec.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <type_traits>

#include "base/error.h"
#include "base/nearest.h"
#include "base/numbers.h"
#include "collector/model/input/fill.h"
#include "collector/model/input/npy.h"

namespace warpmeter::model {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t largest_spec = std::size_t{4} << 20;

class SpecReader {
 public:
  SpecReader(const std::string& path, Spec& spec)
      : path_(path), folder_(fs::path(path).parent_path()), spec_(spec) {}

  void read(const YAML::Node& root) {
    check_keys(root, {"file", "cubin", "arch", "std", "include", "define", "set", "launches"});
    if (const YAML::Node file = root["file"]; file && spec_.file.empty()) {
      spec_.file = beside(text(file, "file"));
    }
    if (const YAML::Node cubin = root["cubin"]) spec_.cubin = beside(text(cubin, "cubin"));
    read_compile_options(root);
    read_settings(root["set"], spec_.settings);
    const YAML::Node launches = root["launches"];
    if (!launches || !launches.IsSequence() || launches.size() == 0) {
      refuse(root, "has no list of launches: start one with 'launches:'");
    }
    for (const YAML::Node& launch : launches) read_launch(launch);
  }

 private:
  [[noreturn]] void refuse(const YAML::Node& node, const std::string& what) const {
    const int line = node.IsDefined() && node.Mark().line >= 0 ? node.Mark().line + 1 : 1;
    throw Error(ExitCode::usage,
                fmt::format("{}:{}: {} (see: warpmeter model --help)", path_, line, what));
  }

  void check_keys(const YAML::Node& node, const std::vector<std::string>& known) const {
    if (!node.IsMap()) refuse(node, "is no table of names and values");
    for (const auto& pair : node) {
      const std::string key = text(pair.first, "a name");
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        refuse(pair.first, fmt::format("has '{}', which is none of {}{}", key,
                                       fmt::join(known, ", "), did_you_mean(key, known)));
      }
    }
  }

  std::string text(const YAML::Node& node, std::string_view what) const {
    if (!node.IsScalar()) refuse(node, fmt::format("{} has to be one value", what));
    return node.Scalar();
  }

  /// One value or a list of them; none where there is no such node.
  std::vector<std::string> texts(const YAML::Node& node, std::string_view what) const {
    std::vector<std::string> all;
    if (!node) return all;
    if (node.IsScalar()) return {node.Scalar()};
    if (!node.IsSequence()) refuse(node, fmt::format("{} has to be a list", what));
    for (const YAML::Node& part : node) all.push_back(text(part, what));
    return all;
  }

  std::string beside(const std::string& path) const { return (folder_ / path).string(); }

  /// What the command line says already stays.
  void read_compile_options(const YAML::Node& root) {
    CompileOptions& options = spec_.options;
    if (const YAML::Node node = root["arch"]) {
      const std::string arch = text(node, "arch");
      options.arch = checked(node, [&] { return checked_arch("arch", arch); });
    }
    if (const YAML::Node node = root["std"]; node && options.standard.empty()) {
      options.standard = text(node, "std");
      checked(node, [&] { check_standard("std", options.standard); });
    }
    for (const std::string& include : texts(root["include"], "include")) {
      options.includes.push_back(beside(include));
      checked(root["include"], [&] { check_include("include", options.includes.back()); });
    }
    for (const std::string& define : texts(root["define"], "define")) {
      options.defines.push_back(define);
      checked(root["define"], [&] { check_define("define", define); });
    }
  }

  /// Variables of the module and their values: one, a list, or a file.
  void read_settings(const YAML::Node& node, std::vector<std::string>& settings) const {
    if (!node) return;
    if (!node.IsMap()) refuse(node, "set has to be a table of variables and values");
    for (const auto& pair : node) {
      const std::string name = text(pair.first, "a variable");
      const std::string value = fmt::format("{}", fmt::join(texts(pair.second, name), ","));
      settings.push_back(with_file_beside(fmt::format("{}={}", name, value)));
    }
  }

  /// "in:f32[]=in.npy", the file beside this one.
  std::string with_file_beside(const std::string& argument) const {
    const std::size_t value = argument.find('=') + 1;
    if (value == 0 || !names_file(argument)) return argument;
    return argument.substr(0, value) + beside(argument.substr(value));
  }

  /// What a value is, with the file and line where it is none.
  template <class Read>
  std::invoke_result_t<Read> checked(const YAML::Node& node, Read read) const {
    try {
      return read();
    } catch (const Error& error) {
      refuse(node, error.what());
    }
  }

  Dim3 extent(const YAML::Node& launch, const std::string& key) const {
    const YAML::Node node = launch[key];
    if (!node) refuse(launch, fmt::format("a launch has no {}", key));
    const std::string joined = fmt::format("{}", fmt::join(texts(node, key), ","));
    return checked(node, [&] { return extent_named(key, joined); });
  }

  /// An argument is text ("n:i32=5") or a table of one name and value ({"n:i32": 5}).
  std::string argument(const YAML::Node& node) const {
    if (node.IsMap() && node.size() == 1) {
      const auto pair = *node.begin();
      return fmt::format("{}={}", text(pair.first, "an argument"), text(pair.second, "a value"));
    }
    if (node.IsNull()) return "null";  // as YAML reads it without quotes
    return text(node, "an argument");
  }

  void read_launch(const YAML::Node& node) {
    check_keys(node, {"kernel", "name", "size", "grid", "block", "shared", "args", "set", "save"});
    LaunchSpec launch;
    if (const YAML::Node kernel = node["kernel"]) launch.kernel = text(kernel, "kernel");
    if (const YAML::Node name = node["name"]) launch.name = text(name, "name");
    if (const YAML::Node size = node["size"]) {
      launch.size = checked(size, [&] {
        return whole_number("size", text(size, "size"), 1,
                            std::numeric_limits<std::int64_t>::max());
      });
    }
    launch.geometry.grid = extent(node, "grid");
    launch.geometry.block = extent(node, "block");
    if (const YAML::Node shared = node["shared"]) {
      launch.geometry.dynamic_shared_bytes = static_cast<std::uint32_t>(checked(
          shared, [&] { return whole_number("shared", text(shared, "shared"), 0, 1 << 20); }));
    }
    if (const YAML::Node arguments = node["args"]) {
      if (!arguments.IsSequence()) refuse(arguments, "args has to be a list");
      for (const YAML::Node& part : arguments) {
        launch.arguments.push_back(with_file_beside(argument(part)));
      }
    }
    read_settings(node["set"], launch.settings);
    if (const YAML::Node saves = node["save"]) {
      if (!saves.IsMap()) refuse(saves, "save has to be a table of buffers and files");
      for (const auto& pair : saves) {
        launch.saves.emplace_back(text(pair.first, "a buffer"),
                                  beside(text(pair.second, "a file")));
      }
    }
    spec_.launches.push_back(std::move(launch));
  }

  const std::string path_;
  const fs::path folder_;
  Spec& spec_;
};

}  // namespace

Dim3 extent_named(std::string_view option, std::string_view text) {
  std::vector<std::uint32_t> extents;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find_first_of(",x", begin), text.size());
    std::string_view part = text.substr(begin, end - begin);
    while (part.starts_with(' ')) part.remove_prefix(1);
    extents.push_back(
        static_cast<std::uint32_t>(whole_number(option, part, 1, std::int64_t{0x7fffffff})));
    begin = end + 1;
  }
  if (extents.size() > 3) {
    throw Error(ExitCode::usage,
                fmt::format("{} takes one to three numbers, not '{}': 64 or 64,64", option, text));
  }
  extents.resize(3, 1);
  return {extents[0], extents[1], extents[2]};
}

std::pair<std::string, std::string> save_named(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size()) {
    throw Error(ExitCode::usage,
                fmt::format("--save takes NAME=FILE, not '{}': --save out=out.npy", text));
  }
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

void read_spec(const std::string& path, Spec& spec) {
  const std::vector<std::byte> contents = read_whole_file(path);
  if (contents.size() > largest_spec) {
    throw Error(ExitCode::usage,
                fmt::format("{} is larger than a list of launches can be ({} bytes); give fewer",
                            path, largest_spec));
  }
  try {
    const YAML::Node root =
        YAML::Load(std::string(reinterpret_cast<const char*>(contents.data()), contents.size()));
    SpecReader(path, spec).read(root);
  } catch (const YAML::Exception& wrong) {
    throw Error(ExitCode::usage, fmt::format("{}:{}: {}; mend it as YAML or JSON", path,
                                             wrong.mark.line + 1, wrong.msg));
  }
}

}  // namespace warpmeter::model
