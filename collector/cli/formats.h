// SPDX-License-Identifier: MIT
// --format and what it does to a table.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

#include "reports/table/table.h"

namespace CLI {
class App;
}

namespace warpmeter::cli {

/// --format of a command that prints tables; `value` holds its default.
void add_format(CLI::App& app, std::string& value);

/// The format of --check that is no table.
inline constexpr const char* sarif = "sarif";
/// --format of a command with --check: the tables' formats and sarif.
void add_format_of_findings(CLI::App& app, std::string& value);
/// Throws Error{usage} where SARIF is asked for, and no findings are: it holds nothing else.
void check_format(const std::string& format, bool has_findings_alone);

/// A parsed command without --format whose -o FILE ends with .json, .csv, .html, .md, .sarif or
/// .xml (junit) gets that format, if it has it.
void take_format_of_file(CLI::App& app);

/// The width that a table for `file` is laid out for: the terminal's, or 0 for any.
std::size_t table_width(const std::string& file);

/// CSV as a terminal may show it: a value that would act on the terminal is spelled out there.
/// Other formats, and what goes to a file or a pipe, stay as they are.
std::string shown(std::string_view text, std::string_view format, const std::string& file);

/// The table in a format by name. On a terminal, long text of a `table` is wrapped to its width;
/// `file` is where it goes, empty for standard output.
std::string rendered(const reports::Table& table, const std::string& format,
                     const std::string& file = "");

}  // namespace warpmeter::cli
