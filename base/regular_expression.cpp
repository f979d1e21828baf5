// SPDX-License-Identifier: MIT
#include "base/regular_expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/error.h"

namespace warpmeter {
namespace {

constexpr std::size_t longest = 4096;     // characters
constexpr double largest = 100'000;       // characters, with bounds written out
constexpr const char* end_of_list = "]";  // it may come first in a list, and stands for itself then

/// The place behind a list such as [^]a-z] that begins at `at`.
std::size_t behind_list(const std::string& text, std::size_t at) {
  std::size_t first = at + 1;
  if (first < text.size() && text[first] == '^') ++first;
  const std::size_t end = text.find(end_of_list, first + 1);
  return end == std::string::npos ? text.size() : end + 1;
}

/// The larger number of a bound {m,n}, at least 1; `at`: its brace, and the place behind it after.
double read_bound(const std::string& text, std::size_t& at) {
  double most = 1;
  while (at < text.size() && text[at] != '}') {
    char* end = nullptr;
    most = std::max(most, std::strtod(text.c_str() + at + 1, &end));
    at = std::max(at + 1, static_cast<std::size_t>(end - text.c_str()));
  }
  ++at;
  return most;
}

/// The number of characters once each part is written as often as its bounds say.
double written_out(const std::string& text) {
  std::vector<double> sizes = {0};  // a sum for each open parenthesis
  double last = 0;                  // the size of the part before a bound; it is in the sum
  for (std::size_t at = 0; at < text.size();) {
    const char letter = text[at];
    if (letter == '{' && last > 0) {
      const double bound = read_bound(text, at);
      sizes.back() += last * (bound - 1);
      last *= bound;
      continue;
    }
    if (letter == '(') {
      sizes.push_back(0);
      last = 0;
      ++at;
      continue;
    }
    if (letter == ')' && sizes.size() > 1) {
      last = std::max(1.0, sizes.back());
      sizes.pop_back();
      ++at;
    } else {
      last = 1;
      at = letter == '[' ? behind_list(text, at) : at + (letter == '\\' ? 2 : 1);
    }
    sizes.back() += last;
  }
  double all = 0;
  for (const double size : sizes) all += size;
  return all;
}

}  // namespace

RegularExpression::RegularExpression(const std::string& text) {
  if (text.size() > longest) {
    throw Error(ExitCode::usage,
                fmt::format("the regular expression has {} characters, and more than {} are not "
                            "taken: write a shorter one",
                            text.size(), longest));
  }
  if (written_out(text) > largest) {
    throw Error(ExitCode::usage,
                fmt::format("the bounds in the regular expression '{}' repeat its parts more than "
                            "{:.0f} times: write smaller ones",
                            text, largest));
  }
  auto made = std::make_unique<regex_t>();
  if (const int failure = regcomp(made.get(), text.c_str(), REG_EXTENDED | REG_NOSUB);
      failure != 0) {
    char words[128] = "";
    regerror(failure, made.get(), words, sizeof words);
    throw Error(ExitCode::usage,
                fmt::format("'{}' is no regular expression ({}): mend it", text, words));
  }
  compiled_ = {made.release(), [](const regex_t* regex) {
                 regfree(const_cast<regex_t*>(regex));
                 delete regex;
               }};
}

bool RegularExpression::finds(const std::string& text) const {
  return regexec(compiled_.get(), text.c_str(), 0, nullptr, 0) == 0;
}

}  // namespace warpmeter
