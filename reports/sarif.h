// SPDX-License-Identifier: MIT
// SARIF 2.1.0, the format in which GitHub, VS Code and others read what a tool found: one run of
// warpmeter with its rules and results.
//
// The text depends on its input and the working folder alone: it holds no time and no random id.
// Files below the working folder are named from it, with the base %SRCROOT%. Others have their
// whole address.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warpmeter::reports {

enum class SarifLevel { note, warning, error };

struct SarifRule {
  std::string id;    ///< "gate/gst_efficiency"
  std::string text;  ///< one sentence that is true where nothing is wrong
  std::string help;
  SarifLevel level = SarifLevel::error;  ///< that its results have, where they name none
};

struct SarifPlace {
  std::string file;
  std::int64_t line = 0;  ///< 0: the whole file
  std::string title;      ///< a related place has one: "the kernel"
};

struct SarifResult {
  std::string rule;  ///< an id of the rules
  SarifLevel level = SarifLevel::error;
  std::string message;
  std::string function;  ///< the kernel, or variant; empty: not known
  SarifPlace place;      ///< its file may be empty: not known
  std::vector<SarifPlace> related;
};

struct SarifLog {
  std::vector<SarifRule> rules;  ///< all that was looked for, each once
  std::vector<SarifResult> results;
  std::vector<std::string> notes;     ///< on the run as a whole: "3 of 3 checks hold."
  std::vector<std::string> failures;  ///< reasons why it could not look at everything
};

/// The address of a file, from the folder where it lies: "a b.cu" → {"a%20b.cu", true}; false where
/// it lies outside of the folder, and the address is whole. `folder` is absolute.
struct SarifAddress {
  std::string uri;
  bool is_in_folder = true;
};
SarifAddress sarif_address(const std::string& file, const std::string& folder);

/// The log as JSON; links in a result's message lead to its related places.
std::string render_sarif(const SarifLog& log);

}  // namespace warpmeter::reports
