#include "collector/family/spec.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <type_traits>

#include "base/element.h"
#include "base/error.h"
#include "base/nearest.h"
#include "collector/model/input/fill.h"
#include "collector/model/input/npy.h"

namespace warpmeter::family {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t largest_file = std::size_t{4} << 20;

YAML::Node load(const std::string& path) {
  const std::vector<std::byte> contents = model::read_whole_file(path);
  if (contents.size() > largest_file) {
    throw Error(ExitCode::usage,
                fmt::format("{} is larger than a family can be ({} bytes)", path, largest_file));
  }
  try {
    return YAML::Load(std::string(reinterpret_cast<const char*>(contents.data()), contents.size()));
  } catch (const YAML::Exception& wrong) {
    throw Error(ExitCode::usage,
                fmt::format("{}:{}:{}: {}; mend it as YAML or JSON", path, wrong.mark.line + 1,
                            wrong.mark.column + 1, wrong.msg));
  }
}

bool is_name(std::string_view text) {
  return !text.empty() && text.find_first_of("/*?,\"'\n\t ") == std::string_view::npos;
}

class Reader {
 public:
  explicit Reader(const std::string& path) : folder_(fs::path(path).parent_path()) {
    spec_.path = path;
  }

  FamilySpec read(const YAML::Node& root) {
    check_keys(root, {"family", "summary", "size", "file", "cubin", "include", "define", "std",
                      "flags", "sizes", "arguments", "set", "variants", "reference", "outputs",
                      "tolerance", "work", "ceiling"});
    spec_.name =
        root["family"] ? text(root["family"], "family").text : fs::path(spec_.path).stem().string();
    if (!is_name(spec_.name)) {
      refuse_at(root["family"] ? root["family"] : root,
                fmt::format("'{}' is no name for a family: letters, digits, _ and -", spec_.name));
    }
    if (const YAML::Node node = root["summary"]) spec_.summary = text(node, "summary").text;
    if (const YAML::Node node = root["size"]) spec_.size_meaning = text(node, "size").text;
    if (!root["file"]) refuse_at(root, "says no file: the kernels' .cu or .ptx");
    spec_.source = beside(text(root["file"], "file").text);
    if (const YAML::Node node = root["cubin"]) spec_.cubin = beside(text(node, "cubin").text);
    read_options(root);
    read_sizes(root["sizes"]);
    if (root["arguments"]) spec_.arguments = arguments(root["arguments"]);
    spec_.settings = settings(root["set"]);
    read_variants(root["variants"], root);
    read_reference(root);
    if (root["work"]) spec_.work = work(root["work"]);
    if (root["ceiling"]) spec_.ceiling = text(root["ceiling"], "ceiling");
    return std::move(spec_);
  }

 private:
  [[noreturn]] void refuse_at(const YAML::Node& node, const std::string& what) const {
    refuse(spec_, place(node), what);
  }

  static Text place(const YAML::Node& node) {
    Text text;
    if (node.IsDefined() && node.Mark().line >= 0) {
      text.line = node.Mark().line + 1;
      text.column = node.Mark().column + 1;
    }
    return text;
  }

  void check_keys(const YAML::Node& node, const std::vector<std::string>& known) const {
    if (!node.IsMap()) {
      refuse_at(node, fmt::format("is no table of names and values: known are {}",
                                  fmt::join(known, ", ")));
    }
    std::vector<std::string> seen;
    for (const auto& pair : node) {
      const std::string key = text(pair.first, "a name").text;
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        refuse_at(pair.first, fmt::format("'{}' is none of {}{}", key, fmt::join(known, ", "),
                                          did_you_mean(key, known)));
      }
      check_new(seen, pair.first, key);
    }
  }

