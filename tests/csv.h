// SPDX-License-Identifier: MIT
// Plain CSV, as the golden files and the program's own tables without quotes are: cells between
// commas.
#pragma once

#include <istream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace warpmeter {

inline std::vector<std::string> csv_cells(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream text(line);
  for (std::string cell; std::getline(text, cell, ',');) cells.push_back(cell);
  return cells;
}

/// The rows below the heading, by the names in it. A line with more cells than these throws.
inline std::vector<std::map<std::string, std::string>> csv_rows(std::istream& file) {
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> heading = csv_cells(line);
  std::vector<std::map<std::string, std::string>> rows;
  while (std::getline(file, line)) {
    const std::vector<std::string> cells = csv_cells(line);
    auto& row = rows.emplace_back();
    for (std::size_t i = 0; i < cells.size(); ++i) row[heading.at(i)] = cells[i];
  }
  return rows;
}

}  // namespace warpmeter
