// SPDX-License-Identifier: MIT
#include "schema/process.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <optional>
#include <sstream>

#include "base/host_name.h"

namespace warpmeter::schema {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

struct Status {
  char state = 0;
  std::int64_t start_ticks = 0;
};

/// From /proc/ID/stat (proc(5)): the name in parentheses may hold anything, the state follows it,
/// and the start time is 19 fields further on. Nothing when there is no such file.
std::optional<Status> status_of(std::int64_t id) {
  const std::string line = first_line("/proc/" + std::to_string(id) + "/stat");
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(name_end + 1));
  Status status;
  fields >> status.state;
  std::string skipped;
  for (int i = 0; i < 18; ++i) fields >> skipped;
  fields >> status.start_ticks;
  if (!fields) return std::nullopt;
  return status;
}

}  // namespace

/// Once: a later reading of /proc may fail, where no more files can be open.
ProcessIdentity ProcessIdentity::of_this_process() {
  static const ProcessIdentity first = of(getpid());
  return first.id == getpid() ? first : of(getpid());
}

ProcessIdentity ProcessIdentity::of(std::int64_t id) {
  ProcessIdentity process;
  process.host = host_name();
  process.boot_id = first_line("/proc/sys/kernel/random/boot_id");
  std::array<char, 256> text{};
  if (readlink("/proc/self/ns/pid", text.data(), text.size() - 1) > 0) {
    process.name_space = text.data();
  }
  process.id = id;
  if (const auto status = status_of(process.id)) process.start_ticks = status->start_ticks;
  return process;
}

Liveness liveness(const ProcessIdentity& process) {
  const ProcessIdentity here = ProcessIdentity::of_this_process();
  if (process.host != here.host) return Liveness::unknown;
  if (process.boot_id != here.boot_id) return Liveness::gone;
  if (process.name_space != here.name_space) return Liveness::unknown;
  if (const auto status = status_of(process.id)) {
    const bool zombie = status->state == 'Z' || status->state == 'X';
    return zombie || status->start_ticks != process.start_ticks ? Liveness::gone : Liveness::alive;
  }
  // Some systems hide the files of other people's processes.
  const bool missing = kill(static_cast<pid_t>(process.id), 0) != 0 && errno == ESRCH;
  return missing ? Liveness::gone : Liveness::unknown;
}

}  // namespace warpmeter::schema
