// SPDX-License-Identifier: MIT
#include "collector/runtime/entry/assembler.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>

#include "collector/runtime/image/made_code.h"

namespace warpmeter::runtime {
namespace {

/// Paths, empty where the process is no ptxas.
struct Assembly {
  std::string ptx, cubin;
  std::filesystem::file_time_type before;  ///< when the cubin was written that lay there already
};

std::filesystem::file_time_type written(const std::string& path) {
  std::error_code none;
  return std::filesystem::last_write_time(path, none);
}

Assembly& assembly() {
  static auto* one = new Assembly;  // until the process ends
  return *one;
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

void look_at_arguments(int count, char** arguments) {
  if (count < 2) return;
  const std::string_view path = arguments[0];
  const std::string_view program = path.substr(path.rfind('/') + 1);
  if (program != "ptxas" && program != "ptxas-blackwell") return;
  Assembly files;
  int inputs = 0;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = arguments[i];
    if ((word == "-o" || word == "--output-file") && i + 1 < count) files.cubin = arguments[++i];
    if (!word.ends_with(".ptx") || word.starts_with("-")) continue;
    files.ptx = word;
    ++inputs;
  }
  if (inputs != 1 || files.cubin.empty()) return;
  files.before = written(files.cubin);
  assembly() = files;
}

void keep_assembled() {
  const Assembly& files = assembly();
  // A ptxas that fails leaves the cubin of an earlier one.
  if (files.ptx.empty() || written(files.cubin) == files.before) return;
  const std::string cubin = contents(files.cubin);
  if (!cubin.empty()) keep_made(cubin, contents(files.ptx));
}

}  // namespace warpmeter::runtime
