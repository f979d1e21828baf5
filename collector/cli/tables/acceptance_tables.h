// SPDX-License-Identifier: MIT
// The output of `warpmeter model --accepts`: which kernels of files can be run, and why others
// cannot.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "collector/model/input/compile_options.h"
#include "reports/table/table.h"

namespace warpmeter::cli {

/// A row a kernel, or a reason against it. The last column, `header`, is "yes" for those of
/// headers.
struct AcceptanceTables {
  reports::Table own;         ///< and files that cannot be read
  reports::Table of_headers;  ///< outside of the file's folder: CUB, Thrust
  /// `file` where a file cannot be read, else `usage` where one holds no kernel or a mistake.
  ExitCode code = ExitCode::done;
};

AcceptanceTables acceptance_tables(const std::vector<std::string>& paths,
                                   const model::CompileOptions& options);

/// For people one's own first, and those of headers under a line that says so; for programs one
/// table. `file` is where it goes, empty for standard output.
std::string rendered(AcceptanceTables tables, const std::string& format, const std::string& file);

}  // namespace warpmeter::cli