  void check_new(std::vector<std::string>& seen, const YAML::Node& node,
                 const std::string& key) const {
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) {
      refuse_at(node, fmt::format("'{}' stands here a second time", key));
    }
    seen.push_back(key);
  }

  Text text(const YAML::Node& node, std::string_view what) const {
    if (!node.IsScalar()) refuse_at(node, fmt::format("{} has to be one value", what));
    Text result = place(node);
    result.text = node.Scalar();
    return result;
  }

  /// One value or a list of them; none where there is no such node.
  std::vector<Text> texts(const YAML::Node& node, std::string_view what) const {
    std::vector<Text> all;
    if (!node) return all;
    if (node.IsScalar()) return {text(node, what)};
    if (!node.IsSequence()) refuse_at(node, fmt::format("{} has to be a value or a list", what));
    for (const YAML::Node& part : node) all.push_back(text(part, what));
    return all;
  }

  std::string beside(const std::string& path) const { return (folder_ / path).string(); }

  /// What a value is, with its place where it is none.
  template <class Check>
  void checked(const Text& at, Check check) const {
    try {
      check();
    } catch (const Error& error) {
      refuse(spec_, at, error.what());
    }
  }

  void read_options(const YAML::Node& root) {
    model::CompileOptions& options = spec_.options;
    if (root["std"]) {
      const Text standard = text(root["std"], "std");
      options.standard = standard.text;
      checked(standard, [&] { model::check_standard("std", options.standard); });
    }
    for (const Text& include : texts(root["include"], "include")) {
      options.includes.push_back(beside(include.text));
      checked(include, [&] { model::check_include("include", options.includes.back()); });
    }
    for (const Text& define : texts(root["define"], "define")) {
      options.defines.push_back(define.text);
      checked(define, [&] { model::check_define("define", define.text); });
    }
    for (const Text& flag : texts(root["flags"], "flags")) options.flags.push_back(flag.text);
  }

  Parameter parameter(const YAML::Node& name, const YAML::Node& values) const {
    Parameter result{text(name, "a name"), texts(values, name.Scalar())};
    const std::string& called = result.name.text;
    const bool is_identifier =
        !called.empty() && std::isdigit(static_cast<unsigned char>(called[0])) == 0 &&
        std::all_of(called.begin(), called.end(),
                    [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
    if (!is_identifier) refuse_at(name, fmt::format("'{}' is no name that C knows", called));
    if (result.values.empty()) refuse_at(values, fmt::format("{} has no values", called));
    return result;
  }

  std::vector<Parameter> parameters(const YAML::Node& node, std::string_view what) const {
    std::vector<Parameter> all;
    std::vector<std::string> seen;
    if (!node.IsMap())
      refuse_at(node, fmt::format("{} has to be a table of names and lists", what));
    for (const auto& pair : node) {
      all.push_back(parameter(pair.first, pair.second));
      check_new(seen, pair.first, all.back().name.text);
    }
    return all;
  }

  /// A list is of n; a table names each.
  void read_sizes(const YAML::Node& node) {
    if (!node) return;
    if (node.IsMap()) {
      spec_.sizes = parameters(node, "sizes");
    } else {
      Text name = place(node);
      name.text = "n";
      spec_.sizes = {{name, texts(node, "sizes")}};
    }
    for (const Parameter& size : spec_.sizes) {
      if (size.values.empty()) refuse_at(node, "sizes are none: [1024, 4096]");
    }
  }

  /// "out: f32[n*n]", "in: f32[n*n] = iota", "i32: n", "n: i32 = 5", "@in", "out:f32[16]", null.
  Text argument(const YAML::Node& node) const {
    Text result = place(node);
    if (node.IsNull()) {
      result.text = "null";
      return result;
    }
    if (!node.IsMap()) {
      result = text(node, "an argument");
    } else {
      if (node.size() != 1) refuse_at(node, "an argument is one name and what it is");
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
    if (model::names_file(value)) value = beside(value);
    text = equals == std::string::npos ? left : fmt::format("{}={}", left, value);
    return argument;
  }

  std::vector<Text> arguments(const YAML::Node& node) const {
    std::vector<Text> all;
    if (!node.IsSequence()) refuse_at(node, "arguments have to be a list, in the kernel's order");
    for (const YAML::Node& part : node) all.push_back(argument(part));
    return all;
  }

  std::vector<Text> settings(const YAML::Node& node) const {
    std::vector<Text> all;
    if (!node) return all;
    if (!node.IsMap()) refuse_at(node, "set has to be a table of variables and values");
    for (const auto& pair : node) {
      Text setting = text(pair.first, "a variable");
      std::vector<std::string> values;
      for (const Text& value : texts(pair.second, setting.text)) values.push_back(value.text);
      setting.text = fmt::format("{}={}", setting.text, fmt::join(values, ","));
      all.push_back(without_spaces(std::move(setting)));
    }
    return all;
  }

  std::vector<Text> extent(const YAML::Node& node, std::string_view what) const {
    std::vector<Text> all = texts(node, what);
    if (all.size() > 3) refuse_at(node, fmt::format("{} has one to three extents", what));
    return all;
  }

  WorkSpec work(const YAML::Node& node) const {
    check_keys(node, {"read", "written", "flops"});
    WorkSpec result;
    if (node["read"]) result.read = text(node["read"], "read");
    if (node["written"]) result.written = text(node["written"], "written");
    if (node["flops"]) result.flops = text(node["flops"], "flops");
    return result;
  }

  std::vector<ExpectationSpec> expectations(const YAML::Node& node) const {
    std::vector<ExpectationSpec> all;
    if (!node.IsMap()) refuse_at(node, "expect has to be a table: 'METRIC <= 2': \"why\"");
    for (const auto& pair : node) {
      all.push_back({text(pair.first, "a condition"), text(pair.second, "a reason").text});
    }
    return all;
  }

  void read_variants(const YAML::Node& node, const YAML::Node& root) {
    if (!node) refuse_at(root, "has no variants: a table of names and what each launches");
    if (!node.IsMap() || node.size() == 0) {
      refuse_at(node, "variants have to be a table of names and what each launches");
    }
    std::vector<std::string> seen;
    for (const auto& pair : node) {
      spec_.variants.push_back(variant(pair.first, pair.second));
      check_new(seen, pair.first, spec_.variants.back().name.text);
    }
  }

  VariantSpec variant(const YAML::Node& name, const YAML::Node& node) const {
    VariantSpec result;
    result.name = text(name, "a variant");
    if (!is_name(result.name.text) || result.name.text.find('[') != std::string::npos) {
      refuse_at(name, fmt::format("'{}' is no name for a variant: letters, digits, _ and -",
                                  result.name.text));
    }
    check_keys(node, {"kernel", "grid", "block", "shared", "cluster", "cooperative", "parameters",
                      "where", "arguments", "set", "define", "expect", "work", "reference"});
    if (node["kernel"]) result.kernel = text(node["kernel"], "kernel");
    for (const char* needed : {"grid", "block"}) {
      if (!node[needed]) refuse_at(name, fmt::format("{} has no {}", result.name.text, needed));
    }
    result.grid = extent(node["grid"], "grid");
    result.block = extent(node["block"], "block");
    result.cluster = extent(node["cluster"], "cluster");
    if (node["shared"]) result.shared = text(node["shared"], "shared");
    if (node["cooperative"]) result.is_cooperative = flag(node["cooperative"], "cooperative");
    if (node["parameters"]) result.parameters = parameters(node["parameters"], "parameters");
    if (node["where"]) result.where = text(node["where"], "where");
    if (node["arguments"]) result.arguments = arguments(node["arguments"]);
    result.settings = settings(node["set"]);
    result.defines = texts(node["define"], "define");
    for (const Text& define : result.defines) {
      checked(define, [&] { model::check_define("define", define.text); });
    }
    if (node["expect"]) result.expectations = expectations(node["expect"]);
    if (node["work"]) result.work = work(node["work"]);
    if (const YAML::Node reference = node["reference"]) {
      result.reference = reference.IsNull() ? place(reference) : text(reference, "reference");
      if (result.reference->text == "none") result.reference->text.clear();
    }
    return result;
  }

  bool flag(const YAML::Node& node, std::string_view what) const {
    const std::string value = text(node, what).text;
    if (value == "true" || value == "yes") return true;
    if (value == "false" || value == "no") return false;
    refuse_at(node, fmt::format("{} is true or false, not '{}'", what, value));
  }

  double number(const YAML::Node& node, std::string_view what) const {
    const std::string value = text(node, what).text;
    double result = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
    if (error == std::errc() && end == value.data() + value.size() && result >= 0) return result;
    refuse_at(node, fmt::format("{} has to be a number from 0, not '{}'", what, value));
  }

  void read_reference(const YAML::Node& root) {
    if (const YAML::Node node = root["reference"]) {
      if (node.IsMap()) {
        for (const auto& pair : node) {
          Text file = text(pair.second, "a file");
          file.text = beside(file.text);
          spec_.reference_files.emplace_back(text(pair.first, "a buffer").text, file);
        }
      } else if (!node.IsNull()) {
        spec_.reference = text(node, "reference");
        if (spec_.reference.text == "none") spec_.reference = {};
      }
    }
    spec_.outputs = texts(root["outputs"], "outputs");
    const YAML::Node tolerance = root["tolerance"];
    if (!tolerance) return;
    check_keys(tolerance, {"relative", "absolute", "nan"});
    if (tolerance["relative"]) spec_.relative = number(tolerance["relative"], "relative");
    if (tolerance["absolute"]) spec_.absolute = number(tolerance["absolute"], "absolute");
    if (const YAML::Node nan = tolerance["nan"]) {
      if (text(nan, "nan").text != "equal") refuse_at(nan, "nan can only be 'equal'");
      spec_.nan_equals_nan = true;
    }
  }

  const fs::path folder_;
  FamilySpec spec_;
};

}  // namespace

void refuse(const FamilySpec& spec, const Text& at, const std::string& what) {
  if (spec.path.empty()) throw Error(ExitCode::usage, what);
  throw Error(ExitCode::usage,
              at.line == 0 ? fmt::format("{}: {}", spec.path, what)
                           : fmt::format("{}:{}:{}: {}", spec.path, at.line, at.column, what));
}

bool is_list_of_launches(const std::string& path) {
  const YAML::Node root = load(path);
  return root.IsMap() && root["launches"];
}

FamilySpec read_family(const std::string& path) {
  try {
    return Reader(path).read(load(path));
  } catch (const YAML::Exception& wrong) {
    throw Error(ExitCode::usage, fmt::format("{}:{}:{}: {}", path, wrong.mark.line + 1,
                                             wrong.mark.column + 1, wrong.msg));
  }
}

}  // namespace warpmeter::family
