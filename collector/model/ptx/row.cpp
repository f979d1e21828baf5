// SPDX-License-Identifier: MIT
#include "collector/model/ptx/row.h"

#include "collector/model/ptx/row_table.h"
#include "collector/model/ptx/word_table.h"

#include <algorithm>
#include <array>
#include <deque>
#include <unordered_map>
#include <unordered_set>

namespace warpmeter::model::ptx {
namespace {

constexpr std::size_t most_components = 5;  // "cp.async.bulk.prefetch.tensor"

/// True if each word of names and forms is known: a mistyped one would never match.
constexpr bool are_words(std::string_view forms) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= forms.size(); ++i) {
    if (i < forms.size() && std::string_view(".,{}*").find(forms[i]) == std::string_view::npos) {
      continue;
    }
    const std::string_view word = forms.substr(begin, i - begin);
    begin = i + 1;
    if (!word.empty() && table::find_word(word) == Word::unknown) return false;
  }
  return true;
}

constexpr bool is_complete(const Row& row) {
  if (!are_words(row.forms)) return false;
  for (const std::string_view text : {row.names, row.forms}) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '{' && table::closing(text, i) == std::string_view::npos) return false;
    }
  }
  const bool says_why = !row.what.empty() && !row.instead.empty();
  return !row.names.empty() && says_why != row.is_executed() && row.since.ptx >= 10;
}

constexpr bool are_complete() {
  for (std::size_t i = 0; i < row_count; ++i) {
    if (table::rows[i].opcode != static_cast<Opcode>(i) || !is_complete(table::rows[i]))
      return false;
  }
  return true;
}
static_assert(are_complete(),
              "a row of instructions.h lacks a name, a reason or a bracket, or has a word that "
              "words.h has not");

/// The parts of "a,b{c,d},e" between commas outside of brackets.
std::vector<std::string_view> parts_of(std::string_view choices) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= choices.size(); ++i) {
    if (i < choices.size() && choices[i] == '{') ++depth;
    if (i < choices.size() && choices[i] == '}') --depth;
    if (i < choices.size() && (choices[i] != ',' || depth > 0)) continue;
    parts.push_back(choices.substr(begin, i - begin));
    begin = i + 1;
  }
  return parts;
}

/// The first choice of a text: what stands before it, its parts, and what follows.
struct Choice {
  std::string_view before, rest;
  std::vector<std::string_view> parts;  ///< none: the text has no choice
  bool repeats = false;
};

Choice first_choice(std::string_view text) {
  const std::size_t open = text.find('{');
  if (open == std::string_view::npos) return {text, {}, {}, false};
  const std::size_t close = table::closing(text, open);
  Choice choice{text.substr(0, open), text.substr(close + 1),
                parts_of(text.substr(open + 1, close - open - 1)), false};
  choice.repeats = choice.rest.starts_with('*');
  if (choice.repeats) choice.rest.remove_prefix(1);
  return choice;
}

void expand(std::string_view choices, const std::string& before, std::vector<std::string>& all) {
  const Choice choice = first_choice(choices);
  const std::string begun = before + std::string(choice.before);
  if (choice.parts.empty()) {
    all.push_back(begun);
    return;
  }
  if (choice.repeats) expand(choice.rest, begun, all);
  for (const std::string_view part : choice.parts) {
    expand(std::string(part) + std::string(choice.rest), begun, all);
  }
}

/// True if the whole text is one of the forms.
bool matches(std::string_view forms, std::string_view text) {
  const Choice choice = first_choice(forms);
  if (!text.starts_with(choice.before)) return false;
  text.remove_prefix(choice.before.size());
  if (choice.parts.empty()) return text.empty();
  if (choice.repeats && matches(choice.rest, text)) return true;
  for (const std::string_view part : choice.parts) {
    if (part.find('{') != std::string_view::npos) {  // choices within it
      if (matches(std::string(part) + std::string(choice.rest), text)) return true;
      continue;
    }
    if (!text.starts_with(part)) continue;
    const std::string_view left = text.substr(part.size());
    // A choice that repeats begins anew, with itself at the front.
    const std::string_view again = forms.substr(choice.before.size());
    if (matches(choice.repeats ? again : choice.rest, left)) return true;
  }
  return false;
}

using Names = std::unordered_map<std::string_view, Opcode>;

const Names& names() {
  static std::deque<std::string> texts;
  static const Names all = [] {
    Names names;
    for (const Row& row : table::rows) {
      for (std::string& name : expanded(row.names)) {
        names.emplace(texts.emplace_back(std::move(name)), row.opcode);
      }
    }
    return names;
  }();
  return all;
}

}  // namespace

bool computes(const Row& row) {
  switch (row.execution) {
    case Execution::value:
    case Execution::logic:
    case Execution::insert:
    case Execution::select:
    case Execution::set:
    case Execution::set_predicate:
    case Execution::lookup:
    case Execution::convert:
    case Execution::convert_address:
    case Execution::is_in_space:
    case Execution::move:
    case Execution::video:
      return true;
    default:
      return false;
  }
}

const Row& row_of(Opcode opcode) {
  static constexpr Row unknown;
  return opcode == Opcode::unknown ? unknown : table::rows[static_cast<std::size_t>(opcode)];
}

Named find_opcode(std::string_view text) {
  // Prefixes of whole components, the shortest first; the last that is a name wins.
  Named best;
  std::size_t end = 0;
  for (std::size_t i = 0; i < most_components && end < text.size(); ++i) {
    end = std::min(text.find('.', end + (i > 0)), text.size());
    const auto found = names().find(text.substr(0, end));
    if (found != names().end()) best = {found->second, end};
  }
  return best;
}

bool has_form(const Row& row, std::string_view modifiers) {
  const bool is_of_operations =
      row.execution == Execution::value || row.execution == Execution::logic;
  return is_of_operations || matches(row.forms, modifiers);
}

std::vector<std::string> expanded(std::string_view choices) {
  std::vector<std::string> all;
  expand(choices, "", all);
  std::unordered_set<std::string_view> seen;
  std::vector<std::string> each;
  for (const std::string& text : all) {
    if (seen.insert(text).second) each.push_back(text);
  }
  return each;
}

}  // namespace warpmeter::model::ptx
