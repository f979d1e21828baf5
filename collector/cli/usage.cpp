// SPDX-License-Identifier: MIT
#include "collector/cli/usage.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cctype>
#include <string>
#include <vector>

#include "base/nearest.h"

namespace warpmeter::cli {
namespace {

/// The subcommand that was typed, or the program itself.
const CLI::App& chosen(const CLI::App& program) {
  const std::vector<CLI::App*> commands = program.get_subcommands();
  return commands.empty() ? program : *commands.front();
}

/// "warpmeter run"
std::string path_of(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return parent == nullptr ? app.get_name()
                           : fmt::format("{} {}", path_of(*parent), app.get_name());
}

std::vector<std::string> command_names(const CLI::App& program) {
  std::vector<std::string> names;
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

Error usage(const CLI::App& app, const std::string& what) {
  return {ExitCode::usage, fmt::format("{} (see: {} --help)", what, path_of(app))};
}

bool has_option(const CLI::App& app, const std::string& name) {
  return app.get_option_no_throw(name) != nullptr;
}

/// A word that `app` did not want.
Error unexpected(const CLI::App& app, const std::string& word) {
  const bool is_program = app.get_parent() == nullptr;
  if (word.size() > 1 && word.front() == '-') {
    const std::string name = word.substr(0, word.find('='));
    if (is_program && &chosen(app) != &app && has_option(chosen(app), name)) {
      return usage(chosen(app), fmt::format("'{}' goes after the command: {} {}", name,
                                            path_of(chosen(app)), name));
    }
    return usage(app, fmt::format("{} has no option '{}'{}", path_of(app), name,
                                  did_you_mean(name, option_names(app))));
  }
  if (is_program) {
    return usage(app, fmt::format("there is no command '{}'{}", word,
                                  did_you_mean(word, command_names(app))));
  }
  return usage(app, fmt::format("{} does not take '{}'", path_of(app), word));
}

/// "--size: 1 required N missing" → "--size", "dry-run was given …" → "--dry-run"
std::string option_of(const std::string& text) {
  const std::string name = text.substr(0, text.find_first_of(": "));
  return name.front() == '-' ? name : "--" + name;
}

}  // namespace

Error usage_error(const CLI::App& program, const CLI::ParseError& refusal) {
  const CLI::App& app = chosen(program);
  if (dynamic_cast<const CLI::ExtrasError*>(&refusal) != nullptr) {
    const std::vector<std::string> before = program.remaining(false);
    if (!before.empty()) return unexpected(program, before.front());
    const std::vector<std::string> after = app.remaining(false);
    if (!after.empty()) return unexpected(app, after.front());
  }
  std::string text = refusal.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&refusal) != nullptr) {
    // The two ways there are: a value is missing, or a flag got one.
    const std::string option = option_of(text);
    const bool flag = text.find("flag override") != std::string::npos;
    return usage(app, fmt::format("{} {}", option, flag ? "takes no value" : "needs a value"));
  }
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.pop_back();
  return usage(app, text);
}

Error out_of_memory(const CLI::App& command) {
  const std::string& name = command.get_name();
  const char* const remedy =
      name == "run"     ? "choose a smaller --size"
      : name == "model" ? "choose smaller buffers, blocks of fewer threads or fewer --threads"
      : name == "query" ? "ask for fewer rows with --limit, or in the SQL"
                        : "end other programs, or use a machine with more";
  return {ExitCode::file, fmt::format("this machine has too little memory for that; {}", remedy)};
}

std::string naming_other_option(std::string sentence, std::string_view option) {
  constexpr std::string_view known = " with --db";
  const std::size_t found = sentence.find(known);
  if (found == std::string::npos) return sentence;
  const std::string other = option.empty() ? "" : fmt::format(" with {}", option);
  return sentence.replace(found, known.size(), other);
}

Error no_command(const CLI::App& program) {
  return usage(program,
               fmt::format("a command is needed: {}", fmt::join(command_names(program), ", ")));
}

}  // namespace warpmeter::cli
