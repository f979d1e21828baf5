// SPDX-License-Identifier: MIT
#include "collector/cli/nvprof/log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/host_name.h"
#include "base/new_file.h"
#include "base/utf8.h"

namespace warpmeter::cli::nvprof {

std::string file_name(std::string_view option, std::string_view pattern, pid_t process,
                      std::optional<std::int64_t> context) {
  std::string name;
  const auto refuse = [&](const std::string& why) {
    throw Error(ExitCode::usage, fmt::format("{} {}: {}", option, pattern, why));
  };
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      name += pattern[i];
      continue;
    }
    const char kind = ++i < pattern.size() ? pattern[i] : '\0';
    if (kind == '%') {
      name += '%';
    } else if (kind == 'p') {
      name += std::to_string(process);
    } else if (kind == 'i' && context) {
      name += std::to_string(*context);
    } else if (kind == 'h') {
      name += host_name();
    } else if (kind == 'q' && pattern.substr(i + 1).starts_with('{')) {
      const std::size_t end = pattern.find('}', i);
      if (end == pattern.npos) refuse("%q{NAME} lacks its closing brace");
      const std::string variable(pattern.substr(i + 2, end - i - 2));
      const char* value = std::getenv(variable.c_str());
      if (value == nullptr) refuse(fmt::format("the variable {} is not set", variable));
      name += value;
      i = end;
    } else {
      refuse(fmt::format("% stands before {}p, h, q{{NAME}} or %", context ? "i, " : ""));
    }
  }
  return name;
}

struct Log::File {
  explicit File(std::string of) : name(std::move(of)) {
    descriptor = open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor < 0) {
      throw Error(ExitCode::file, fmt::format("{} cannot be written: {}; choose another --log-file",
                                              name, std::strerror(errno)));
    }
  }
  ~File() { close(descriptor); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  std::string name;
  int descriptor = -1;
};

Log::Log(std::string pattern, bool is_quiet) : pattern_(std::move(pattern)), is_quiet_(is_quiet) {
  if (pattern_ == "%2") pattern_.clear();
  if (!pattern_.empty() && pattern_ != "%1") file_name("--log-file", pattern_, getpid());
}
Log::~Log() = default;

void Log::write(pid_t process, std::string_view text) {
  if (is_quiet_) return;
  if (pattern_.empty()) {
    // Nobody who can read it is no reason to lose a measurement.
    const std::string lines = printable_lines(text);
    for (std::size_t done = 0; done < lines.size();) {
      const ssize_t count = ::write(STDERR_FILENO, lines.data() + done, lines.size() - done);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return;
      done += static_cast<std::size_t>(count);
    }
    return;
  }
  if (pattern_ == "%1") {
    write_all(STDOUT_FILENO, text, "standard output", "");
    return;
  }
  const std::string name = file_name("--log-file", pattern_, process);
  std::unique_ptr<File>& file = files_[name];
  if (!file) file = std::make_unique<File>(name);
  write_all(file->descriptor, text, name, "choose another --log-file");
}

}  // namespace warpmeter::cli::nvprof
