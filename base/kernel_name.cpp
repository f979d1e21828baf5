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
#include <numeric>
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

/// Without tags: Numba gives a kernel two, of its compilation and of its options.
std::string without_tags(std::string name) {
  for (std::size_t at = 0; (at = name.find("[abi:", at)) != std::string::npos;) {
    const std::size_t end = name.find(']', at);
    if (end == std::string::npos) break;
    name.erase(at, end - at + 1);
  }
  return name;
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

/// "#3f0a": a number that depends on the whole name (FNV-1a, folded to 16 bits).
std::string number_of(const std::string& kernel) {
  std::uint32_t hash = 2166136261u;
  for (const char c : kernel) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return fmt::format("#{:04x}", (hash >> 16) ^ (hash & 0xffff));
}

std::string numbered(const std::string& kernel) {
  return function_name(kernel) + number_of(kernel);
}

/// Libraries write arguments of a template into the name itself: the first three words of a long
/// one are its function, the others are the arguments. "sm80_xmma_gemm"
std::string head_of(const std::string& function) {
  constexpr std::size_t most_of_head = 24;
  if (function.size() <= longest_shown_name) return function;
  std::size_t end = function.find('_');
  for (int i = 0; i < 2 && end != std::string::npos; ++i) end = function.find('_', end + 1);
  return function.substr(0, std::min(end, most_of_head));
}

/// The parts of a name between signs and underscores: "f<A_add<float>>" → f, A, add, float.
std::vector<std::string> parts_of(const std::string& kernel) {
  std::vector<std::string> parts;
  std::string part;
  for (const char c : readable_name(kernel) + ' ') {
    if (c == '#' || (c != '_' && is_of_word(c))) {
      part += c;
    } else if (!part.empty()) {
      parts.push_back(std::exchange(part, {}));
    }
  }
  return parts;
}

/// The parts of some kernels, and who has each.
struct Parts {
  explicit Parts(const std::vector<std::string>& kernels) {
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      of.push_back(parts_of(kernels[i]));
      for (const std::string& part : of.back()) {
        std::vector<std::size_t>& all = having[part];
        if (all.empty() || all.back() != i) all.push_back(i);
      }
    }
  }

  std::vector<std::vector<std::string>> of;
  std::map<std::string, std::vector<std::size_t>> having;  ///< ascending
};

/// The fewest parts that no other kernel has together: each time the one that most of the others
/// lack. Another kernel may have all parts of this one: then the number alone tells them apart.
std::set<std::string> telling_parts(const Parts& parts, std::size_t kernel) {
  std::set<std::string> chosen;
  std::vector<std::size_t> alike(parts.of.size());  // those with all chosen parts
  std::iota(alike.begin(), alike.end(), std::size_t{0});
  while (alike.size() > 1) {
    const std::string* best = nullptr;
    std::vector<std::size_t> best_alike = alike;
    for (const std::string& part : parts.of[kernel]) {
      const std::vector<std::size_t>& all = parts.having.at(part);
      std::vector<std::size_t> left;
      std::set_intersection(alike.begin(), alike.end(), all.begin(), all.end(),
                            std::back_inserter(left));
      if (left.size() >= best_alike.size()) continue;
      best = &part;
      best_alike = std::move(left);
    }
    if (best == nullptr) break;
    chosen.insert(*best);
    alike = std::move(best_alike);
  }
  return chosen;
}

/// The chosen parts in the order of the name, each once.
std::string joined(const std::vector<std::string>& parts, std::set<std::string> chosen) {
  std::string text;
  for (const std::string& part : parts) {
    if (chosen.erase(part) != 0) text += (text.empty() ? "" : " ") + part;
  }
  return text;
}

