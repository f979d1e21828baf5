// SPDX-License-Identifier: MIT
#include "collector/model/input/toolkit.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <system_error>

#include "base/child.h"
#include "base/endings.h"
#include "base/error.h"

namespace warpmeter::model {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_output = std::size_t{1} << 20;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

bool is_program(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

std::optional<fs::path> on_path(const std::string& name) {
  const std::string list = environment("PATH");
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(':', begin), list.size());
    const fs::path candidate = fs::path(list.substr(begin, end - begin)) / name;
    if (end > begin && is_program(candidate)) return candidate;
    begin = end + 1;
  }
  return std::nullopt;
}

void add(std::vector<fs::path>& folders, const fs::path& folder) {
  std::error_code ignored;
  if (folder.empty() || !fs::is_directory(folder, ignored)) return;
  const fs::path real = fs::canonical(folder, ignored);
  if (std::find(folders.begin(), folders.end(), real) == folders.end()) folders.push_back(real);
}

}  // namespace

std::vector<fs::path> toolkit_folders() {
  std::vector<fs::path> folders;
  add(folders, environment("CUDA_HOME"));
  add(folders, environment("CUDA_PATH"));
  if (const auto nvcc = on_path("nvcc")) {
    std::error_code ignored;
    add(folders, fs::canonical(*nvcc, ignored).parent_path().parent_path());
  }
  add(folders, "/usr/local/cuda");
  std::vector<fs::path> others;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator("/usr/local", ignored)) {
    if (entry.path().filename().string().starts_with("cuda-")) others.push_back(entry.path());
  }
  std::sort(others.rbegin(), others.rend());  // the newest first
  for (const fs::path& other : others) add(folders, other);
  add(folders, WARPMETER_BUILT_WITH);  // ./dev fetches it where the machine has no other
  return folders;
}

std::optional<fs::path> toolkit_program(const std::string& name) {
  for (const fs::path& folder : toolkit_folders()) {
    if (is_program(folder / "bin" / name)) return folder / "bin" / name;
  }
  return on_path(name);
}

std::vector<fs::path> toolkit_includes() {
  for (const fs::path& folder : toolkit_folders()) {
    std::error_code ignored;
    if (!fs::is_regular_file(folder / "include" / "cuda_runtime.h", ignored)) continue;
    std::vector<fs::path> includes = {folder / "include"};
    add(includes, folder / "include" / "cccl");  // since CUDA 13
    return includes;
  }
  return {};
}

NamedFiles allowed_sources(const std::string& file, std::span<const std::string> folders) {
  NamedFiles allowed(file);
  for (const std::string& folder : folders) allowed.allow(folder);
  for (const fs::path& folder : toolkit_includes()) allowed.allow(folder);
  allowed.allow("/usr/include");
  return allowed;
}

std::string operand_of(const std::string& path) {
  return path.starts_with('-') || path.starts_with('@') ? "./" + path : path;
}

namespace {
thread_local bool is_starting = false;
}

bool is_starting_tool() { return is_starting; }

namespace {

/// In our own program the tool has a group of processes to itself, so that what it starts can be
/// ended with it; in other people's, Ctrl-C has to reach it.
pid_t start(char* const* words, char* const* variables, int output) {
  const int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (input < 0) return -1;  // it would read what is ours
  sigset_t none;
  sigemptyset(&none);
  is_starting = true;
  const pid_t child =
      start_child({words[0], words, variables, input, output, output, catches_endings(), none});
  const int failure = errno;
  is_starting = false;
  close(input);
  errno = failure;
  return child;
}

}  // namespace

ToolOutcome run_tool(const std::vector<std::string>& words, const std::string& temporary) {
  if (is_ending()) throw Interrupted();
  ToolOutcome outcome;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return outcome;
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  // A compiler needs no library that was preloaded into us.
  std::vector<char*> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const bool is_replaced = !temporary.empty() && text.starts_with("TMPDIR=");
    if (!is_replaced && !text.starts_with("LD_PRELOAD=")) variables.push_back(*variable);
  }
  std::string folder = "TMPDIR=" + temporary;
  if (!temporary.empty()) variables.push_back(folder.data());
  variables.push_back(nullptr);
  const pid_t child = start(arguments.data(), variables.data(), ends[1]);
  const int failure = child < 0 ? errno : 0;
  close(ends[1]);
  if (failure == 0) {
    std::optional<DoomedGroup> doomed;
    if (catches_endings()) doomed.emplace(child);
    outcome.output = read_to_end(ends[0], most_output);
    const int status = wait_for_child(child);
    if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
    const bool is_stopped = WIFSIGNALED(status) && is_ending();
    if (is_stopped) close(ends[0]);
    if (is_stopped) throw Interrupted();
  } else {
    outcome.output = std::strerror(failure);
  }
  close(ends[0]);
  return outcome;
}

}  // namespace warpmeter::model
