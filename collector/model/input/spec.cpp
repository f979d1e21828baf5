// SPDX-License-Identifier: MIT
// JSON is read as the YAML that it is.
#include "collector/model/input/spec.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/numbers.h"
#include "collector/model/input/fill.h"
#include "collector/model/input/yaml.h"

namespace warpmeter::model {
namespace {

class SpecReader {
 public:
  SpecReader(const YamlFile& file, Spec& spec) : file_(file), spec_(spec) {}

  void read(const YAML::Node& root) {
    file_.check_keys(
        root, {"file", "cubin", "arch", "std", "compiler", "include", "define", "set", "launches"});
    if (const YAML::Node file = root["file"]; file && spec_.file.empty()) {
      spec_.file = file_.beside(text(file, "file"));
    }
    if (const YAML::Node cubin = root["cubin"]) spec_.cubin = file_.beside(text(cubin, "cubin"));
    if (const YAML::Node node = root["arch"]) {
      const Text arch = file_.text(node, "arch");
      spec_.options.arch = file_.checked(arch, [&] { return checked_arch("arch", arch.text); });
    }
    file_.read_compile_options(root, spec_.options);
    add_settings(root["set"], spec_.settings);
    const YAML::Node launches = root["launches"];
    if (!launches || !launches.IsSequence() || launches.size() == 0) {
      file_.refuse(root, "has no list of launches: start one with 'launches:'");
    }
    for (const YAML::Node& launch : launches) read_launch(launch);
  }

 private:
  std::string text(const YAML::Node& node, std::string_view what) const {
    return file_.text(node, what).text;
  }

  void add_settings(const YAML::Node& node, std::vector<std::string>& settings) const {
    for (Text& setting : file_.settings(node)) settings.push_back(std::move(setting.text));
  }

  /// "in:f32[]=in.npy", the file beside this one.
  std::string with_file_beside(const std::string& argument) const {
    const std::size_t value = argument.find('=') + 1;
    if (value == 0 || !names_file(argument)) return argument;
    return argument.substr(0, value) + file_.beside(argument.substr(value));
  }

  Dim3 extent(const YAML::Node& launch, const std::string& key) const {
    const YAML::Node node = launch[key];
    if (!node) file_.refuse(launch, fmt::format("a launch has no {}", key));
    const std::vector<std::string> parts = YamlFile::words(file_.texts(node, key));
    return file_.checked(YamlFile::place(node), [&] {
      return extent_named(key, fmt::format("{}", fmt::join(parts, ",")));
    });
  }

  std::int64_t number(const YAML::Node& node, std::string_view what, std::int64_t least,
                      std::int64_t most) const {
    const Text value = file_.text(node, what);
    return file_.checked(value, [&] { return whole_number(what, value.text, least, most); });
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
    file_.check_keys(node,
                     {"kernel", "name", "size", "grid", "block", "shared", "args", "set", "save"});
    LaunchSpec launch;
    if (const YAML::Node kernel = node["kernel"]) launch.kernel = text(kernel, "kernel");
    if (const YAML::Node name = node["name"]) launch.name = text(name, "name");
    if (const YAML::Node size = node["size"]) {
      launch.size = number(size, "size", 1, std::numeric_limits<std::int64_t>::max());
    }
    launch.geometry.grid = extent(node, "grid");
    launch.geometry.block = extent(node, "block");
    if (const YAML::Node shared = node["shared"]) {
      launch.geometry.dynamic_shared_bytes =
          static_cast<std::uint32_t>(number(shared, "shared", 0, 1 << 20));
    }
    if (const YAML::Node arguments = node["args"]) {
      if (!arguments.IsSequence()) file_.refuse(arguments, "args has to be a list");
      for (const YAML::Node& part : arguments) {
        launch.arguments.push_back(with_file_beside(argument(part)));
      }
    }
    add_settings(node["set"], launch.settings);
    if (const YAML::Node saves = node["save"]) {
      if (!saves.IsMap()) file_.refuse(saves, "save has to be a table of buffers and files");
      std::vector<std::string> seen;
      for (const auto& pair : saves) {
        const Text buffer = file_.text(pair.first, "a buffer");
        file_.check_new(seen, buffer);
        launch.saves.emplace_back(buffer.text, file_.beside(text(pair.second, "a file")));
      }
    }
    spec_.launches.push_back(std::move(launch));
  }

  const YamlFile& file_;
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
  const YamlFile file(path, "a list of launches", " (see: warpmeter model --help)");
  file.read([&](const YAML::Node& root) { SpecReader(file, spec).read(root); });
}

}  // namespace warpmeter::model