/// "elementwise<add>#3f0a", "sm80_xmma_gemm…nn tilesize64x64x8#3f0a". The number keeps a name of
/// one run from being another kernel's in another run.
std::string worded(const std::string& kernel, const std::vector<std::string>& parts,
                   std::set<std::string> chosen) {
  const std::string function = function_name(kernel), head = head_of(function);
  const bool is_cut = head != function;
  const auto text = [&](const std::set<std::string>& shown) {
    const std::string words = joined(parts, shown);
    return head + (is_cut ? "…" + words : "<" + words + ">") + number_of(kernel);
  };
  if (!is_cut) return chosen.empty() ? numbered(kernel) : text(chosen);
  // The head alone says little, so more parts follow as long as there is room.
  const std::size_t behind_head = parts_of(qualified_function(kernel)).size() -
                                  parts_of(function).size() + parts_of(head).size();
  for (std::size_t i = behind_head; i < parts.size(); ++i) {
    std::set<std::string> more = chosen;
    more.insert(parts[i]);
    if (text(more).size() > longest_shown_name) break;
    chosen = std::move(more);
  }
  return text(chosen);
}

/// The names of kernels that no whole arguments tell apart in so little room.
std::vector<std::string> by_parts(const std::vector<std::string>& kernels) {
  const Parts parts(kernels);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const std::string name = worded(kernels[i], parts.of[i], telling_parts(parts, i));
    names.push_back(name.size() <= longest_shown_name
                        ? name
                        : head_of(function_name(kernels[i])) + number_of(kernels[i]));
  }
  return names;
}

/// The ways to tell names apart, the shortest first.
using Naming = std::string (*)(const std::string&);
constexpr Naming namings[] = {
    function_with_arguments, qualified_function,
    [](const std::string& kernel) { return readable_name(kernel); },
    [](const std::string& kernel) { return name_with_parameters(kernel); }};

/// The shortest names that differ for all of them.
std::vector<std::string> told_apart(const std::vector<std::string>& kernels) {
  for (const Naming naming : namings) {
    std::vector<std::string> names;
    for (const std::string& kernel : kernels) names.push_back(naming(kernel));
    const bool are_short = std::all_of(names.begin(), names.end(), [](const std::string& name) {
      return name.size() <= longest_shown_name;
    });
    if (are_short && std::set(names.begin(), names.end()).size() == names.size()) return names;
  }
  return by_parts(kernels);
}

}  // namespace

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  // "f" alone is the mangled name of the type float: only _Z begins a function's.
  return name.starts_with("_Z") && status == 0 && text ? without_tags(text.get()) : name;
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
  for (const std::string& kernel : kernels) {
    by_function[head_of(function_name(kernel))].push_back(kernel);
  }
  std::map<std::string, std::string> names;
  std::set<std::string> taken;
  for (const auto& [function, same] : by_function) {
    const bool is_alone = same.size() == 1 && function == function_name(same.front());
    const auto apart = is_alone ? std::vector<std::string>{function} : told_apart(same);
    for (std::size_t i = 0; i < same.size(); ++i) {
      const bool is_free = taken.insert(name_of_pairs(apart[i])).second;
      names[same[i]] = is_free ? apart[i] : same[i];  // two numbers of 16 bits may be equal
    }
  }
  return names;
}

bool is_name_of(const std::string& name, const std::string& kernel) {
  const std::string function = function_name(kernel), head = head_of(function);
  const std::string number = number_of(kernel);
  if (name == kernel || name == head + number) return true;
  if (name.ends_with(number) && name.starts_with(head + (head == function ? "<" : "…")))
    return true;
  return name == function || std::any_of(std::begin(namings), std::end(namings),
                                         [&](Naming naming) { return naming(kernel) == name; });
}

std::string name_of_pairs(const std::string& name) {
  constexpr std::size_t digits = 4;
  const std::size_t number = name.rfind('#');
  if (number == std::string::npos || name.size() - number != digits + 1 ||
      name.find_first_not_of("0123456789abcdef", number + 1) != std::string::npos) {
    return name;
  }
  return name.substr(0, std::min({name.find('<'), name.find("…"), number})) + name.substr(number);
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
