// SPDX-License-Identifier: MIT
#include "base/kernel_name.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <utility>

#include "base/words.h"

namespace warpmeter {
namespace {

/// Where the parameters of a function begin: the first '(' outside of template arguments that is
/// not the "(anonymous namespace)" or the "{lambda(" of its name. npos: there are none.
std::size_t parameters_of(std::string_view name) {
  constexpr std::string_view anonymous = "(anonymous namespace)";
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '(' && depth == 0) {
      if (name.substr(i, anonymous.size()) != anonymous) return i;
      i += anonymous.size() - 1;
    } else if (c == '<' || c == '{' || c == '(') {
      ++depth;
    } else if (c == '>' || c == '}' || c == ')') {
      --depth;
    }
  }
  return std::string_view::npos;
}

/// Where the last part of a qualified name begins, behind the last "::" or blank outside of
/// brackets.
std::size_t last_part_of(std::string_view name) {
  int depth = 0;
  for (std::size_t i = name.size(); i-- > 0;) {
    const char c = name[i];
    if (c == '>' || c == '}' || c == ')') {
      ++depth;
    } else if (c == '<' || c == '{' || c == '(') {
      --depth;
    } else if (depth == 0 && (c == ' ' || c == ':')) {
      return i + 1;
    }
  }
  return 0;
}

/// Where the name begins, behind the type that is returned, and where its parameters do: at the
/// first '(' outside of <>.
std::pair<std::size_t, std::size_t> bounds_of(std::string_view name) {
  int depth = 0;
  std::size_t begin = 0, end = name.size();
  for (std::size_t i = 0; i < name.size() && end == name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (depth == 0 && name[i] == ' ') begin = i + 1;
    if (depth == 0 && name[i] == '(') end = i;
  }
  return {begin, end};
}

/// As its author wrote it: without what compilers call namespaces that have no name.
std::string written_name(std::string_view mangled) {
  std::string name = demangled(std::string(mangled));
  constexpr std::string_view anonymous = "(anonymous namespace)::";
  for (std::size_t at = 0; (at = name.find(anonymous)) != std::string::npos;) {
    name.erase(at, anonymous.size());
  }
  return name;
}

/// The name of an instance: "reduce<4>".
std::string function_with_arguments(const std::string& kernel) {
  const std::string name = readable_name(kernel);
  return name.substr(last_part_of(name));
}

/// Without the arguments of the last part: "foo::reduce".
std::string qualified_function(const std::string& kernel) {
  const std::string name = readable_name(kernel);
  return name.substr(0, name.find('<', last_part_of(name)));
}

/// The bare name and a number that depends on the whole name (FNV-1a, folded to 16 bits).
std::string numbered(const std::string& kernel) {
  std::uint32_t hash = 2166136261u;
  for (const char c : kernel) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return fmt::format("{}#{:04x}", function_name(kernel), (hash >> 16) ^ (hash & 0xffff));
}

/// The ways to tell names apart, the shortest first.
using Naming = std::string (*)(const std::string&);
constexpr Naming namings[] = {
    function_with_arguments, qualified_function,
    [](const std::string& kernel) { return readable_name(kernel); },
    [](const std::string& kernel) { return name_with_parameters(kernel); }, numbered};

/// The shortest names that differ for all of them.
std::vector<std::string> told_apart(const std::vector<std::string>& kernels) {
  constexpr std::size_t most = 60;
  std::vector<std::string> names;
  for (const Naming naming : namings) {
    names.clear();
    for (const std::string& kernel : kernels) names.push_back(naming(kernel));
    const bool are_short = std::all_of(names.begin(), names.end(),
                                       [](const std::string& name) { return name.size() <= most; });
    if (are_short && std::set(names.begin(), names.end()).size() == names.size()) break;
  }
  return names;
}

}  // namespace

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  // "f" alone is the mangled name of the type float: only _Z begins a function's.
  return name.starts_with("_Z") && status == 0 && text ? text.get() : name;
}

std::string function_name(const std::string& name) {
  const std::string whole = demangled(name);
  std::string_view rest = whole;
  rest = rest.substr(0, parameters_of(rest));
  rest = rest.substr(last_part_of(rest));
  rest = rest.substr(0, rest.find('<'));
  return rest.empty() ? whole : std::string(rest);
}

std::map<std::string, std::string> distinct_names(const std::set<std::string>& kernels) {
  std::map<std::string, std::vector<std::string>> by_function;
  for (const std::string& kernel : kernels) by_function[function_name(kernel)].push_back(kernel);
  std::map<std::string, std::string> names;
  for (const auto& [function, same] : by_function) {
    if (same.size() == 1) {
      names[same.front()] = function;
      continue;
    }
    const std::vector<std::string> apart = told_apart(same);
    for (std::size_t i = 0; i < same.size(); ++i) names[same[i]] = apart[i];
  }
  return names;
}

bool is_name_of(const std::string& name, const std::string& kernel) {
  return name == function_name(kernel) ||
         std::any_of(std::begin(namings), std::end(namings),
                     [&](Naming naming) { return naming(kernel) == name; });
}

std::string readable_name(std::string_view mangled) {
  const std::string name = written_name(mangled);
  if (name == mangled) return name;
  const auto [begin, end] = bounds_of(name);
  return name.substr(begin, end - begin);
}

std::string name_with_parameters(std::string_view mangled) {
  const std::string name = written_name(mangled);
  return name.substr(bounds_of(name).first);
}

std::optional<std::vector<std::string>> parameter_types(std::string_view mangled) {
  const std::string name = written_name(mangled);
  if (name == mangled) return std::nullopt;
  const std::size_t open = parameters_of(name);
  if (open == std::string_view::npos || !name.ends_with(')')) return std::nullopt;
  return split_list(std::string_view(name).substr(open + 1, name.size() - open - 2));
}

std::string without_needless_blanks(std::string_view name) {
  std::string result;
  bool is_behind_blank = false;
  for (const char c : name) {
    const bool is_blank = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!is_blank) {
      if (is_behind_blank && is_of_word(c) && !result.empty() && is_of_word(result.back())) {
        result += ' ';
      }
      result += c;
    }
    is_behind_blank = is_blank;
  }
  return result;
}

std::vector<std::string> split_list(std::string_view list) {
  std::vector<std::string> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    const char c = i < list.size() ? list[i] : ',';
    if (c == '<' || c == '(' || c == '[') ++depth;
    if (c == '>' || c == ')' || c == ']') --depth;
    if (c != ',' || (depth > 0 && i < list.size())) continue;
    std::string_view part = list.substr(begin, i - begin);
    begin = i + 1;
    const std::size_t first = part.find_first_not_of(" \t\n\r\f\v");
    if (first == std::string_view::npos) continue;
    part = part.substr(first, part.find_last_not_of(" \t\n\r\f\v") + 1 - first);
    parts.emplace_back(part);
  }
  return parts;
}

}  // namespace warpmeter
