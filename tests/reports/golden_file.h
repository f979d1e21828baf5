// SPDX-License-Identifier: MIT
// Texts against the files in golden/.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/paths.h"

namespace warpmeter::reports {

inline std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Compares with a file in `folder`. The text of a failing comparison is left in the build
/// directory, to be looked at and copied over the golden file when it is the better one.
inline void expect_golden(const std::string& name, const std::string& actual,
                          const char* folder = "tests/reports/golden") {
  const auto golden = std::filesystem::path(source_dir()) / folder / name;
  if (contents(golden) == actual) return;
  const auto kept = std::filesystem::path(binary_dir()) / "golden" / name;
  std::filesystem::create_directories(kept.parent_path());
  std::ofstream(kept, std::ios::binary) << actual;
  ADD_FAILURE() << "the report differs from the golden file; compare with\n  diff " << golden << " "
                << kept << "\n"
                << actual;
}

/// The report's own part of a page: without the style, the chart library and the script.
inline std::string page_contents(const std::string& page) {
  const std::size_t begin = page.find("<div class=\"layout\">"), end = page.find("</main>");
  if (begin == std::string::npos || end == std::string::npos) return "no page:\n" + page;
  return page.substr(begin, end - begin);
}

}  // namespace warpmeter::reports
