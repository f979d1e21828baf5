// SPDX-License-Identifier: MIT
// warpmeter.toml: the gates of a repository.
//
//   [check]
//   gates = [
//     "transpose/*: shared_load_transactions_per_request <= 2",
//     { gate = "gst_efficiency >= 90", because = "stores are coalesced" },
//   ]
//   expectations = true       # those of the catalogue too
//   baseline = "main.db"      # beside this file, or a run of the database
//   max_slowdown = "3%"
//   significance = "0.1%"     # of a slow-down, as for compare
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "reports/gates/expression.h"

namespace warpmeter::reports {

struct Config {
  std::vector<Gate> gates;
  std::optional<bool> expectations;
  std::optional<std::string> baseline;
  std::optional<double> max_slowdown, significance;
};

/// Where the warpmeter.toml is that holds in `folder`: there, or in the nearest folder above, up to
/// the one that holds the repository's .git (above that it would be another one's), as a path from
/// `folder`: "../../warpmeter.toml". Nothing where there is none.
std::optional<std::string> find_config(const std::filesystem::path& folder);

/// Throws Error{file} when the file cannot be read; Error{usage} with line and column for what is
/// no TOML, an unknown key, a value of a wrong type or a gate that cannot be read.
Config read_config(const std::string& path);

/// "3%" or "3" → 0.03. Throws Error{usage}; `name` is what the text was given for.
double parse_percentage(std::string_view name, std::string_view text);
/// The same, and more than 0 % and less than 100 %.
double parse_significance(std::string_view name, std::string_view text);

}  // namespace warpmeter::reports
