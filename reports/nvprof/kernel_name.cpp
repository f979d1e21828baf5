// SPDX-License-Identifier: MIT
#include "reports/nvprof/kernel_name.h"

#include <fmt/format.h>

#include <cctype>
#include <cstddef>
#include <string_view>
#include <utility>

namespace warpmeter::reports::nvprof {
namespace {

constexpr std::pair<std::string_view, std::string_view> literal_types[] = {
    {"", "int"},       {"u", "unsigned int"},      {"l", "long"}, {"ul", "unsigned long"},
    {"ll", "__int64"}, {"ull", "unsigned __int64"}};

/// "32u" → "unsigned int=32", "true" → "bool=1", "(Mode)1" → "Mode=1"; else the text itself.
std::string argument(std::string_view text) {
  if (text == "true") return "bool=1";
  if (text == "false") return "bool=0";
  if (text.starts_with('(')) {
    const std::size_t end = text.find(')');
    if (end == std::string_view::npos || end + 1 >= text.size()) return std::string(text);
    return fmt::format("{}={}", text.substr(1, end - 1), text.substr(end + 1));
  }
  std::size_t digits = text.starts_with('-') ? 1 : 0;
  const std::size_t begin = digits;
  while (digits < text.size() && std::isdigit(static_cast<unsigned char>(text[digits])) != 0) {
    ++digits;
  }
  if (digits == begin) return std::string(text);
  for (const auto& [suffix, type] : literal_types) {
    if (text.substr(digits) == suffix) return fmt::format("{}={}", type, text.substr(0, digits));
  }
  return std::string(text);
}

/// True at the end of a word "const" or "volatile".
bool ends_with_qualifier(std::string_view text) {
  return text.ends_with(" const") || text.ends_with(" volatile") || text == "const";
}

/// Reads the arguments of a template from behind its '<'; each one may hold templates again.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::string name() {
    std::string all;
    while (at_ < text_.size()) take(all);
    return all;
  }

 private:
  void take(std::string& to) {
    const char c = text_[at_++];
    if (c == '<' && !to.ends_with("operator") && !to.ends_with("operator<")) {
      to += '<' + arguments();
      return;
    }
    if ((c == '*' || c == '&') && ends_with_qualifier(to)) to += ' ';
    to += c;
  }

  std::string arguments() {
    std::string all, one;
    int parentheses = 0;
    const auto finish = [&](std::string_view end) {
      all += argument(one);
      all += end;
      one.clear();
    };
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '(') ++parentheses;
      if (c == ')') --parentheses;
      if (c == '>' && parentheses == 0) {
        ++at_;
        while (one.ends_with(' ')) one.pop_back();  // "> >"
        finish(">");
        return all;
      }
      if (c == ',' && parentheses == 0) {
        ++at_;
        if (at_ < text_.size() && text_[at_] == ' ') ++at_;
        finish(", ");
        continue;
      }
      take(one);
    }
    return all + one;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::string kernel_name(const std::string& demangled) { return Reader(demangled).name(); }

}  // namespace warpmeter::reports::nvprof
