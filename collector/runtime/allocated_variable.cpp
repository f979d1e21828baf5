#include "collector/runtime/allocated_variable.h"

#include <algorithm>
#include <cctype>

namespace warpmeter::runtime {
namespace {

bool is_name(std::string_view text) {
  const auto fits = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_.->:[]+").find(c) != std::string_view::npos;
  };
  const bool begins =
      !text.empty() && (std::isalpha(static_cast<unsigned char>(text[0])) != 0 || text[0] == '_');
  return begins && std::all_of(text.begin(), text.end(), fits);
}

/// The first argument of a call whose parenthesis stands at `open`; empty when it does not end.
std::string first_argument(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (depth == 0 || (c == ',' && depth == 1)) {
      std::string argument;
      for (const char one : text.substr(open + 1, i - open - 1)) {
        if (one != ' ' && one != '\t' && one != '\n') argument += one;
      }
      return argument;
    }
  }
  return "";
}

/// "(void**)&d_a" → "d_a"; "reinterpret_cast<void**>(&x.y)" → "x.y".
std::string without_cast(std::string text) {
  if (const auto end = text.find("_cast<"); end != std::string::npos) {
    const auto open = text.find(">(", end);
    if (open != std::string::npos && text.ends_with(")")) {
      text = text.substr(open + 2, text.size() - open - 3);
    }
  }
  while (text.starts_with("(")) {
    const auto close = text.find(')');
    const bool is_cast = close != std::string::npos && close > 0 && text[close - 1] == '*';
    if (is_cast) {
      text = text.substr(close + 1);
    } else if (text.ends_with(")")) {
      text = text.substr(1, text.size() - 2);
    } else {
      break;
    }
  }
  while (text.starts_with("&") || text.starts_with("*")) text = text.substr(1);
  while (text.starts_with("(") && text.ends_with(")")) text = text.substr(1, text.size() - 2);
  return text;
}

}  // namespace

std::string allocated_variable(std::string_view source) {
  std::string found;
  for (const std::string_view name : {"cudaMalloc", "cudaHostAlloc", "cuMemAlloc", "cuMemHostAlloc",
                                      "cuMemCreate", "cuMemAddressReserve"}) {
    for (std::size_t at = source.find(name); at != std::string_view::npos;
         at = source.find(name, at + 1)) {
      const std::size_t open = source.find('(', at);
      if (open == std::string_view::npos) continue;
      const std::string variable = without_cast(first_argument(source, open));
      if (!is_name(variable) || (!found.empty() && found != variable)) return "";
      found = variable;
    }
  }
  return found;
}

}  // namespace warpmeter::runtime
