// SPDX-License-Identifier: MIT
#include "collector/cli/report/runs_of_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "collector/cli/usage.h"
#include "schema/merge/merge.h"
#include "schema/store.h"

namespace warpmeter::cli {
namespace {

bool is_database_name(const std::string& text) {
  for (const char* ending : {".db", ".sqlite", ".sqlite3"}) {
    if (text.ends_with(ending)) return true;
  }
  std::error_code ignored;
  return text.find('/') != std::string::npos && std::filesystem::is_regular_file(text, ignored);
}

}  // namespace

std::optional<PlaceOfRun> place_of_run(const std::string& text) {
  if (is_database_name(text)) return PlaceOfRun{text, "last"};
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || !is_database_name(text.substr(0, colon))) return std::nullopt;
  if (colon + 1 == text.size()) {
    throw Error(ExitCode::usage, fmt::format("'{}' names no run after the colon: leave the colon "
                                             "out for the last, or write an id, a "
                                             "beginning of its UUID, a label, last or last~N",
                                             text));
  }
  return PlaceOfRun{text.substr(0, colon), text.substr(colon + 1)};
}

CopiedRuns::CopiedRuns(const std::vector<PlaceOfRun>& places) {
  for (const PlaceOfRun& place : places) {
    std::int64_t run = 0;
    std::string name;
    try {
      const schema::Reader reader(place.database);
      run = reader.find_run(place.run);
      name = fmt::format("{}, {}", place.database, reports::run_name(reader, run));
    } catch (const Error& error) {
      const std::string sentence = naming_other_option(error.what(), "");
      const bool says_where = sentence.find(place.database) != std::string::npos;
      throw Error(error.code(),
                  says_where ? sentence : fmt::format("{}: {}", place.database, sentence));
    }
    const std::int64_t copy = schema::copy_run(place.database, run, database());
    if (const auto same = names_.find(copy); same != names_.end()) {
      throw Error(ExitCode::usage,
                  fmt::format("{} and {} are the same run: name another one, as FILE:RUN",
                              same->second, name));
    }
    names_[copy] = name;
    ids_.push_back(std::to_string(copy));
    originals_.push_back(run);
  }
}

std::string CopiedRuns::database() const { return (folder_.path() / "runs.db").string(); }

}  // namespace warpmeter::cli
