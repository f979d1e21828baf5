// SPDX-License-Identifier: MIT
// Messages, help texts and pages may advise only command lines that the program accepts. The test
// reads every string literal of the sources and every page, collects command lines ("warpmeter run
// --lines", "`compare --by variant`") and bare options ("--timing"), and asks the parser. A bare
// option has to be one of each command that the file speaks for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "collector/cli/nvprof/options.h"
#include "collector/cli/options.h"
#include "tests/collector/cli/advice_texts.h"

namespace warpmeter::cli {
namespace {

using ::testing::IsEmpty;
using Words = std::vector<std::string>;

/// The commands that print the messages of a file; the longest prefix decides. Files of the other
/// folders have to name the command.
const std::map<std::string, Words>& speakers() {
  static const Words databases = {"run",   "profile", "model", "report", "explain", "compare",
                                  "check", "history", "query", "runs",   "list",    "doctor"};
  static const std::map<std::string, Words> table = {
      {"base/error", {"query", "profile"}},
      {"collector/cli/arguments", {"run", "profile", "model"}},
      {"collector/cli/backends", {"run"}},
      {"collector/cli/model", {"model"}},
      {"collector/cli/model/doctor", {"doctor"}},
      {"collector/cli/model/explain", {"explain"}},
      {"collector/cli/nvprof", {"nvprof"}},
      {"collector/cli/plot_files", {"report"}},
      {"collector/cli/profile", {"profile"}},
      {"collector/cli/report/check", {"check"}},
      {"collector/cli/report/compare", {"compare"}},
      {"collector/cli/report/history", {"history"}},
      {"collector/cli/report/list", {"list"}},
      {"collector/cli/report/merge", {"merge"}},
      {"collector/cli/report/push", {"push"}},
      {"collector/cli/report/query", {"query"}},
      {"collector/cli/report/report", {"report"}},
      {"collector/cli/report/runs", {"runs"}},
      {"collector/cli/report/runs_of_files", {"compare"}},
      {"collector/cli/request", {"run"}},
      {"collector/cli/request/kernel_words", {"run", "model"}},
      {"collector/cli/request/shapes", {"run", "model", "profile"}},
      {"collector/cli/run", {"run"}},
      {"collector/cli/submit", {"submit"}},
      {"collector/cli/submit/launches", {"run"}},
      {"collector/cli/tables/acceptance", {"model"}},
      {"collector/cli/tables/findings", {"model", "profile"}},
      {"collector/cupti", {"run", "profile"}},
      {"collector/cupti/context", {"run"}},
      {"collector/family", {"run"}},
      {"collector/inject", {"profile"}},
      {"collector/lab", {"submit"}},
      {"collector/lab/dcgm", {"run", "profile"}},
      {"collector/model/check", {"run", "model", "profile"}},
      {"collector/model/check/coverage", {"model"}},
      {"collector/model/counts", {"model"}},
      {"collector/model/explain", {"run", "model", "profile"}},
      {"collector/model/input", {"run", "model"}},
      {"collector/model/input/spec", {"model"}},
      {"collector/model/session/backend", {"run"}},
      {"collector/model/session/session", {"model"}},
      {"collector/profile", {"profile"}},
      {"collector/run", {"run"}},
      {"collector/runtime", {"profile"}},
      {"reports", {"report"}},
      {"reports/best", {"run"}},
      {"reports/compare", {"compare"}},
      {"collector/cli/formats", {"run", "model", "profile"}},
      {"collector/cli/mcp", {"mcp"}},
      {"reports/explain", {"explain"}},
      {"reports/gates", {"check"}},
      {"reports/history", {"history"}},
      {"reports/selector", {"explain"}},
      {"reports/table/stream", {"query"}},
      {"schema", databases},
      {"schema/nvprof_file", {"nvprof"}},
      {"schema/upkeep/maintenance", {"runs"}},
      {"schema/reader", {"query"}},
      {"schema/server", {"push", "pull"}},
      {"schema/server/pull", {"pull"}},
      {"schema/server/push", {"push"}},
      {"schema/server/server_schema", {"push"}},
      {"schema/view_sql", {"run", "model", "profile"}},
      // Other tests ask usage for each command; completion and scripts write for shells.
      {"collector/cli/completion", {}},
      {"collector/cli/submit/job", {}},
      {"collector/cli/usage", {}},
      {"collector/lab/script", {}},
      {"collector/lab/slurm", {}},
  };
  return table;
}

/// Options of other programs that our words name.
const std::set<std::string> foreign = {
    "--cap-add", "--qos",  "--gpus", "--array", "--account", "--pause",         "--resume",
    "--list",    "--time", "--gres", "--help",  "--replace", "--use_fast_math", "--status"};

/// Null: the file speaks for no command.
const Words* speakers_of(const std::string& place) {
  const Words* best = nullptr;
  std::size_t longest = 0;
  for (const auto& [prefix, commands] : speakers()) {
    if (!place.starts_with(prefix) || prefix.size() < longest) continue;
    best = &commands;
    longest = prefix.size();
  }
  return best;
}

// ---- The command lines in them

/// The words of a line as a shell reads them, up to a comment, a pipe or two blanks.
Words shell_words_of(std::string_view line) {
  Words words;
  std::string word;
  char quote = 0;
  bool is_open = false;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    const char c = i < line.size() ? line[i] : ' ';
    if (quote != 0 && i < line.size()) {
      if (c == quote)
        quote = 0;
      else
        word += c;
    } else if (c == '\'' || c == '"') {
      quote = c;
      is_open = true;
    } else if (c == ' ' || c == '\n') {
      if (word == "|" || word == "<" || word == ">" || word == "&&" || word == "#") return words;
      if (is_open || !word.empty()) words.push_back(word);
      word.clear();
      is_open = false;
      if (c == '\n' || (i + 1 < line.size() && line[i + 1] == ' ')) return words;
    } else {
      word += c;
    }
  }
  return words;
}

class Parser {
 public:
  Parser() : app_("", "warpmeter") {
    app_.require_subcommand(0, 1);
    app_.set_version_flag("--version", "");
    commands_ = add_commands(app_, {"warpmeter"});
  }

