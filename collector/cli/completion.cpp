// SPDX-License-Identifier: MIT
// `warpmeter completion`: a script for the shell, generated from the program's own options, so that
// there is no second list to keep. The type in the help says what an argument can be: "a|b|c" these
// words, FILE a path, SELECTOR and METRIC what `warpmeter list` prints now, SELECTOR|FILE that or a
// file that describes or holds kernels.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/output.h"
#include "collector/cli/options.h"

namespace warpmeter::cli {
namespace {

/// Types whose words only the program knows, and the list that prints them in its first column.
constexpr std::pair<std::string_view, std::string_view> listed[] = {{"SELECTOR", "kernels"},
                                                                    {"METRIC", "metrics"}};

std::string_view list_of(std::string_view type) {
  for (const auto& [name, list] : listed) {
    if (type.substr(0, name.size()) == name) return list;
  }
  return "";
}

bool is_file(std::string_view type) { return type == "FILE"; }
bool is_program(std::string_view type) { return type == "PROGRAM"; }
bool is_kernels(std::string_view type) { return type == "SELECTOR|FILE"; }
bool is_choice(std::string_view type) {
  return type.find('|') != std::string_view::npos && !is_kernels(type);
}

std::string words_of(std::string type) {
  std::replace(type.begin(), type.end(), '|', ' ');
  return type;
}

std::vector<const CLI::Option*> options_of(const CLI::App& app, bool positional) {
  return app.get_options(
      [positional](const CLI::Option* option) { return option->get_positional() == positional; });
}

std::vector<const CLI::App*> commands_of(const CLI::App& program) {
  return program.get_subcommands([](const CLI::App*) { return true; });
}

/// "-b" and "--backend"
std::vector<std::string> written_names(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

std::string all_written_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : options_of(app, false)) {
    for (std::string& name : written_names(*option)) names.push_back(std::move(name));
  }
  return fmt::format("{}", fmt::join(names, " "));
}

/// The bash statement that offers what an argument of this type can be.
std::string bash_offer(const std::string& type) {
  if (is_choice(type)) return fmt::format("words=\"{}\"", words_of(type));
  if (is_file(type) || is_program(type)) return "files=1";
  const std::string_view list = list_of(type);
  if (list.empty()) return "words=\"\"";
  return fmt::format(
      "words=$(\"${{COMP_WORDS[0]}}\" list {} --format csv 2>/dev/null | "
      "sed 1d | cut -d, -f1){}",
      list,
      is_kernels(type)
          ? "; words+=\" $(compgen -d -S / -- \"$current\"; compgen -f -- \"$current\" "
            "| sed -nE '/\\.(cu|ptx|cubin|ya?ml|json)$/p' | sort)\""
          : "");
}

std::string bash_cases_of_values(const CLI::App& command) {
  std::string text;
  for (const CLI::Option* option : options_of(command, false)) {
    if (option->get_items_expected_max() == 0) continue;
    std::vector<std::string> patterns;
    for (const std::string& name : written_names(*option)) {
      patterns.push_back(fmt::format("\"{} {}\"", command.get_name(), name));
    }
    text += fmt::format("    {}) {} ;;\n", fmt::join(patterns, " | "),
                        bash_offer(option->get_type_name()));
  }
  return text;
}

std::string bash(const CLI::App& program) {
  std::vector<std::string> names;
  std::string values, options, positionals;
  for (const CLI::App* command : commands_of(program)) {
    names.push_back(command->get_name());
    values += bash_cases_of_values(*command);
    options += fmt::format("        {}) words=\"{}\" ;;\n", command->get_name(),
                           all_written_names(*command));
    for (const CLI::Option* positional : options_of(*command, true)) {
      positionals += fmt::format("        {}) {} ;;\n", command->get_name(),
                                 bash_offer(positional->get_type_name()));
    }
  }
  return fmt::format(R"(_warpmeter() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} words="" files=""
  local command=${{COMP_WORDS[1]}} previous=${{COMP_WORDS[COMP_CWORD-1]}}
  if [ "$COMP_CWORD" -le 1 ]; then
    COMPREPLY=($(compgen -W "{} {}" -- "$current"))
    return
  fi
  case "$command $previous" in
{}    *)
      case "$current" in
      -*)
        case "$command" in
{}        esac ;;
      *)
        case "$command" in
{}        esac ;;
      esac ;;
  esac
  if [ -n "$files" ]; then
    COMPREPLY=($(compgen -f -- "$current"))
  else
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  fi
}}
complete -F _warpmeter warpmeter
)",
                     fmt::join(names, " "), all_written_names(program), values, options,
                     positionals);
}

