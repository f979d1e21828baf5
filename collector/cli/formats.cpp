// SPDX-License-Identifier: MIT
#include "collector/cli/formats.h"

#include <fmt/format.h>
#include <unistd.h>

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
  add_choice(
      app, "--format", names, value,
      "How it looks; " + value +
          " when not given; csv has an apostrophe before text (never before a number) that a "
          "spreadsheet would run" +
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

std::string_view format_by_ending(std::string_view file,
                                  std::initializer_list<std::string_view> formats,
                                  std::string_view otherwise) {
  for (const std::string_view format : formats) {
    if (file.ends_with(fmt::format(".{}", format))) return format;
  }
  return otherwise;
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
