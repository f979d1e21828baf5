// SPDX-License-Identifier: MIT
#include "collector/cli/formats.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/utf8.h"
#include "collector/cli/options.h"
#include "collector/cli/terminal.h"

namespace warpmeter::cli {

namespace {

void add_formats(CLI::App& app, std::string& value, std::initializer_list<const char*> more,
                 const char* remark) {
  const auto tables = reports::format_names();
  std::vector<std::string> names(tables.begin(), tables.end());
  names.insert(names.end(), more.begin(), more.end());
  add_choice(app, "--format", names, value,
             "The format (default: by FILE's ending, else " + value +
                 "); in csv, text that a spreadsheet would take for a formula begins with an "
                 "apostrophe" +
                 remark);
}

}  // namespace

void add_format(CLI::App& app, std::string& value) { add_formats(app, value, {}, ""); }

void add_format_of_findings(CLI::App& app, std::string& value) {
  add_formats(app, value, {sarif}, "; sarif is for the findings of --check");
}

void check_format(const std::string& format, bool has_findings_alone) {
  if (format != sarif || has_findings_alone) return;
  throw Error(
      ExitCode::usage,
      "--format sarif holds the findings of --check and no figures: give --check, and leave "
      "out what shows figures");
}

void take_format_of_file(CLI::App& app) {
  static constexpr std::pair<std::string_view, std::string_view> formats[] = {
      {".json", "json"},   {".csv", "csv"},   {".html", "html"},
      {".md", "markdown"}, {".sarif", sarif}, {".xml", "junit"}};
  CLI::Option* const format = app.get_option_no_throw("--format");
  const CLI::Option* const output = app.get_option_no_throw("--output");
  if (format == nullptr || output == nullptr || format->count() > 0 || output->count() == 0) return;
  const std::string& file = output->results().back();
  const std::string choices = "|" + format->get_type_name() + "|";  // as add_choice() writes them
  for (const auto& [ending, name] : formats) {
    if (!file.ends_with(ending) || choices.find(fmt::format("|{}|", name)) == std::string::npos) {
      continue;
    }
    format->add_result(std::string(name));
    format->run_callback();
  }
}

std::size_t table_width(const std::string& file) {
  const bool to_terminal = (file.empty() || file == "-") && isatty(STDOUT_FILENO) == 1;
  return to_terminal ? static_cast<std::size_t>(terminal_width(STDOUT_FILENO)) : 0;
}

std::string shown(std::string_view text, std::string_view format, const std::string& file) {
  const bool is_at_risk = format == "csv" && table_width(file) > 0;
  return is_at_risk ? printable_lines(text) : std::string(text);
}

std::string rendered(const reports::Table& table, const std::string& format,
                     const std::string& file) {
  return shown(reports::render(table, *reports::parse_format(format), table_width(file)), format,
               file);
}

}  // namespace warpmeter::cli
