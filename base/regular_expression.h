// SPDX-License-Identifier: MIT
// A regular expression of POSIX (extended, as grep -E has it) that somebody typed. regcomp() writes
// a part out as often as its bounds say and takes stack frames for each parenthesis: a line of text
// could ask for all memory, so its size is limited before.
#pragma once

#include <regex.h>

#include <memory>
#include <string>

namespace warpmeter {

class RegularExpression {
 public:
  /// Throws Error{usage} for text that is none, or that is too large: a clause that names it.
  explicit RegularExpression(const std::string& text);
  /// True if a part of the text has the form.
  bool finds(const std::string& text) const;

 private:
  std::shared_ptr<const regex_t> compiled_;
};

}  // namespace warpmeter
