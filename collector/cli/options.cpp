// SPDX-License-Identifier: MIT
#include "collector/cli/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "collector/cli/arguments.h"
#include "schema/catalogue.h"

namespace warpmeter::cli {
namespace {

/// The longest of an option's names, as a person would write it: "--size"; a positional's name.
std::string written_name(const std::string& names) {
  const std::size_t comma = names.rfind(',');
  return comma == std::string::npos ? names : names.substr(comma + 1);
}

CLI::Option* add_value(CLI::App& app, const std::string& names, const std::string& type,
                       const std::string& description,
                       const std::function<void(const std::string&)>& take) {
  return app.add_option_function<std::string>(names, take, description)
      ->type_name(type)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

CLI::Option* add_values(CLI::App& app, const std::string& names, const std::string& type,
                        std::vector<std::string>& values, const std::string& description) {
  return app.add_option(names, values, description)
      ->type_name(type)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace

CLI::App& add_command(CLI::App& program, const std::string& name, const std::string& summary,
                      const std::vector<Example>& examples) {
  CLI::App& app = *program.add_subcommand(name, summary);
  app.group("Commands");
  constexpr std::size_t longest = 52;  // a longer command does not push the others' remarks away
  std::size_t width = 0;
  for (const Example& example : examples) {
    if (example.command.size() <= longest) width = std::max(width, example.command.size());
  }
  std::string footer = "Examples:";
  for (const Example& example : examples) {
    footer += fmt::format("\n  {:<{}}  # {}", example.command, width, example.meaning);
  }
  app.footer(footer);
  return app;
}

void add_flag(CLI::App& app, const std::string& names, bool& value,
              const std::string& description) {
  app.add_flag(names, value, description)->disable_flag_override();
}

void add_text(CLI::App& app, const std::string& names, const std::string& type, std::string& value,
              const std::string& description) {
  add_value(app, names, type, description, [&value](const std::string& text) { value = text; });
}

void add_choice(CLI::App& app, const std::string& names, std::vector<std::string> choices,
                std::string& value, const std::string& description) {
  const std::string type = fmt::format("{}", fmt::join(choices, "|"));
  // A person types no positional's name: it is the command that takes the word.
  std::string name = names.starts_with('-') ? written_name(names) : app.get_name();
  add_value(app, names, type, description,
            [&value, name = std::move(name), known = std::move(choices)](std::string text) {
              const bool has_markdown =
                  std::find(known.begin(), known.end(), "markdown") != known.end();
              if (text == "md" && has_markdown) text = "markdown";  // as its files end
              value = choose_word(name, text, known);
            });
}

void add_count(CLI::App& app, const std::string& names, std::int64_t least, std::int64_t most,
               std::int64_t& value, const std::string& description) {
  add_value(app, names, "N", description,
            [&value, name = written_name(names), least, most](const std::string& text) {
              value = whole_number(name, text, least, most);
            });
}

void add_seconds(CLI::App& app, const std::string& names, double& value,
                 const std::string& description) {
  add_value(app, names, "SECONDS", description,
            [&value, name = written_name(names)](const std::string& text) {
              value = positive_seconds(name, text);
            });
}

void add_list(CLI::App& app, const std::string& names, const std::string& type,
              std::vector<std::string>& values, const std::string& description,
              const std::function<std::string(const std::string&)>& translate) {
  app.add_option_function<std::vector<std::string>>(
         names,
         [&values, translate, name = written_name(names)](const std::vector<std::string>& texts) {
           values = split_list(name, texts);
           if (!translate) return;
           for (std::string& value : values) value = translate(value);
         },
         description)
      ->type_name(type)
      ->option_text(fmt::format("{}[,{}...]", type, type))
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
}

void add_metrics(CLI::App& app, std::vector<std::string>& values, const std::string& description) {
  add_list(app, "-m,--metrics", "METRIC", values, description,
           [](const std::string& name) { return schema::Catalogue::get().own_name(name); });
}

void add_repeated(CLI::App& app, const std::string& names, const std::string& type,
                  std::vector<std::string>& values, const std::string& description) {
  add_values(app, names, type, values, description)->option_text(type)->allow_extra_args(false);
}

void add_arguments(CLI::App& app, const std::string& name, std::vector<std::string>& values,
                   const std::string& description) {
  add_values(app, name, name, values, description)->option_text("...");
}

void add_recorded_as(CLI::App& app, std::string& command_line) {
  add_text(app, "--as", "COMMAND", command_line,
           "Store this as the run's command line: for scripts that call warpmeter");
}

void add_database(CLI::App& app, std::string& path, const std::string& description) {
  path = "warpmeter.db";
  add_value(app, "--db", "FILE", description, [&path](const std::string& text) { path = text; })
      ->option_text("FILE (or $WARPMETER_DB)")
      ->envname("WARPMETER_DB");
}

}  // namespace warpmeter::cli
