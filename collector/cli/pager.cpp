// SPDX-License-Identifier: MIT
#include "collector/cli/pager.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "base/child.h"
#include "collector/cli/interrupt.h"
#include "collector/cli/terminal.h"

namespace warpmeter::cli {
namespace {

/// Is there a program of this name on PATH?
bool is_installed(std::string_view name) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "";
  while (true) {
    const std::size_t end = rest.find(':');
    const std::filesystem::path folder = rest.substr(0, end);
    if (access((folder / name).c_str(), X_OK) == 0) return true;
    if (end == std::string_view::npos) return false;
    rest.remove_prefix(end + 1);
  }
}

}  // namespace

std::string pager_command() {
  if (const char* chosen = std::getenv("PAGER")) {
    const std::string command = chosen;
    const std::string program = command.substr(0, command.find(' '));
    return program == "cat" || program.empty() || !is_installed(program) ? "" : command;
  }
  for (const char* name : {"less", "more"}) {
    if (is_installed(name)) return name;
  }
  return "";
}

Answer::Answer(const Destination& destination, bool paged) {
  const bool to_terminal = destination.is_standard_output() && is_terminal(STDOUT_FILENO);
  const std::string command = paged && to_terminal ? pager_command() : "";
  int ends[2];
  if (command.empty() || pipe2(ends, O_CLOEXEC) != 0) {
    output_ = std::make_unique<Output>(destination);
    return;
  }
  process_ = fork();
  if (process_ == 0) {
    dup2(ends[0], STDIN_FILENO);
    // Quit when it fits on the screen, keep colours, leave the screen as it is.
    setenv("LESS", "FRX", 0);
    for (const int ignored : {SIGPIPE, SIGXFSZ}) signal(ignored, SIG_DFL);
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  close(ends[0]);
  if (process_ < 0) {
    close(ends[1]);
    output_ = std::make_unique<Output>(destination);
    return;
  }
  pager_ = ends[1];
  // Ctrl-C is for the pager; the query hears of it too, and ends before the pager does.
  catch_interrupts("");
}

Answer::~Answer() { close_pager(); }

void Answer::close_pager() {
  if (pager_ >= 0) close(std::exchange(pager_, -1));
  if (process_ > 0) {
    wait_for_child(process_);
    process_ = -1;
  }
}

bool Answer::write(std::string_view text) {
  if (output_) return output_->write(text);
  while (!text.empty()) {
    const ssize_t written = ::write(pager_, text.data(), text.size());
    if (written < 0 && errno == EINTR && !interrupted()) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

void Answer::finish() {
  if (output_) output_->finish();
  close_pager();
}

}  // namespace warpmeter::cli
