// SPDX-License-Identifier: MIT
#include "collector/model/input/includes.h"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "collector/model/input/kernel_file.h"

namespace warpmeter::model {
namespace {

namespace fs = std::filesystem;

/// The name between the quotes or brackets of an #include, or of a #define, which an #include may
/// use.
struct NamedFile {
  std::string_view name;  ///< empty for another line
  bool is_included = false;
};

NamedFile name_in(std::string_view line) {
  const auto skip_spaces = [&] {
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
  };
  skip_spaces();
  if (!line.starts_with('#')) return {};
  line.remove_prefix(1);
  skip_spaces();
  constexpr std::string_view include = "include", define = "define";
  const bool is_included = line.starts_with(include);
  if (!is_included && !line.starts_with(define)) return {};
  line.remove_prefix(is_included ? include.size() : define.size());
  skip_spaces();
  if (!is_included) {
    line.remove_prefix(std::min(line.size(), line.find_first_of(" \t")));  // the macro's name
    skip_spaces();
  }
  if (line.empty() || (line.front() != '"' && line.front() != '<')) return {};
  const std::size_t end = line.find(line.front() == '<' ? '>' : '"', 1);
  if (end == std::string_view::npos) return {};
  return {line.substr(1, end - 1), is_included};
}

bool is_endless(const std::string& file) {
  std::error_code ignored;
  const fs::file_type type = fs::status(file, ignored).type();
  return type == fs::file_type::character || type == fs::file_type::fifo;
}

struct Includes {
  std::vector<std::string> files;
  std::string endless;
};

Includes includes_of(const std::string& path, const std::vector<std::string>& folders) {
  constexpr std::size_t most = 10000;  // no source of kernels has so many
  Includes includes;
  std::vector<std::string>& files = includes.files;
  files = {path};
  for (std::size_t i = 0; i < files.size() && files.size() < most; ++i) {
    std::vector<fs::path> places = {fs::path(files[i]).parent_path(),
                                    fs::path(path).parent_path()};  // NVRTC is told to look there
    places.insert(places.end(), folders.begin(), folders.end());
    std::istringstream lines(source_text(files[i]));
    for (std::string line; std::getline(lines, line);) {
      const auto [name, is_included] = name_in(line);
      for (const fs::path& place : places) {
        std::error_code ignored;
        const std::string found = (place / name).lexically_normal().string();
        if (name.empty()) continue;
        if (includes.endless.empty() && is_endless(found)) includes.endless = found;
        if (!is_included || !fs::is_regular_file(found, ignored)) continue;
        if (std::find(files.begin(), files.end(), found) == files.end()) files.push_back(found);
        break;
      }
    }
  }
  files.erase(files.begin());
  return includes;
}

}  // namespace

std::vector<std::string> included_files(const std::string& path,
                                        const std::vector<std::string>& folders) {
  return includes_of(path, folders).files;
}

std::string endless_include(const std::string& path, const std::vector<std::string>& folders) {
  return includes_of(path, folders).endless;
}

}  // namespace warpmeter::model
