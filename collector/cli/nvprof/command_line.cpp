// SPDX-License-Identifier: MIT
// The words of nvprof's command line, up to the program.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/nearest.h"
#include "base/words.h"
#include "collector/cli/nvprof/options.h"

namespace warpmeter::cli::nvprof {
namespace {

std::vector<std::string> parts(std::string_view text, char separator) {
  std::vector<std::string> all;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    all.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return all;
}

/// "on|off" → {on, off}; empty where any text will do.
std::vector<std::string> choices_of(const Option& option) {
  const bool is_list = option.value.find_first_of("<,") != std::string_view::npos;
  return option.value.empty() || is_list ? std::vector<std::string>{} : parts(option.value, '|');
}

/// An option under the name that earlier versions of nvprof gave it, which later ones still took.
struct EarlierName {
  std::string_view name, today;
  std::string_view value;  ///< the name stands for this value; empty: the option takes one
};
constexpr EarlierName earlier_names[] = {{"aggregate-mode-off", "aggregate-mode", "off"},
                                         {"output-profile", "export-profile", ""},
                                         {"profile-from-start-off", "profile-from-start", "off"}};

const EarlierName* find_earlier(std::string_view name) {
  for (const EarlierName& earlier : earlier_names) {
    if (earlier.name == name) return &earlier;
  }
  return nullptr;
}

/// The option of the name, or the only one whose name begins so; null: there is none. Throws
/// Error{usage} where several begin so.
const Option* find(std::string_view name) {
  std::vector<const Option*> begin_so;
  for (const Option& option : options()) {
    if (option.name == name) return &option;
    if (!name.empty() && option.name.starts_with(name)) begin_so.push_back(&option);
  }
  if (begin_so.empty()) return nullptr;
  if (begin_so.size() == 1) return begin_so.front();
  std::string all;
  for (const Option* option : begin_so) {
    all += fmt::format("{}--{}", all.empty() ? "" : ", ", option->name);
  }
  throw Error(ExitCode::usage, fmt::format("option '--{}' is ambiguous: {}", name, all));
}

const Option* find(char letter) {
  for (const Option& option : options()) {
    if (option.letter == letter && letter != 0) return &option;
  }
  return nullptr;
}

Error unknown(std::string_view word) {
  std::vector<std::string> names;
  for (const Option& option : options()) names.push_back(fmt::format("--{}", option.name));
  return {ExitCode::usage,
          fmt::format("unrecognized option '{}'{}", word, did_you_mean(word, names))};
}

/// Gives an option its value.
void give(Request& request, const Option& option, const std::string& value) {
  const std::vector<std::string> choices = choices_of(option);
  if (!choices.empty() && std::find(choices.begin(), choices.end(), value) == choices.end()) {
    throw Error(ExitCode::usage, fmt::format("invalid argument '{}' of option --{}: it takes {}",
                                             value, option.name, option.value));
  }
  const std::vector<std::string> refused = parts(option.refused, '|');
  const bool is_refused =
      option.refused == "*" || (!option.refused.empty() &&
                                std::find(refused.begin(), refused.end(), value) != refused.end());
  if (is_refused) {
    throw Error(ExitCode::usage, fmt::format("option --{}{}{} is not supported; instead: {}",
                                             option.name, option.refused == "*" ? "" : " ",
                                             option.refused == "*" ? "" : value, option.instead));
  }
  if (option.apply != nullptr) option.apply(request, value);
}

class Words {
 public:
  Words(std::span<const std::string> words, Request& request) : words_(words), request_(request) {}

  void read() {
    while (at_ < words_.size()) {
      const std::string& word = words_[at_];
      if (word == "--" || word.size() < 2 || word.front() != '-') break;
      ++at_;
      word.starts_with("--") ? take_long(word) : take_letters(word);
    }
    if (at_ < words_.size() && words_[at_] == "--") ++at_;
    request_.words.assign(words_.begin() + static_cast<std::ptrdiff_t>(at_), words_.end());
  }

 private:
  void take_long(const std::string& word) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(2, equals == word.npos ? equals : equals - 2);
    const EarlierName* earlier = find_earlier(name);
    const Option* option = find(earlier == nullptr ? name : earlier->today);
    if (option == nullptr) throw unknown("--" + name);
    const bool has_value = earlier != nullptr && !earlier->value.empty();
    if (option->value.empty() || has_value) {
      if (equals != word.npos) {
        throw Error(ExitCode::usage, fmt::format("option --{} takes no argument", name));
      }
      return give(request_, *option, has_value ? std::string(earlier->value) : "");
    }
    give(request_, *option, equals == word.npos ? next_for(*option) : word.substr(equals + 1));
  }

  /// "-s", "-fo FILE", "-uus"
  void take_letters(const std::string& word) {
    for (std::size_t i = 1; i < word.size(); ++i) {
      const Option* option = find(word[i]);
      if (option == nullptr) throw unknown(fmt::format("-{}", word[i]));
      if (option->value.empty()) {
        give(request_, *option, "");
        continue;
      }
      const std::string rest = word.substr(i + 1);
      return give(request_, *option, rest.empty() ? next_for(*option) : rest);
    }
  }

  std::string next_for(const Option& option) {
    if (at_ == words_.size()) {
      throw Error(ExitCode::usage,
                  fmt::format("option --{} requires an argument: {}", option.name, option.value));
    }
    return words_[at_++];
  }

  std::span<const std::string> words_;
  Request& request_;
  std::size_t at_ = 0;
};

}  // namespace

Request read_command_line(std::span<const std::string> words) {
  Request request;
  Words(words, request).read();
  return request;
}

std::string help_text() {
  std::string text =
      "Usage: nvprof [options] [application] [application-arguments]\n\n"
      "Options:\n";
  for (const Option& option : options()) {
    const std::string letter = option.letter == 0 ? "" : fmt::format("-{}, ", option.letter);
    text += fmt::format("  {}--{}{}{}\n", letter, option.name, option.value.empty() ? "" : " ",
                        option.value);
    if (!option.meaning.empty()) text += fmt::format("        {}\n", option.meaning);
    if (!option.refused.empty()) {
      text += fmt::format("        {}not supported; instead: {}\n",
                          option.refused == "*" ? "" : fmt::format("{} is ", option.refused),
                          option.instead);
    }
  }
  return text;
}

}  // namespace warpmeter::cli::nvprof
