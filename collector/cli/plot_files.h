// SPDX-License-Identifier: MIT
// The folder of plots and pictures beside a markdown file.
#pragma once

#include <string>
#include <vector>

#include "base/file_claims.h"
#include "reports/document.h"

namespace warpmeter::cli {

/// "report_files" for report.md; empty where `file` is no file that a folder can be beside.
std::string plot_folder_beside(const std::string& file);

/// Writes them into `folder` beside `file`. Throws Error{file}.
void write_plots(const std::string& file, const std::string& folder,
                 const std::vector<reports::PlotFile>& plots, FileClaims& files);

}  // namespace warpmeter::cli
