// SPDX-License-Identifier: MIT
#include "collector/family/spec.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>

#include "base/element.h"
#include "base/variant_name.h"
#include "base/with_noun.h"
#include "collector/family/cpu_call.h"
#include "collector/model/input/device_flags.h"
#include "collector/model/input/fill.h"

namespace warpmeter::family {
namespace {

constexpr const char* kind = "a family";

bool is_name(std::string_view text) {
  return !text.empty() && text.find_first_of("/*?,\"'\n\t ") == std::string_view::npos;
}

class Reader {
 public:
  Reader(const model::YamlFile& file, const std::string& path) : file_(file) { spec_.path = path; }

  FamilySpec read(const YAML::Node& root) {
    file_.check_keys(root, {"family",    "summary", "size",     "file",      "cubin",   "include",
                            "define",    "std",     "compiler", "flags",     "sizes",   "largest",
                            "arguments", "set",     "variants", "reference", "outputs", "tolerance",
                            "work",      "ceiling", "expect_at"});
    spec_.name = root["family"] ? text(root["family"], "family").text
                                : std::filesystem::path(spec_.path).stem().string();
    if (!is_name(spec_.name)) {
      file_.refuse(
          root["family"] ? root["family"] : root,
          fmt::format("'{}' is no name for a family: letters, digits, _ and -", spec_.name));
    }
    if (const YAML::Node node = root["summary"]) spec_.summary = text(node, "summary").text;
    if (const YAML::Node node = root["size"]) spec_.size_meaning = size_meaning(node);
    for (const char* key : {"size", "largest", "expect_at"}) {
      if (root[key] && !root["sizes"]) {
        file_.refuse(root[key],
                     fmt::format("{} says {}, and there are no sizes: [1024, 4096]", key,
                                 key == std::string_view("size") ? "what a size is"
                                                                 : "which sizes are meant"));
      }
    }
    if (!root["file"]) file_.refuse(root, "says no file: the kernels' .cu, .ptx or .cubin");
    spec_.source_place = text(root["file"], "file");
    spec_.source = file_.beside(spec_.source_place.text);
    if (const YAML::Node node = root["cubin"]) spec_.cubin = file_.beside(text(node, "cubin").text);
    file_.read_compile_options(root, spec_.options);
    if (const YAML::Node node = root["flags"]) {
      spec_.options.flags = model::YamlFile::words(texts(node, "flags"));
      file_.checked(model::YamlFile::place(node),
                    [&] { model::check_device_flags("flags", spec_.options.flags); });
    }
    read_sizes(root["sizes"]);
    if (root["largest"]) spec_.largest = text(root["largest"], "largest");
    spec_.expected_at = texts(root["expect_at"], "expect_at");
    if (root["arguments"]) spec_.arguments = arguments(root["arguments"]);
    spec_.settings = file_.settings(root["set"]);
    read_variants(root["variants"], root);
    read_reference(root);
    if (root["work"]) spec_.work = work(root["work"]);
    if (root["ceiling"]) spec_.ceiling = text(root["ceiling"], "ceiling");
    return std::move(spec_);
  }

 private:
  Text text(const YAML::Node& node, std::string_view what) const { return file_.text(node, what); }

  std::vector<Text> texts(const YAML::Node& node, std::string_view what) const {
    return file_.texts(node, what);
  }

