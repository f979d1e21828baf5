#include "collector/cli/usage.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "schema/catalogue.h"

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

/// A word that nothing wanted.
Error unexpected(const CLI::App& program, const std::string& word) {
  const CLI::App& app = chosen(program);
  if (word.size() > 1 && word.front() == '-') {
    const std::string name = word.substr(0, word.find('='));
    return usage(app, fmt::format("{} has no option '{}'{}", path_of(app), name,
                                  schema::did_you_mean(name, option_names(app))));
  }
  if (&app == &program) {
    return usage(app, fmt::format("there is no command '{}'{}", word,
                                  schema::did_you_mean(word, command_names(program))));
  }
  return usage(app, fmt::format("{} does not take '{}'", path_of(app), word));
}

/// "--size: 1 required N missing" → "--size"
std::string_view option_of(std::string_view text) { return text.substr(0, text.find(':')); }

}  // namespace

Error usage_error(const CLI::App& program, const CLI::ParseError& refusal) {
  const CLI::App& app = chosen(program);
  const std::vector<std::string> words = program.remaining(true);
  if (refusal.get_name() == "ExtrasError" && !words.empty()) {
    return unexpected(program, words.front());
  }
  std::string text = refusal.what();
  if (refusal.get_name() == "ArgumentMismatch" && text.rfind('-', 0) == 0) {
    return usage(app, fmt::format("{} needs a value", option_of(text)));
  }
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.pop_back();
  return usage(app, text);
}

Error no_command(const CLI::App& program) {
  return usage(program, fmt::format("{} needs a command: {}", program.get_name(),
                                    fmt::join(command_names(program), ", ")));
}

}  // namespace warpmeter::cli
