// SPDX-License-Identifier: MIT
#include "collector/lab/dcgm.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/child.h"
#include "base/error.h"
#include "collector/lab/process.h"

namespace warpmeter::lab {
namespace {

namespace fs = std::filesystem;

constexpr const char* by_hand = "dcgmi profile --resume";
constexpr std::chrono::seconds patience{10};  // it answers in a second, or its daemon hangs

/// The destructor closes the descriptor.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  int get() const { return number_; }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

/// The dcgmi of the PATH; empty when there is none.
std::string find_dcgmi() {
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    const fs::path file = fs::path(folder.empty() ? "." : folder) / "dcgmi";
    std::error_code ignored;
    if (fs::is_regular_file(file, ignored) && access(file.c_str(), X_OK) == 0) {
      return fs::canonical(file, ignored).string();
    }
  }
  return "";
}

/// Empty, or why dcgmi did not do it.
std::string tell(const std::string& dcgmi, const char* what) {
  try {
    const Answer answer = ask({dcgmi, "profile", what}, "it was there before", patience);
    return answer.status == 0 ? "" : complaint(answer);
  } catch (const Error& error) {
    return error.what();
  }
}

/// Nothing is written to the files: who makes them first does not matter.
Descriptor open_lock(const std::string& dcgmi, const char* ending) {
  struct stat file {};
  stat(dcgmi.c_str(), &file);
  const std::string path =
      fmt::format("/tmp/warpmeter-dcgm-{}-{}.{}", file.st_dev, file.st_ino, ending);
  constexpr int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  int lock = open(path.c_str(), flags | O_CREAT | O_EXCL, 0444);
  if (lock < 0 && errno == EEXIST) lock = open(path.c_str(), flags);
  if (lock < 0) {
    throw Error(ExitCode::file, fmt::format("{} cannot be opened: {}", path, std::strerror(errno)));
  }
  return Descriptor(lock);
}

void lock(const Descriptor& file, int how) {
  while (flock(file.get(), how) != 0 && errno == EINTR) {
  }
}

/// Those that have the profiling paused: the first one pauses, the last one resumes.
class Holders {
 public:
  explicit Holders(std::string dcgmi)
      : dcgmi_(std::move(dcgmi)),
        turn_(open_lock(dcgmi_, "turn")),
        held_(open_lock(dcgmi_, "held")) {}

  /// Empty, or why it could not be paused.
  std::string enter() {
    lock(turn_, LOCK_EX);
    std::string failure;
    if (is_alone()) failure = tell(dcgmi_, "--pause");
    lock(held_, failure.empty() ? LOCK_SH : LOCK_UN);
    lock(turn_, LOCK_UN);
    return failure;
  }
  std::string leave() {
    lock(turn_, LOCK_EX);
    std::string failure;
    if (is_alone()) failure = tell(dcgmi_, "--resume");
    lock(held_, LOCK_UN);
    lock(turn_, LOCK_UN);
    return failure;
  }

 private:
  bool is_alone() const { return flock(held_.get(), LOCK_EX | LOCK_NB) == 0; }

  std::string dcgmi_;
  Descriptor turn_, held_;
};

void say_line(int to, std::string text) {
  for (char& c : text) c = c == '\n' ? ' ' : c;
  text += '\n';
  std::size_t said = 0;
  while (said < text.size()) {
    const ssize_t count = write(to, text.data() + said, text.size() - said);
    if (count < 0 && errno != EINTR) return;  // nobody listens any more
    said += count > 0 ? static_cast<std::size_t>(count) : 0;
  }
}

/// Nothing when the other end was closed before a line came.
std::optional<std::string> hear_line(int from) {
  std::string text;
  for (char c = 0;;) {
    const ssize_t count = read(from, &c, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::nullopt;
    if (c == '\n') return text;
    text += c;
  }
}

/// The watcher: out of reach of what ends the other one, Ctrl-C in a terminal included.
[[noreturn]] void watch(const std::string& dcgmi, int life, int answers) {
  setsid();
  prctl(PR_SET_NAME, "warpmeter-dcgm");
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) std::signal(signal, SIG_IGN);
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nowhere, stream);
  try {
    Holders holders(dcgmi);
    const std::string failure = holders.enter();
    say_line(answers, failure);
    if (!failure.empty()) _exit(1);
    hear_line(life);  // comes back when the other end is gone
    say_line(answers, holders.leave());
    _exit(0);
  } catch (const std::exception& error) {
    say_line(answers, error.what());
  }
  _exit(1);
}

}  // namespace

DcgmPause::DcgmPause(std::function<void(const std::string&)> complain)
    : complain_(std::move(complain)), dcgmi_(find_dcgmi()) {
  if (dcgmi_.empty()) {
    throw Error(ExitCode::no_hardware,
                "--pause-dcgm needs dcgmi, and no folder of PATH has it: install DCGM's command "
                "line, or leave the option out");
  }
  std::array<int, 2> life{}, answers{};
  if (pipe2(life.data(), O_CLOEXEC) != 0) {
    throw Error(ExitCode::file, fmt::format("no pipe can be made: {}", std::strerror(errno)));
  }
  Descriptor life_read(life[0]), life_write(life[1]);
  if (pipe2(answers.data(), O_CLOEXEC) != 0) {
    throw Error(ExitCode::file, fmt::format("no pipe can be made: {}", std::strerror(errno)));
  }
  Descriptor answers_read(answers[0]), answers_write(answers[1]);
  watcher_ = fork();
  if (watcher_ < 0) {
    throw Error(ExitCode::file, fmt::format("no process can be made: {}", std::strerror(errno)));
  }
  if (watcher_ == 0) {
    close(life_write.release());
    close(answers_read.release());
    watch(dcgmi_, life_read.get(), answers_write.get());
  }
  close(answers_write.release());
  const std::optional<std::string> failure = hear_line(answers_read.get());
  if (!failure || !failure->empty()) {
    wait_for_child(watcher_);
    if (!failure) Holders(dcgmi_).leave();  // a kill may come after the pause
    throw Error(ExitCode::no_hardware,
                fmt::format("DCGM's profiling cannot be paused: {}; nothing was measured",
                            failure ? *failure : "the process that was to do it has ended"));
  }
  life_ = life_write.release();
  answers_ = answers_read.release();
}

DcgmPause::~DcgmPause() {
  close(life_);
  std::optional<std::string> failure = hear_line(answers_);
  close(answers_);
  wait_for_child(watcher_);
  try {
    if (!failure) failure = Holders(dcgmi_).leave();  // somebody killed the watcher
    if (failure->empty()) return;
    complain_(fmt::format("DCGM's profiling could not be resumed: {}; resume it with: {}", *failure,
                          by_hand));
  } catch (const std::exception& error) {
    complain_(fmt::format("DCGM's profiling may be paused still ({}); resume it with: {}",
                          error.what(), by_hand));
  }
}

}  // namespace warpmeter::lab
