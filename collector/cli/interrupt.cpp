// SPDX-License-Identifier: MIT
#include "collector/cli/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <string_view>

#include "base/endings.h"

namespace warpmeter::cli {
namespace {

std::atomic<int> received{0};
std::atomic<std::uint64_t> heard{0};    // a bit a signal
std::atomic<std::int64_t> first_ns{0};  // when the first one came
std::string_view farewell;              // set before the handlers are
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler stores it");

/// Safe in a handler of signals.
std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// A terminal and the process that started us may both pass on one wish, as different signals. One
/// that comes later is a second wish.
constexpr std::int64_t one_wish_ns = 500'000'000;

void on_signal(int signal) {
  const std::uint64_t bit = std::uint64_t{1} << static_cast<unsigned>(signal);
  std::int64_t first = 0;
  const std::int64_t now = now_ns();
  const bool is_first = first_ns.compare_exchange_strong(first, now);
  if ((heard.fetch_or(bit) & bit) != 0 || (!is_first && now - first > one_wish_ns)) {
    end_by_signal(signal);  // the second one
    return;
  }
  received.store(signal);
  end_doomed_groups();  // a compiler may take minutes
  // Nothing can be done when standard error does not take it.
  [[maybe_unused]] const ssize_t ignored = write(STDERR_FILENO, farewell.data(), farewell.size());
}

}  // namespace

void catch_interrupts(std::string_view message) {
  farewell = message;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) continue;
    action = {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
  }
}

bool interrupted() { return received.load(std::memory_order_relaxed) != 0; }

void end_by_interrupt() {
  const int signal = received.load();
  if (signal == 0) return;
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace warpmeter::cli
