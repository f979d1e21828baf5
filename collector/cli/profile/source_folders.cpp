// SPDX-License-Identifier: MIT
#include "collector/cli/profile/source_folders.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/named_files.h"
#include "base/shell_line.h"
#include "base/utf8.h"
#include "base/with_noun.h"
#include "collector/model/input/toolkit.h"
#include "collector/profile/program.h"
#include "reports/record.h"
#include "schema/store.h"

namespace warpmeter::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* files_without_text =
    "SELECT DISTINCT file FROM lines WHERE run_id = :run AND line > 0 AND file NOT IN (SELECT file "
    "FROM lines WHERE run_id = :run AND text <> '') ORDER BY file";

/// Names folders once each, and leaves out those that are none.
class Folders {
 public:
  void add(const fs::path& folder) {
    std::error_code error;
    const fs::path whole = fs::weakly_canonical(fs::absolute(folder, error), error);
    if (error || !fs::is_directory(whole, error)) return;
    if (std::find(all_.begin(), all_.end(), whole) == all_.end()) all_.push_back(whole.string());
  }
  void add_project(const fs::path& folder) {
    add(folder);
    add(project_folder(folder));
  }
  /// The project of a file's folder, and what is installed beside a folder of programs.
  void add_file(const fs::path& file) {
    const fs::path folder = file.has_parent_path() ? file.parent_path() : ".";
    add_project(folder);
    if (folder.filename() != "bin") return;
    for (const char* beside : {"include", "lib"}) add(folder.parent_path() / beside);
  }
  std::vector<std::string> take() { return std::move(all_); }

 private:
  std::vector<std::string> all_;
};

bool is_program_or_script(const std::string& word) {
  std::error_code ignored;
  return fs::is_regular_file(word, ignored) &&
         (word.ends_with(".py") || access(word.c_str(), X_OK) == 0);
}

}  // namespace

std::vector<std::string> source_folders(const std::vector<std::string>& words,
                                        const std::vector<std::string>& named) {
  Folders folders;
  std::error_code error;
  for (const std::string& folder : named) {
    if (!fs::is_directory(folder, error)) {
      throw Error(ExitCode::usage, fmt::format("--source-root '{}' is no folder", folder));
    }
    folders.add(folder);
  }
  folders.add_project(".");
  if (words.empty()) return folders.take();  // nothing is to run
  const fs::path program = profile::find_program(words.front());
  folders.add_file(program);
  folders.add_file(fs::canonical(program, error));  // a virtual environment's python is a link
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (is_program_or_script(words[i])) folders.add_file(words[i]);
  }
  for (const fs::path& toolkit : model::toolkit_folders()) {
    folders.add(toolkit / "include");
    folders.add(toolkit / "targets");
  }
  folders.add("/usr/include");
  return folders.take();
}

std::string unread_sources(const schema::Reader& reader, std::int64_t run_id,
                           const std::vector<std::string>& folders) {
  NamedFiles allowed;
  for (const std::string& folder : folders) allowed.allow(folder);
  const schema::Rows rows = reader.query(files_without_text, {{":run", run_id}});
  std::vector<std::string> files;
  for (const reports::Row& row : reports::each_row(rows)) {
    std::string file = fs::path(row.text("file")).lexically_normal().string();
    std::error_code ignored;
    if (!allowed.allows(file) && fs::is_regular_file(file, ignored)) files.push_back(file);
  }
  if (files.empty()) return "";
  const std::string folder[] = {fs::path(files.front()).parent_path().string()};
  return fmt::format(
      "the text of {}{} is not shown: no folder of the program's project holds {}; name one with "
      "--source-root {}",
      printable(files.front()),
      files.size() == 1 ? "" : fmt::format(" and of {}", with_noun(files.size() - 1, "more file")),
      files.size() == 1 ? "it" : "them", shell_line(folder));
}

}  // namespace warpmeter::cli
