// SPDX-License-Identifier: MIT
#include "collector/model/input/nvcc.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <string_view>

#include "base/temporary.h"
#include "collector/model/input/npy.h"
#include "collector/model/input/toolkit.h"

namespace warpmeter::model {
namespace {

namespace fs = std::filesystem;

std::string pointer_name(std::size_t i) { return fmt::format("warpmeter_instance_{}", i); }

/// A source that includes the file and points to the instances, so that nvcc makes them. A mistake
/// in an expression is reported of of_kernel_name, which no file holds.
std::string source_with_instances(const std::string& path,
                                  const std::vector<std::string>& expressions) {
  std::string source = fmt::format("#include \"{}\"\n", fs::absolute(path).string());
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    source += fmt::format(
        "#line 1 \"{}\"\n"
        "extern \"C\" __attribute__((used)) __device__ auto* {} = &{};\n",
        of_kernel_name, pointer_name(i), expressions[i]);
  }
  return source;
}

/// Takes the variable out of the PTX, which is to be that of the file: what it points to. "": there
/// is no such variable.
std::string taken_pointer(std::string& ptx, const std::string& name) {
  const std::string assigned = fmt::format(" {} = ", name);
  const std::size_t at = ptx.find(assigned);
  if (at == std::string::npos) return "";
  const std::size_t begin = ptx.rfind('\n', at) + 1, value = at + assigned.size(),
                    end = ptx.find(";\n", value);
  if (end == std::string::npos) return "";
  std::string entry = ptx.substr(value, end - value);
  ptx.erase(begin, end + 2 - begin);
  return entry;
}

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
    text.replace(at, what.size(), by);
  }
}

/// nvcc puts its words between double quotes for a shell that starts its parts, and in them a shell
/// executes $(…) and `…`. nvcc escapes the double quotes of options, but not those of the files
/// that it reads and writes. Null: no word holds the like.
const std::string* executed_by_shell(const std::vector<std::string>& words,
                                     const std::vector<std::string>& files) {
  const auto unsafe = std::find_if(words.begin(), words.end(), [&](const std::string& word) {
    const bool is_file = std::find(files.begin(), files.end(), word) != files.end();
    return word.find_first_of(is_file ? "$`\\\n\"" : "$`\\\n") != std::string::npos;
  });
  return unsafe == words.end() ? nullptr : &*unsafe;
}

}  // namespace

Compiled compile_with_nvcc(const fs::path& nvcc, const std::string& path,
                           const CompileOptions& options,
                           const std::vector<std::string>& expressions) {
  const TemporaryFolder folder;
  std::string source = operand_of(path);
  if (!expressions.empty()) {
    source = (folder.path() / "instances.cu").string();
    std::ofstream(source) << source_with_instances(path, expressions);
  }
  const std::string target = (folder.path() / "kernels.ptx").string();
  std::vector<std::string> words = {
      nvcc.string(), "-ptx", "-lineinfo", fmt::format("-arch=sm_{}", options.target()),
      "-o",          target, source};
  if (!options.standard.empty()) words.push_back("--std=" + options.standard);
  for (const std::string& include : options.includes) words.push_back("-I" + include);
  for (const std::string& define : options.defines) words.push_back("-D" + define);
  words.insert(words.end(), options.flags.begin(), options.flags.end());
  Compiled compiled;
  if (const std::string* unsafe = executed_by_shell(words, {source, target})) {
    compiled.failure = fmt::format(
        "nvcc hands its words to a shell, which would execute a part of '{}': error: leave out $, "
        "`, \\ and, in a file's name, \"",
        *unsafe);
    return compiled;
  }
  const ToolOutcome outcome = run_tool(words, folder.path().string());
  if (outcome.exit_code != 0) {
    compiled.failure = outcome.output.empty() ? "nvcc failed without a word" : outcome.output;
    compiled.failure.resize(compiled.failure.find_last_not_of('\n') + 1);
    if (source != path) replace_all(compiled.failure, source, path);
    return compiled;
  }
  compiled.ptx = read_text_file(target);
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    const std::string entry = taken_pointer(compiled.ptx, pointer_name(i));
    if (entry.empty()) {
      compiled.failure = fmt::format("nvcc's PTX does not say which entry {} is", expressions[i]);
      return compiled;
    }
    compiled.named[expressions[i]] = entry;
  }
  return compiled;
}

}  // namespace warpmeter::model