  bool is_command(const std::string& word) const { return command(word) != nullptr; }

  bool has(const std::string& command_name, const std::string& option) const {
    if (command_name == "nvprof") return is_of_nvprof(option);
    return command(command_name)->get_option_no_throw(option) != nullptr;
  }

  /// The sentence of refusal; empty when the words are accepted. A value that stands for any other
  /// (N, FILE, {}) or is left open is replaced by one that the option takes.
  std::string refusal(Words words) {
    const CLI::App* const app = command(words[0]);
    // "list kernels|metrics": each of them may stand there.
    for (std::string& word : words) word.resize(std::min(word.find('|'), word.size()));
    for (std::size_t i = 1; i < words.size(); ++i) {
      const CLI::Option* const option = option_of(*app, words[i]);
      if (option == nullptr || !takes_value(*option) || words[i].find('=') != std::string::npos) {
        continue;
      }
      if (i + 1 == words.size()) words.push_back("{}");
      ++i;
      if (stands_for_any(words[i])) words[i] = sample(*option, words[i]);
    }
    words.insert(words.begin(), "warpmeter");
    const std::size_t count = words_before_program(app_, words);
    std::vector<const char*> typed;
    for (std::size_t i = 0; i < count; ++i) typed.push_back(words[i].c_str());
    try {
      app_.parse(static_cast<int>(count), typed.data());
    } catch (const CLI::CallForHelp&) {
    } catch (const CLI::ParseError& error) {
      return error.what();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  /// How many of `words` are surely of the command line, in a sentence: its options with values.
  std::size_t options_at_the_beginning(const Words& words) const {
    const CLI::App& app = *command(words[0]);
    std::size_t i = 1;
    while (i < words.size() && words[i].size() > 1 && words[i][0] == '-') {
      const CLI::Option* const option = option_of(app, words[i]);
      if (option != nullptr && takes_value(*option) && words[i].find('=') == std::string::npos) ++i;
      ++i;
    }
    return std::min(i, words.size());
  }

 private:
  /// nvprof's command line has its own list of options.
  static bool is_of_nvprof(const std::string& option) {
    const auto options = nvprof::options();
    return std::any_of(options.begin(), options.end(), [&](const nvprof::Option& known) {
      return option == "--" + std::string(known.name);
    });
  }

  const CLI::App* command(const std::string& name) const {
    for (const CLI::App* each : app_.get_subcommands([](const CLI::App*) { return true; })) {
      if (each->get_name() == name) return each;
    }
    return nullptr;
  }
  static const CLI::Option* option_of(const CLI::App& app, const std::string& word) {
    return word[0] == '-' ? app.get_option_no_throw(word.substr(0, word.find('='))) : nullptr;
  }
  static bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

  static bool stands_for_any(const std::string& value) {
    return value.find('{') != std::string::npos || value.find("…") != std::string::npos ||
           std::all_of(value.begin(), value.end(),
                       [](unsigned char c) { return !std::islower(c); });
  }

  static std::string sample(const CLI::Option& option, const std::string& value) {
    const std::string type = option.get_type_name();
    if (type.find('|') != std::string::npos) return type.substr(0, type.find('|'));
    const bool is_number = type == "N" || type == "SECONDS";
    return is_number && value.find_first_of("0123456789") == std::string::npos ? "1" : value;
  }

  CLI::App app_;
  std::vector<Command> commands_;  ///< hold what the options fill
};

bool ends_sentence(char c) { return c == ')' || c == ';' || c == ',' || c == '.' || c == ':'; }

/// In a sentence: the words up to punctuation.
Words words_of_clause(std::string_view text) {
  Words words;
  for (std::string& word : shell_words_of(text)) {
    bool is_last = false;
    while (!word.empty() && ends_sentence(word.back())) {
      word.pop_back();
      is_last = true;
    }
    if (!word.empty()) words.push_back(std::move(word));
    if (is_last) break;
  }
  return words;
}

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '/';
}

class Reader {
 public:
  Reader(Parser& parser, const Text& text) : parser_(parser), text_(text) {}

