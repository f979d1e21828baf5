// SPDX-License-Identifier: MIT
#include "collector/runtime/image/allocated_variable.h"

#include <algorithm>
#include <cctype>
#include <iterator>

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

constexpr std::string_view allocators[] = {"cudaMalloc",  "cudaHostAlloc",
                                           "cuMemAlloc",  "cuMemHostAlloc",
                                           "cuMemCreate", "cuMemAddressReserve"};

/// Where each call of one begins.
std::vector<std::size_t> calls_in(std::string_view source) {
  std::vector<std::size_t> calls;
  for (std::size_t at = 0; at < source.size(); ++at) {
    const std::string_view rest = source.substr(at);
    const bool is_one = std::any_of(std::begin(allocators), std::end(allocators),
                                    [&](std::string_view name) { return rest.starts_with(name); });
    if (is_one && rest.find('(') != std::string_view::npos) calls.push_back(at);
  }
  return calls;
}

bool has_word(std::string_view text, std::string_view word) {
  const auto is_part = [&](std::size_t at) {
    return at < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
  };
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    if ((at == 0 || !is_part(at - 1)) && !is_part(at + word.size())) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> allocated_variables(std::string_view source) {
  std::vector<std::string> all;
  for (const std::size_t call : calls_in(source)) {
    const std::string variable = without_cast(first_argument(source, source.find('(', call)));
    all.push_back(is_name(variable) ? variable : "");
  }
  return all;
}

/// Each ends before the next begins, and nothing chooses between them.
bool are_in_order(std::string_view source) {
  const std::vector<std::size_t> calls = calls_in(source);
  for (std::size_t i = 1; i < calls.size(); ++i) {
    const std::string_view between = source.substr(calls[i - 1], calls[i] - calls[i - 1]);
    if (between.find(';') == std::string_view::npos && between.find("||") == std::string_view::npos)
      return false;
  }
  const bool chooses = source.find('?') != std::string_view::npos ||
                       source.find("&&") != std::string_view::npos || has_word(source, "else") ||
                       has_word(source, "case");
  if (chooses || calls.empty()) return false;
  // A condition may hold the calls, but not stand before them.
  const std::string_view before = source.substr(0, calls.front());
  const std::string_view behind = source.substr(calls.front());
  return !has_word(behind, "if") && !(has_word(before, "if") && before.find(')') < before.size());
}

std::string assigned_variable(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  const auto ends = [](char c) { return c != '_' && c != '.' && std::isalnum(c) == 0; };
  const auto end = std::find_if(line.begin(), line.end(), ends);
  const std::string_view name = line.substr(0, static_cast<std::size_t>(end - line.begin()));
  std::string_view rest = line.substr(name.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  const bool is_alone = line.find(';') == std::string_view::npos;
  const bool is_assigned = is_alone && rest.starts_with("=") && !rest.starts_with("==");
  return is_assigned ? std::string(name) : "";
}

}  // namespace warpmeter::runtime
