// SPDX-License-Identifier: MIT
#include "collector/profile/session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "collector/profile/listener.h"

namespace warpmeter::profile {
namespace {

/// The library that answers the API needs this preloaded before it.
#ifdef WARPMETER_SANITIZERS
constexpr const char* before_library = WARPMETER_SANITIZERS ":";
#else
constexpr const char* before_library = "";
#endif

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto turn = 10ms;  // how soon the program's end is noticed
/// After a few messages of launches, so that more are read together: to wake for each takes longer
/// than to read it, here and where it is sent. They wait in the connection, whatever becomes of
/// their process.
constexpr auto pause = 500us;
constexpr int much_heard = 32;
constexpr auto own_ending = 500ms;     // after Ctrl-C the terminal has signalled the program too
constexpr auto patience_to_kill = 3s;  // after SIGTERM
constexpr auto waiting_remark = 2s;    // after the program, for its children

/// A mark of what the process executes, which is another after exec(). Empty where that is not
/// known: for a process that is ending, whose files the kernel closes before it is gone, and for
/// one that we may not look into (ptrace(2)), of which the kernel says 1.
std::string image_of(pid_t process) {
  constexpr unsigned long is_exiting = 4;  // PF_EXITING of include/linux/sched.h
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string text;
  std::getline(file, text);
  // Behind the name in parentheses (proc(5)): fields 3 and on.
  std::istringstream behind_name(text.substr(std::min(text.size(), text.rfind(')') + 1)));
  const std::vector<std::string> fields(std::istream_iterator<std::string>(behind_name), {});
  if (fields.size() < 26 || fields[0] == "Z") return "";
  if ((std::strtoul(fields[6].c_str(), nullptr, 10) & is_exiting) != 0) return "";
  if (fields[23] == "1") return "";
  return fields[23] + " " + fields[25];  // where its code and its stack begin
}

/// Ends a program in steps, each once, as time goes by.
class Stopper {
 public:
  explicit Stopper(Clock::time_point terminate_at) : terminate_at_(terminate_at) {}
  void act(const Program& program, const Listener& listener) {
    const auto now = Clock::now();
    if (sent_ == 0 && now >= terminate_at_) {
      send(SIGTERM, program, listener);
    } else if (sent_ == SIGTERM && now >= terminate_at_ + patience_to_kill) {
      send(SIGKILL, program, listener);
    }
  }
  bool gave_up() const { return sent_ == SIGKILL; }

 private:
  void send(int signal, const Program& program, const Listener& listener) {
    sent_ = signal;
    for (const pid_t process : listener.processes()) {
      if (process > 1 && process != program.id()) kill(process, signal);
    }
    program.send(signal);
  }
  Clock::time_point terminate_at_;
  int sent_ = 0;
};

class Session {
 public:
  Session(const Options& options, const inject::Config& config, Receiver& receiver)
      : options_(options),
        config_(config),
        receiver_(receiver),
        listener_(options.socket,
                  {[this](const auto& peer, const auto& hello) { return greet(peer, hello); },
                   [this](const auto& peer, auto&& message) {
                     take(peer, std::forward<decltype(message)>(message));
                   },
                   [this](const auto& peer, const auto& fault) { gone(peer, fault); }}),
        program_(options.words, variables(), options.streams) {}

  Outcome run() {
    const auto begin = Clock::now();
    std::optional<Clock::time_point> ended;
    bool remarked = false;
    for (;;) {
      heard_ = 0;
      const bool heard = listener_.listen(turn);
      receiver_.store();
      if (heard_ > 0 && heard_ < much_heard) std::this_thread::sleep_for(pause);
      if (!ended && program_.poll()) ended = Clock::now();
      // Messages that a process sent before it ended are still in its connection: read on to the
      // ends.
      if (ended && !heard && (listener_.processes().empty() || gave_up())) break;
      stop_in_time(begin);
      if (stopper_) stopper_->act(program_, listener_);
      if (ended && !remarked && Clock::now() - *ended > waiting_remark) {
        remarked = true;
        remark_children();
      }
    }
    outcome_.ending = *program_.poll();
    return outcome_;
  }