  /// The mistakes in the text's advice.
  Words mistakes() {
    for (std::size_t at = 0; at < text_.text.size(); ++at) {
      if (at > 0 && is_word_character(text_.text[at - 1])) continue;
      std::string_view rest(text_.text);
      rest.remove_prefix(at);
      if (rest.data() < covered_) continue;
      const bool is_named = rest.starts_with("warpmeter ");
      if (is_named) rest.remove_prefix(std::string_view("warpmeter ").size());
      const std::size_t length =
          std::min(rest.find_first_not_of("abcdefghijklmnopqrstuvwxyz"), rest.size());
      const std::string first(rest.substr(0, length));
      const bool is_quoted = at > 0 && text_.text[at - 1] == '`';
      const bool is_whole = at == 0 || text_.text[at - 1] == '\n';
      if (is_named && is_quoted && !first.empty() && !parser_.is_command(first)) {
        found_.push_back(text_.place + ": there is no command '" + first + "'");
      }
      if (is_of_nsys(at)) {
        covered_ = rest.data() + std::min(rest.find_first_of(";:`\n"), rest.size());
      } else if (parser_.is_command(first) && rest.size() > length && rest[length] == ' ') {
        command_line(rest, is_named, is_quoted, is_whole);
      } else if (rest.starts_with("--") && rest.size() > 2 && std::islower(rest[2])) {
        bare_option(at, rest);
      }
    }
    return std::move(found_);
  }

 private:
  /// NVIDIA's Nsight Systems has a command of a name of ours: nsys profile.
  bool is_of_nsys(std::size_t at) const {
    return std::string_view(text_.text).substr(0, at).ends_with("nsys ");
  }

  void command_line(std::string_view rest, bool is_named, bool is_quoted, bool is_whole) {
    Words words;
    if (is_quoted) {
      words = shell_words_of(rest.substr(0, rest.find('`')));
    } else if (is_named && is_whole) {
      words = shell_words_of(rest);
    } else {
      words = words_of_clause(rest.substr(0, rest.find('`')));
      words.resize(parser_.options_at_the_beginning(words));
      if (words.size() < 2) return;
      const std::string option = words[1].substr(0, words[1].find('='));
      if (!is_named && foreign.contains(option)) return;  // docker run --gpus
    }
    const auto is_open = [](const std::string& word) { return word == "…" || word == "\\"; };
    std::erase_if(words, is_open);
    covered_ = rest.data();
    for (const std::string& word : words) covered_ += word.size() + 1;
    const std::string refusal = parser_.refusal(words);
    if (refusal.empty()) return;
    std::string line;
    for (const std::string& word : words) line += " " + word;
    found_.push_back(text_.place + ":" + line + ": " + refusal);
  }

  void bare_option(std::size_t at, std::string_view rest) {
    // A lone option is a word for another program, or declares one of ours.
    const bool is_lone = text_.text.find(' ') == std::string::npos;
    if (is_lone || (at > 0 && text_.text[at - 1] == '!')) return;  // or a comment of HTML
    const std::size_t end =
        std::min(rest.find_first_not_of("abcdefghijklmnopqrstuvwxyz_-0123456789"), rest.size());
    const std::string option(rest.substr(0, end));
    if (foreign.contains(option)) return;
    const Words* const commands = speakers_of(text_.place);
    // A page says of what command it speaks; its options are those of any.
    if (text_.place.ends_with(".md")) return;
    if (commands == nullptr) {
      found_.push_back(text_.place + ": say which command has " + option);
      return;
    }
    for (const std::string& command : *commands) {
      if (parser_.has(command, option)) continue;
      found_.push_back(text_.place + ": " + command + " has no option " + option + ": " +
                       text_.text.substr(0, 100));
    }
  }

  Parser& parser_;
  const Text& text_;
  Words found_;
  const char* covered_ = nullptr;  ///< up to there a command line was checked
};

TEST(Advice, OfTheProgramIsAcceptedByIt) {
  Parser parser;
  Words mistakes;
  for (const Text& text : program_texts()) {
    for (std::string& mistake : Reader(parser, text).mistakes()) {
      mistakes.push_back(std::move(mistake));
    }
  }
  EXPECT_THAT(mistakes, IsEmpty());
}

TEST(Advice, OfThePagesIsAcceptedByTheProgram) {
  Parser parser;
  Words mistakes;
  for (const Text& text : page_texts()) {
    for (std::string& mistake : Reader(parser, text).mistakes()) {
      mistakes.push_back(std::move(mistake));
    }
  }
  EXPECT_THAT(mistakes, IsEmpty());
}

}  // namespace
}  // namespace warpmeter::cli
