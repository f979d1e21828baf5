// A .cu is read as text: what nobody has instantiated is in no compiled module, and parameters have
// no names there.
#include "collector/family/listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/element.h"
#include "base/error.h"
#include "base/kernel_name.h"
#include "collector/family/words.h"
#include "collector/model/input/kernel_file.h"
#include "collector/model/input/npy.h"
#include "collector/model/machine/decode/decode.h"

namespace warpmeter::family {
namespace {

/// The text without comments, strings and continued lines of preprocessor commands, each replaced
/// by a space.
std::string without_comments(const std::string& text) {
  std::string result;
  bool begins_line = true;
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = std::string_view(text).substr(i);
    std::size_t length = 1;
    if (rest.starts_with("//")) {
      length = std::min(rest.find('\n'), rest.size());
    } else if (rest.starts_with("/*")) {
      const std::size_t end = rest.find("*/", 2);
      length = end == std::string_view::npos ? rest.size() : end + 2;
    } else if (begins_line && rest[0] == '#') {
      std::size_t end = rest.find('\n');
      while (end != std::string_view::npos && rest[end - 1] == '\\') end = rest.find('\n', end + 1);
      length = std::min(end, rest.size());
    } else {
      if (rest[0] == '\n')
        begins_line = true;
      else if (std::isspace(static_cast<unsigned char>(rest[0])) == 0)
        begins_line = false;
      result += rest[0];
      ++i;
      continue;
    }
    result += ' ';
    i += length;
  }
  return result;
}

std::string one_line(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool is_space = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!is_space) result += c;
    if (is_space && !result.empty() && result.back() != ' ' && result.back() != '(') result += ' ';
  }
  while (result.ends_with(' ')) result.pop_back();
  return result;
}

/// Where the bracket at `open` is closed; npos: nowhere.
std::size_t closing(std::string_view text, std::size_t open, char opens, char closes) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == opens) ++depth;
    if (text[i] == closes && --depth == 0) return i;
  }
  return std::string_view::npos;
}

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    const char c = i < list.size() ? list[i] : ',';
    if (c == '<' || c == '(' || c == '[') ++depth;
    if (c == '>' || c == ')' || c == ']') --depth;
    if (c != ',' || (depth > 0 && i < list.size())) continue;
    const std::string part = one_line(list.substr(begin, i - begin));
    if (!part.empty()) parts.push_back(part);
    begin = i + 1;
  }
  return parts;
}

/// What an argument may be for "const float* __restrict__ in": "in:f32[1<<20]=random".
std::string argument_for(const std::string& parameter) {
  const std::string text = parameter.substr(0, parameter.find('='));
  const bool is_pointer =
      text.find('*') != std::string::npos || text.find('[') != std::string::npos;
  const bool is_const = text.find("const") < text.find('*');
  std::vector<std::string> words;
  bool is_unsigned = false;
  for (const std::string& word : words_of(text)) {
    if (word == "unsigned") is_unsigned = true;
    const bool says_no_type = word == "const" || word == "__restrict__" || word == "__restrict" ||
                              word == "volatile" || word == "unsigned" || word == "signed" ||
                              word == "std" || word == "restrict" || word == "__grid_constant__";
    if (!says_no_type) words.push_back(word);
  }
  std::string name = words.size() > 1 ? words.back() : "";
  std::string type = words.empty() ? "int" : words.front();
  if (type == "__half") type = "half";
  if (type == "__nv_bfloat16") type = "bfloat16";
  if (type.ends_with("_t") && type != "size_t") {  // int32_t, uint8_t
    const bool has_u = type.starts_with("u");
    type = fmt::format("{}{}", has_u ? "u" : "i",
                       type.substr(has_u ? 4 : 3, type.size() - (has_u ? 6 : 5)));
  }
  if (const std::string other = fmt::format("u{}", type); is_unsigned && element_named(other)) {
    type = other;
  }
  const std::string_view stem =
      std::string_view(type).substr(0, type.size() - (std::isdigit(type.back()) != 0 ? 1 : 0));
  const bool is_vector =
      element_named(stem).has_value() && type.back() >= '2' && type.back() <= '4';
  const std::optional<Element> element = element_named(type);
  const std::string shown = element ? std::string(to_string(*element)) : type;
  if (!element && !is_vector) {
    return is_pointer ? fmt::format("{}{}f32[1<<20]", name, name.empty() ? "" : ":")
                      : fmt::format("{}{}bytes=0x00", name, name.empty() ? "" : ":");
  }
  const std::string prefix = name.empty() ? "" : name + ":";
  if (is_pointer) return fmt::format("{}{}[1<<20]{}", prefix, shown, is_const ? "=random" : "");
  if (is_vector) return fmt::format("{}{}=0,0{}", prefix, shown, type.back() == '2' ? "" : ",0");
  return fmt::format("{}{}={}", prefix, shown, is_floating(*element) ? "1.5" : "1024");
}