  Parameter parameter(const YAML::Node& name, const YAML::Node& values) const {
    Parameter result{text(name, "a name"), texts(values, name.Scalar())};
    const std::string& called = result.name.text;
    const bool is_identifier =
        !called.empty() && std::isdigit(static_cast<unsigned char>(called[0])) == 0 &&
        std::all_of(called.begin(), called.end(),
                    [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
    if (!is_identifier) file_.refuse(name, fmt::format("'{}' is no name that C knows", called));
    if (result.values.empty()) file_.refuse(values, fmt::format("{} has no values", called));
    check_count(values, result);
    return result;
  }

  std::vector<Parameter> parameters(const YAML::Node& node, std::string_view what) const {
    std::vector<Parameter> all;
    std::vector<std::string> seen;
    if (!node.IsMap())
      file_.refuse(node, fmt::format("{} has to be a table of names and lists", what));
    for (const auto& pair : node) {
      all.push_back(parameter(pair.first, pair.second));
      file_.check_new(seen, all.back().name);
    }
    return all;
  }

  /// Words; numbers are those of `sizes`.
  std::string size_meaning(const YAML::Node& node) const {
    if (!node.IsScalar() || parameter_number(node.Scalar())) {
      file_.refuse(node,
                   "size says in words what a size is, such as 'side of the matrix'; did you mean "
                   "sizes?");
    }
    return text(node, "size").text;
  }

  /// Every value is a launch or more of each variant.
  void check_count(const YAML::Node& node, const Parameter& parameter) const {
    constexpr std::size_t most = 10'000;
    if (parameter.values.size() <= most) return;
    file_.refuse(
        node, fmt::format("{} has {}, more than the {} that one file may have: "
                          "write several files",
                          parameter.name.text, with_noun(parameter.values.size(), "value"), most));
  }

  /// Refuses a number that stands there a second time, however it is written.
  void check_once(const Parameter& size) const {
    std::map<long double, const Text*> seen;
    for (const Text& value : size.values) {
      const auto number = parameter_number(value.text);
      if (!number) continue;  // the place of its computation says it
      const auto [place, is_new] = seen.try_emplace(*number, &value);
      if (is_new) continue;
      const std::string& first = place->second->text;
      file_.refuse(
          value, fmt::format("'{}' stands here a second time{}: {} has each size once", value.text,
                             first == value.text ? "" : fmt::format(", first as '{}'", first),
                             size.name.text));
    }
  }

  /// A list is of n; a table names each.
  void read_sizes(const YAML::Node& node) {
    if (!node) return;
    if (node.IsMap()) {
      spec_.sizes = parameters(node, "sizes");
    } else {
      Text name = model::YamlFile::place(node);
      name.text = "n";
      spec_.sizes = {{name, texts(node, "sizes")}};
    }
    for (const Parameter& size : spec_.sizes) {
      if (size.values.empty()) file_.refuse(node, "sizes are none: [1024, 4096]");
      check_count(node, size);
      check_once(size);
    }
  }

  /// "out: f32[n*n]", "in: f32[n*n] = iota", "i32: n", "n: i32 = 5", "@in", "out:f32[16]", null.
  Text argument(const YAML::Node& node) const {
    Text result = model::YamlFile::place(node);
    if (node.IsNull()) {
      result.text = "null";
      return result;
    }
    if (!node.IsMap()) {
      result = text(node, "an argument");
    } else {
      if (node.size() != 1) file_.refuse(node, "an argument is one name and what it is");
      const auto pair = *node.begin();
      const std::string key = text(pair.first, "an argument").text;
      const Text value = text(pair.second, key);
      const std::string_view type = std::string_view(key).substr(0, key.find('['));
      const bool is_value = element_named(type) || is_vector(type) || type == "bytes" ||
                            key.find(':') != std::string::npos;
      result = value;
      result.text = fmt::format("{}{}{}", key, is_value ? "=" : ":", value.text);
    }
    return without_spaces(std::move(result));
  }

  static bool is_vector(std::string_view type) {
    return type.size() > 1 && type.back() >= '2' && type.back() <= '4' &&
           element_named(type.substr(0, type.size() - 1)).has_value();
  }

  /// "in:f32[n*n] = iota" as "in:f32[n*n]=iota", with the file beside this one.
  Text without_spaces(Text argument) const {
    std::string& text = argument.text;
    const std::size_t close = text.find(']');
    const std::size_t equals = text.find('=', close == std::string::npos ? 0 : close);
    std::string left = text.substr(0, equals);
    std::erase(left, ' ');
    std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
    value.erase(0, value.find_first_not_of(' '));
    if (model::names_file(value)) value = file_.beside(value);
    text = equals == std::string::npos ? left : fmt::format("{}={}", left, value);
    return argument;
  }

  std::vector<Text> arguments(const YAML::Node& node) const {
    std::vector<Text> all;
    if (!node.IsSequence())
      file_.refuse(node, "arguments have to be a list, in the kernel's order");
    for (const YAML::Node& part : node) all.push_back(argument(part));
    return all;
  }

  std::vector<Text> extent(const YAML::Node& node, std::string_view what) const {
    std::vector<Text> all = texts(node, what);
    if (all.size() > 3) file_.refuse(node, fmt::format("{} has one to three extents", what));
    return all;
  }

  WorkSpec work(const YAML::Node& node) const {
    file_.check_keys(node, {"read", "written", "flops"});
    WorkSpec result;
    if (node["read"]) result.read = text(node["read"], "read");
    if (node["written"]) result.written = text(node["written"], "written");
    if (node["flops"]) result.flops = text(node["flops"], "flops");
    return result;
  }

  std::vector<ExpectationSpec> expectations(const YAML::Node& node) const {
    std::vector<ExpectationSpec> all;
    if (!node.IsMap()) file_.refuse(node, "expect has to be a table: 'METRIC <= 2': \"why\"");
    for (const auto& pair : node) {
      all.push_back({text(pair.first, "a condition"), text(pair.second, "a reason").text});
    }
    return all;
  }

  void read_variants(const YAML::Node& node, const YAML::Node& root) {
    if (!node) file_.refuse(root, "has no variants: a table of names and what each launches");
    if (!node.IsMap() || node.size() == 0) {
      file_.refuse(node, "variants have to be a table of names and what each launches");
    }
    std::vector<std::string> seen;
    for (const auto& pair : node) {
      spec_.variants.push_back(variant(pair.first, pair.second));
      file_.check_new(seen, spec_.variants.back().name);
    }
  }

  VariantSpec variant(const YAML::Node& name, const YAML::Node& node) const {
    VariantSpec result;
    result.name = text(name, "a variant");
    if (!is_name(result.name.text) || result.name.text.find('[') != std::string::npos) {
      file_.refuse(name, fmt::format("'{}' is no name for a variant: letters, digits, _ and -",
                                     result.name.text));
    }
    file_.check_keys(
        node, {"kernel", "grid", "block", "shared", "cluster", "cooperative", "parameters", "where",
               "arguments", "set", "define", "expect", "work", "reference", "library"});
    if (node["kernel"]) result.kernel = text(node["kernel"], "kernel");
    if (node["work"]) result.work = work(node["work"]);
    read_reference(node["reference"], result);
    if (node["library"]) {
      read_library(node, result);
      return result;
    }
    for (const char* needed : {"grid", "block"}) {
      if (!node[needed]) file_.refuse(name, fmt::format("{} has no {}", result.name.text, needed));
    }
    result.grid = extent(node["grid"], "grid");
    result.block = extent(node["block"], "block");
    result.cluster = extent(node["cluster"], "cluster");
    if (node["shared"]) result.shared = text(node["shared"], "shared");
    if (node["cooperative"]) result.is_cooperative = flag(node["cooperative"], "cooperative");
    if (node["parameters"]) result.parameters = parameters(node["parameters"], "parameters");
    if (node["where"]) result.where = text(node["where"], "where");
    if (node["arguments"]) result.arguments = arguments(node["arguments"]);
    result.settings = file_.settings(node["set"]);
    result.defines = file_.defines(node["define"]);
    if (node["expect"]) result.expectations = expectations(node["expect"]);
    return result;
  }

  void read_reference(const YAML::Node& node, VariantSpec& variant) const {
    if (!node) return;
    const bool is_variant = !node.IsNull() && !node.IsMap();
    variant.reference = is_variant ? text(node, "reference") : model::YamlFile::place(node);
    if (variant.reference->text == "none") variant.reference->text.clear();
    if (node.IsMap()) variant.results = results(node);
  }

  /// A function of a library, which decides itself how its kernels are launched.
  void read_library(const YAML::Node& node, VariantSpec& variant) const {
    file_.check_keys(node, {"library", "kernel", "work", "reference"});
    variant.library = text(node["library"], "library").text;
    if (variant.library != "cuBLAS" || variant.kernel.text != "cublasSgemm_v2") {
      file_.refuse(node["library"],
                   "the one function of a library that can be measured is 'library: cuBLAS' with "
                   "'kernel: cublasSgemm_v2'");
    }
  }

  /// A .npy beside this file, or a call, for each buffer.
  Results results(const YAML::Node& node) const {
    Results all;
    for (const auto& pair : node) {
      Text result = text(pair.second, "a file");
      if (!is_cpu_call(result.text)) result.text = file_.beside(result.text);
      all.emplace_back(text(pair.first, "a buffer").text, result);
    }
    return all;
  }

  bool flag(const YAML::Node& node, std::string_view what) const {
    const std::string value = text(node, what).text;
    if (value == "true" || value == "yes") return true;
    if (value == "false" || value == "no") return false;
    file_.refuse(node, fmt::format("{} is true or false, not '{}'", what, value));
  }

  double number(const YAML::Node& node, std::string_view what) const {
    const std::string value = text(node, what).text;
    double result = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
    if (error == std::errc() && end == value.data() + value.size() && result >= 0) return result;
    file_.refuse(node, fmt::format("{} has to be a number from 0, not '{}'", what, value));
  }

  void read_reference(const YAML::Node& root) {
    if (const YAML::Node node = root["reference"]) {
      if (node.IsMap()) {
        spec_.results = results(node);
      } else if (!node.IsNull()) {
        spec_.reference = text(node, "reference");
        if (spec_.reference.text == "none") spec_.reference = {};
      }
    }
    spec_.outputs = texts(root["outputs"], "outputs");
    const YAML::Node tolerance = root["tolerance"];
    if (!tolerance) return;
    file_.check_keys(tolerance, {"relative", "absolute", "nan"});
    if (tolerance["relative"]) spec_.relative = number(tolerance["relative"], "relative");
    if (tolerance["absolute"]) spec_.absolute = number(tolerance["absolute"], "absolute");
    if (const YAML::Node nan = tolerance["nan"]) {
      if (text(nan, "nan").text != "equal") file_.refuse(nan, "nan can only be 'equal'");
      spec_.nan_equals_nan = true;
    }
  }

  const model::YamlFile& file_;
  FamilySpec spec_;
};

}  // namespace

void refuse(const FamilySpec& spec, const Text& at, const std::string& what, ExitCode code) {
  model::refuse(spec.path, at, what, code);
}

bool is_list_of_launches(const std::string& path) {
  bool has_launches = false;
  model::YamlFile(path, kind).read([&](const YAML::Node& root) {
    has_launches = root.IsMap() && root["launches"];
  });
  return has_launches;
}

FamilySpec read_family(const std::string& path) {
  const model::YamlFile file(path, kind);
  FamilySpec spec;
  file.read([&](const YAML::Node& root) { spec = Reader(file, path).read(root); });
  return spec;
}

FamilySpec read_family(const std::string& path, std::string_view text) {
  const model::YamlFile file(path, kind, "", model::YamlFile::Names::any);
  FamilySpec spec;
  file.read(text, [&](const YAML::Node& root) { spec = Reader(file, path).read(root); });
  return spec;
}

}  // namespace warpmeter::family
