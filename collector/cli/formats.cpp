// SPDX-License-Identifier: MIT
#include "collector/cli/formats.h"

#include <fmt/format.h>
#include <unistd.h>

#include <vector>

#include "base/utf8.h"
#include "collector/cli/options.h"
#include "collector/cli/terminal.h"

namespace warpmeter::cli {

void add_format(CLI::App& app, std::string& value) {
  const auto names = reports::format_names();
  add_choice(
      app, "--format", std::vector<std::string>(names.begin(), names.end()), value,
      "How it looks; " + value +
          " when not given; csv has an apostrophe before text (never before a number) that a "
          "spreadsheet would run");
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