/// "template <int TILE, int PAD>" that ends before `at`; "": none.
std::string template_before(std::string_view text, std::size_t at) {
  const std::size_t word = text.substr(0, at).rfind("template");
  if (word == std::string_view::npos) return "";
  const std::size_t open = text.find('<', word);
  if (open == std::string_view::npos || open > at) return "";
  const std::size_t close = closing(text, open, '<', '>');
  if (close == std::string_view::npos || close > at) return "";
  // Between it and the kernel stands nothing that ends a declaration.
  if (text.substr(close, at - close).find_first_of(";}") != std::string_view::npos) return "";
  return one_line(text.substr(word, close + 1 - word));
}

std::vector<Found> in_source(const std::string& source) {
  const std::string text = without_comments(source);
  std::vector<Found> all;
  constexpr std::string_view mark = "__global__";
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
    std::size_t open = text.find('(', at);
    // __launch_bounds__(256) has parentheses of its own.
    while (open != std::string::npos) {
      const std::vector<std::string> before =
          words_of(std::string_view(text).substr(at, open - at));
      if (before.empty() || before.back().find("launch_bounds") == std::string::npos) break;
      const std::size_t close = closing(text, open, '(', ')');
      open = close == std::string::npos ? close : text.find('(', close);
    }
    if (open == std::string::npos) continue;
    const std::size_t close = closing(text, open, '(', ')');
    if (close == std::string::npos) continue;
    const std::vector<std::string> before = words_of(std::string_view(text).substr(at, open - at));
    if (before.size() < 2) continue;
    const std::size_t after = text.find_first_not_of(" \t\n", close + 1);
    if (after != std::string::npos && text[after] == ';') continue;  // defined elsewhere
    Found found;
    const std::string& name = before.back();
    const std::string parameters = text.substr(open + 1, close - open - 1);
    const std::string templated = template_before(text, at);
    found.signature = fmt::format("{}{}void {}({})", templated, templated.empty() ? "" : " ", name,
                                  fmt::join(split(parameters), ", "));
    found.kernel = name;
    if (!templated.empty()) {
      found.is_template = true;
      std::vector<std::string> names;
      for (const std::string& parameter : split(std::string_view(templated).substr(
               templated.find('<') + 1, templated.size() - templated.find('<') - 2))) {
        const auto words = words_of(parameter.substr(0, parameter.find('=')));
        if (!words.empty()) names.push_back(words.back());
      }
      found.kernel += fmt::format("<{}>", fmt::join(names, ", "));
    }
    for (const std::string& parameter : split(parameters)) {
      if (parameter != "void") found.arguments.push_back(argument_for(parameter));
    }
    all.push_back(std::move(found));
  }
  return all;
}

/// PTX knows sizes, and no names.
std::vector<Found> in_module(const model::KernelFile& file) {
  std::vector<Found> all;
  for (const model::ptx::Function& function : file.module->functions) {
    if (!function.is_entry || function.is_declaration) continue;
    Found found;
    found.kernel = readable_name(function.name);
    std::vector<std::string> types;
    for (const model::Parameter& parameter : model::parameters_of(function)) {
      types.push_back(parameter.type);
      const bool may_point = parameter.type == "u64" || parameter.type == "b64";
      found.arguments.push_back(may_point                 ? "f32[1<<20]"
                                : parameter.type == "f32" ? "f32=1.5"
                                : parameter.type == "f64" ? "f64=1.5"
                                : parameter.type.starts_with("b8[")
                                    ? "bytes=0x00"
                                    : fmt::format("{}=1024", parameter.type));
    }
    const std::string name(function.name);
    found.signature = name.starts_with("_Z") ? name_with_parameters(name)
                                             : fmt::format("{}({})", name, fmt::join(types, ", "));
    all.push_back(std::move(found));
  }
  return all;
}

}  // namespace

std::string signature_in(const std::string& source, const std::string& kernel) {
  const std::string name = function_name(kernel);
  for (const Found& found : in_source(source)) {
    if (found.kernel.substr(0, found.kernel.find('<')) == name) return found.signature;
  }
  return "";
}

std::vector<Found> kernels_in(const std::string& path, const model::CompileOptions& options) {
  std::vector<Found> all;
  if (path.ends_with(".cu")) {
    all = in_source(model::read_text_file(path));
  } else {
    all = in_module(model::read_kernel_file(path, options, {}));
  }
  if (all.empty()) {
    throw Error(ExitCode::usage, fmt::format("{} holds no kernel; one is a __global__ function "
                                             "with a body",
                                             path));
  }
  return all;
}

}  // namespace warpmeter::family
