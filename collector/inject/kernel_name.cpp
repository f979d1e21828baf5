#include "collector/inject/kernel_name.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace warpmeter::inject {
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

}  // namespace warpmeter::inject