 private:
  std::map<std::string, std::string> variables() const {
    std::map<std::string, std::string> all = options_.variables;
    all[inject::socket_variable] = options_.socket.string();
    if (options_.is_preloaded) {
      const char* others = std::getenv("LD_PRELOAD");
      all["LD_PRELOAD"] =
          fmt::format("{}{}{}{}", before_library, options_.injector.string(),
                      others == nullptr ? "" : ":", others == nullptr ? "" : others);
      if (!options_.stand_ins.empty()) all["LD_LIBRARY_PATH"] = library_path();
    } else {
      all["CUDA_INJECTION64_PATH"] = options_.injector.string();
    }
    if (config_.mode == inject::Mode::counters || !config_.selection.ranges.empty() ||
        config_.ranges) {
      all["NVTX_INJECTION64_PATH"] = options_.injector.string();
    }
    return all;
  }

  /// An installed library comes first.
  std::string library_path() const {
    const char* before = std::getenv("LD_LIBRARY_PATH");
    return before == nullptr || *before == '\0'
               ? options_.stand_ins.string()
               : fmt::format("{}:{}", before, options_.stand_ins.string());
  }

  inject::Config greet(const Listener::Peer& peer, const inject::Hello& hello) {
    ++outcome_.processes;
    receiver_.meet(peer.number, peer.process, hello.program);
    const bool is_wanted = options_.all_processes || peer.process == program_.id();
    if (is_wanted && options_.met) options_.met(peer.process);
    if (is_wanted) followed_[peer.number] = image_of(peer.process);
    return is_wanted ? config_ : inject::Config{};
  }

  void take(const Listener::Peer& peer, inject::Message&& message) {
    if (std::holds_alternative<inject::Bye>(message)) followed_.erase(peer.number);
    const bool is_activity = std::holds_alternative<inject::Launch>(message) ||
                             std::holds_alternative<inject::Activities>(message);
    if (is_activity) ++heard_;
    // Nobody asks about children that are left alone.
    if (std::holds_alternative<inject::Unobserved>(message) && !options_.all_processes) return;
    if (broken_.count(peer.number) != 0 || receiver_.take(peer.number, std::move(message))) return;
    broken_.insert(peer.number);
    remark(fmt::format("process {} sends what makes no sense; the rest of it is left out",
                       peer.process));
  }

  void gone(const Listener::Peer& peer, const std::string& fault) {
    const auto followed = followed_.extract(peer.number);
    const bool is_lost = !followed.empty() && !followed.mapped().empty() &&
                         followed.mapped() == image_of(peer.process);
    if (!fault.empty()) {
      ++outcome_.faulty;
      remark(fmt::format("process {} is left out: {}", peer.process, fault));
    } else if (is_lost) {
      ++outcome_.lost;
      remark(
          fmt::format("process {} closed its connection to warpmeter, with files that it had "
                      "not opened itself; what it does from here on is not measured",
                      peer.process));
    } else if (!followed.empty()) {
      ++outcome_.unended;
    }
    receiver_.forget(peer.number);
    broken_.erase(peer.number);
  }

  void stop_in_time(Clock::time_point begin) {
    if (stopper_) return;
    if (options_.timeout && Clock::now() - begin >= *options_.timeout) {
      outcome_.timed_out = true;
      stopper_.emplace(Clock::now());
    } else if (options_.cancelled && options_.cancelled()) {
      outcome_.cancelled = true;
      stopper_.emplace(Clock::now() + own_ending);
    }
  }
  bool gave_up() const { return stopper_ && stopper_->gave_up(); }

  void remark_children() const {
    if (listener_.processes().empty()) return;
    remark(
        fmt::format("the program has ended; waiting for what it started: process {} "
                    "(Ctrl-C ends it)",
                    fmt::join(listener_.processes(), ", ")));
  }
  void remark(const std::string& text) const {
    if (options_.remark) options_.remark(text);
  }

  const Options& options_;
  const inject::Config& config_;
  Receiver& receiver_;
  Outcome outcome_;
  std::set<int> broken_;
  /// Peers that are measured and have not said Bye; what they executed when they came.
  std::map<int, std::string> followed_;
  std::optional<Stopper> stopper_;
  int heard_ = 0;  ///< messages of launches and other activities, in this turn
  Listener listener_;
  Program program_;
};

}  // namespace

Outcome profile(const Options& options, const inject::Config& config, Receiver& receiver) {
  return Session(options, config, receiver).run();
}

}  // namespace warpmeter::profile