/// Text in a quoted argument of zsh's _arguments, where brackets and colons mean something.
std::string zsh_escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\'') {
      escaped += "'\\''";
      continue;
    }
    if (c == '[' || c == ']' || c == ':' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

/// The action of zsh's _arguments for an argument of this type.
std::string zsh_offer(const std::string& type) {
  if (is_choice(type)) return fmt::format("({})", words_of(type));
  if (is_file(type)) return "_files";
  if (is_kernels(type)) return "_warpmeter_kernels";
  const std::string_view list = list_of(type);
  return list.empty() ? " " : fmt::format("_warpmeter_listed {}", list);
}

std::string zsh_option(const CLI::Option& option) {
  std::string value;
  if (option.get_items_expected_max() != 0) {
    value = fmt::format(":{}:{}", zsh_escaped(option.get_type_name()),
                        zsh_offer(option.get_type_name()));
  }
  const std::vector<std::string> names = written_names(option);
  const bool repeats = option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
  std::string text;
  for (const std::string& name : names) {
    const std::string others = repeats ? "*" : fmt::format("({})", fmt::join(names, " "));
    text += fmt::format(" \\\n        '{}{}[{}]{}'", others, name,
                        zsh_escaped(option.get_description()), value);
  }
  return text;
}

std::string zsh_positional(const CLI::Option& option) {
  const std::string& type = option.get_type_name();
  if (is_program(type)) return " \\\n        '*::program and arguments:_normal'";
  return fmt::format(" \\\n        '*:{}:{}'", zsh_escaped(type), zsh_offer(type));
}

std::string zsh(const CLI::App& program) {
  std::string names, cases, options;
  for (const CLI::Option* option : options_of(program, false)) options += zsh_option(*option);
  for (const CLI::App* command : commands_of(program)) {
    names += fmt::format("        '{}:{}'\n", command->get_name(),
                         zsh_escaped(command->get_description()));
    cases += fmt::format("    {})\n      _arguments -S", command->get_name());
    for (const CLI::Option* option : options_of(*command, false)) cases += zsh_option(*option);
    for (const CLI::Option* option : options_of(*command, true)) cases += zsh_positional(*option);
    cases += " ;;\n";
  }
  // Works from a folder of $fpath, where the file is the function's body, and by `source`.
  return fmt::format(R"zsh(#compdef warpmeter
_warpmeter_listed() {{
  compadd "${{(@)argv[1,-2]}}" -- ${{(f)"$(warpmeter list $argv[-1] --format csv 2>/dev/null | sed 1d | cut -d, -f1)"}}
}}
_warpmeter_kernels() {{
  _warpmeter_listed kernels
  _files -g "*.(cu|ptx|cubin|yaml|yml|json)"
}}
_warpmeter() {{
  local state line curcontext=$curcontext
  _arguments -C{} \
        '1:command:->command' '*::argument:->arguments'
  case $state in
  command)
    local -a commands=(
{}    )
    _describe command commands ;;
  arguments)
    case $line[1] in
{}    esac ;;
  esac
}}
if [ "$funcstack[1]" = _warpmeter ]; then
  _warpmeter "$@"
else
  compdef _warpmeter warpmeter
fi
)zsh",
                     options, names, cases);
}

std::string fish_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

/// The part of a fish `complete` line that says what an argument of this type can be.
std::string fish_offer(const std::string& type) {
  if (is_choice(type)) return fmt::format(" -x -a {}", fish_quoted(words_of(type)));
  if (is_file(type) || is_program(type)) return " -F";
  const std::string_view list = list_of(type);
  if (list.empty()) return " -x";
  return fmt::format(" {} -a '(warpmeter list {} --format csv 2>/dev/null | sed 1d | cut -d, -f1)'",
                     is_kernels(type) ? "-F" : "-x", list);
}

std::string fish_line(const std::string& condition, const CLI::Option& option) {
  std::string line = fmt::format("complete -c warpmeter -n {}", fish_quoted(condition));
  for (const std::string& name : option.get_snames()) line += " -s " + name;
  for (const std::string& name : option.get_lnames()) line += " -l " + name;
  if (option.get_items_expected_max() != 0) line += fish_offer(option.get_type_name());
  return line + fmt::format(" -d {}\n", fish_quoted(option.get_description()));
}

std::string fish(const CLI::App& program) {
  const std::string no_command = "__fish_use_subcommand";
  std::string text = "complete -c warpmeter -f\n";
  for (const CLI::Option* option : options_of(program, false))
    text += fish_line(no_command, *option);
  for (const CLI::App* command : commands_of(program)) {
    text += fmt::format("complete -c warpmeter -n {} -a {} -d {}\n", no_command,
                        command->get_name(), fish_quoted(command->get_description()));
    const std::string given = "__fish_seen_subcommand_from " + command->get_name();
    for (const CLI::Option* option : options_of(*command, false)) text += fish_line(given, *option);
    for (const CLI::Option* option : options_of(*command, true)) text += fish_line(given, *option);
  }
  return text;
}

ExitCode run(const CLI::App& program, const std::string& shell) {
  if (shell.empty()) {
    throw Error(ExitCode::usage,
                "completion needs the name of a shell: bash, zsh or fish (see: warpmeter "
                "completion --help)");
  }
  Output output;
  output.write(shell == "bash" ? bash(program) : shell == "zsh" ? zsh(program) : fish(program));
  output.finish();
  return ExitCode::done;
}

}  // namespace

Command add_completion(CLI::App& program) {
  CLI::App& app = add_command(
      program, "completion", "Print a completion script for a shell",
      {{"source <(warpmeter completion bash)", "for this shell; put it into ~/.bashrc to keep it"},
       {"warpmeter completion zsh > ~/.zfunc/_warpmeter", "a folder of zsh's $fpath"},
       {"warpmeter completion fish > ~/.config/fish/completions/warpmeter.fish", "to keep it"}});
  auto shell = std::make_shared<std::string>();
  add_choice(app, "SHELL", {"bash", "zsh", "fish"}, *shell, "The shell");
  return {&app, [&program, shell] { return run(program, *shell); }};
}

}  // namespace warpmeter::cli
