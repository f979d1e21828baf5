// SPDX-License-Identifier: MIT
// This reads tokens, not grammar: a name is declared where a type stands in front of it and what
// may follow a declared name behind it. "a * B;" may multiply or declare: it declares where `a` is
// known for a type.
#include "collector/family/declared_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <vector>

#include "base/comments.h"
#include "base/words.h"

namespace warpmeter::family {
namespace {

using Tokens = std::vector<std::string>;

template <std::size_t count>
bool is_among(const std::array<std::string_view, count>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_identifier(std::string_view token) {
  return is_of_word(token[0]) && std::isdigit(static_cast<unsigned char>(token[0])) == 0;
}

/// Words and single characters; a string is its quotation marks.
Tokens tokens_of(std::string_view text) {
  Tokens tokens;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t begin = i++;
    if (is_of_word(text[begin])) {
      while (i < text.size() && is_of_word(text[i])) ++i;
      tokens.emplace_back(text.substr(begin, i - begin));
    } else if (text[begin] == '"' || text[begin] == '\'') {
      for (; i < text.size() && text[i] != text[begin] && text[i] != '\n'; ++i) {
        if (text[i] == '\\') ++i;
      }
      ++i;
      tokens.emplace_back(1, text[begin]);
    } else if (std::isspace(static_cast<unsigned char>(text[begin])) == 0) {
      tokens.emplace_back(1, text[begin]);
    }
  }
  return tokens;
}

/// These stand in front of a name that they do not declare.
bool is_no_type(std::string_view word) {
  static constexpr std::array<std::string_view, 14> words = {
      "return", "case",  "goto",    "else", "new",      "delete",    "sizeof",
      "throw",  "using", "alignof", "do",   "operator", "namespace", "co_return"};
  return is_among(words, word);
}

bool is_type_of_language(std::string_view word) {
  static constexpr std::array<std::string_view, 22> words = {
      "float", "double", "int",   "char",     "short",        "long",      "unsigned", "signed",
      "bool",  "void",   "auto",  "half",     "__half",       "half2",     "__half2",  "size_t",
      "const", "uint",   "uchar", "restrict", "__restrict__", "__restrict"};
  static constexpr std::array<std::string_view, 12> vectors = {
      "float", "double", "int",  "uint",  "char",     "uchar",
      "short", "ushort", "long", "ulong", "longlong", "ulonglong"};
  const bool is_vector = word.size() > 1 && word.back() >= '1' && word.back() <= '4' &&
                         is_among(vectors, word.substr(0, word.size() - 1));
  return is_vector || word.ends_with("_t") || is_among(words, word);
}

class Declarations {
 public:
  explicit Declarations(Tokens tokens) : tokens_(std::move(tokens)) {
    for (std::size_t i = 0; i + 1 < tokens_.size(); ++i) {
      static constexpr std::array<std::string_view, 6> makers = {"struct", "class", "union",
                                                                 "enum",   "using", "typename"};
      if (is_among(makers, tokens_[i])) types_.insert(tokens_[i + 1]);
    }
  }

  std::set<std::string> names() {
    for (std::size_t i = 0; i + 1 < tokens_.size(); ++i) {
      if (tokens_[i] == "enum") add_enumerators(i);
      if (i == 0 || !is_identifier(tokens_[i]) || !may_follow(tokens_[i + 1]) ||
          !has_type_before(i))
        continue;
      names_.insert(tokens_[i]);
      add_others(i + 1);
    }
    return std::move(names_);
  }

 private:
  static bool may_follow(std::string_view token) {
    return std::string_view(",)=;[({:>").find(token[0]) != std::string_view::npos;
  }

  bool is_type(const std::string& word) const {
    return is_type_of_language(word) || types_.contains(word);
  }

  bool has_type_before(std::size_t at) const {
    std::size_t before = at - 1;
    const bool is_pointer = tokens_[before] == "*" || tokens_[before] == "&";
    while (before > 0 && (tokens_[before] == "*" || tokens_[before] == "&")) --before;
    const std::string& word = tokens_[before];
    if (is_pointer) return is_type(word) || word == ">";
    if (word == ">") return before > 0 && tokens_[before - 1] != "-";  // "vector<int> B", not a->B
    return is_identifier(word) && !is_no_type(word);
  }

  /// A body closes there; behind the braces of a value comes a comma or a semicolon.
  bool ends_function(std::size_t at) const {
    return tokens_[at] == "}" && tokens_[at + 1] != "," && tokens_[at + 1] != ";";
  }

  /// "float A, *B;" from behind A on.
  void add_others(std::size_t at) {
    int depth = 0;
    for (; at + 1 < tokens_.size(); ++at) {
      const char c = tokens_[at][0];
      if (c == '(' || c == '[' || c == '{') ++depth;
      if (c == ')' || c == ']' || c == '}') --depth;
      if (depth < 0 || (depth == 0 && (c == ';' || ends_function(at)))) return;
      if (depth > 0 || c != ',') continue;
      while (at + 1 < tokens_.size() && tokens_[at + 1] == "*") ++at;
      if (is_identifier(tokens_[at + 1])) names_.insert(tokens_[at + 1]);
    }
  }

  void add_enumerators(std::size_t at) {
    while (at < tokens_.size() && tokens_[at] != "{" && tokens_[at] != ";") ++at;
    for (; at + 1 < tokens_.size() && tokens_[at] != "}" && tokens_[at] != ";"; ++at) {
      const bool begins = tokens_[at] == "{" || tokens_[at] == ",";
      if (begins && is_identifier(tokens_[at + 1])) names_.insert(tokens_[at + 1]);
    }
  }

  Tokens tokens_;
  std::set<std::string> types_, names_;
};

}  // namespace

std::set<std::string> declared_names(const std::string& source) {
  std::set<std::string> names = Declarations(tokens_of(without_commands(source))).names();
  for (const std::string& name : names_in_commands(without_comments(source))) names.erase(name);
  return names;
}

}  // namespace warpmeter::family
