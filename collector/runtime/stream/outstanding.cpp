// SPDX-License-Identifier: MIT
#include "collector/runtime/stream/outstanding.h"

#include <csignal>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include "base/stack.h"
#include "collector/runtime/check/caller.h"
#include "collector/runtime/device/device.h"
#include "collector/runtime/memory/event_page.h"
#include "collector/runtime/process/stream_values.h"
#include "collector/runtime/stream/submit.h"

namespace warpmeter::runtime {
namespace {

thread_local bool in_host_function = false;

/// Told whenever something was done; waits with the process's lock.
std::condition_variable_any& changed() {
  static auto* condition = new std::condition_variable_any;
  return *condition;
}

bool all_done(const std::vector<Ticket>& tickets) {
  return std::all_of(tickets.begin(), tickets.end(),
                     [](const Ticket& ticket) { return ticket.is_done(); });
}

/// A recording of an event, by another process.
struct Elsewhere {
  std::shared_ptr<EventPage> page;
  std::uint64_t number;
};

/// Who may do something for a kernel that waits.
struct HostCode {
  std::size_t own_threads = 0;  ///< the threads of streams, while none runs a host function
  std::size_t waiting = 0;      ///< threads of the program that wait for streams
  std::uint64_t steps = 0;      ///< counts work of streams that was done, kernels that went on

  /// More threads of the program than so many do not wait for a stream.
  bool may_go_on(std::size_t others = 0) const {
    std::error_code failed;
    const std::filesystem::directory_iterator threads("/proc/self/task", failed);
    const auto all = static_cast<std::size_t>(std::distance(begin(threads), end(threads)));
    return failed || all > own_threads + waiting + others;
  }
};
HostCode& host_code() {
  static HostCode code;
  return code;
}

/// A thread of the program that waits for streams.
template <class Predicate>
void wait_until(Process& process, const Predicate& is_so) {
  ++host_code().waiting;
  changed().wait(process.mutex(), is_so);
  --host_code().waiting;
}

using Time = std::chrono::steady_clock::time_point;

/// The stream that this thread works for, and what it knows about its kernel.
struct Working {
  Stream* stream = nullptr;  ///< null: it is the program's
  std::uint64_t steps = 0;   ///< when it looked last
  Time moved{};              ///< the last time that any stream went on
  Time quiet_since{};        ///< nobody could bring about anything since then
  std::chrono::microseconds pause{0};
};
thread_local Working own_work;

/// Touches of the work belong to what was given meanwhile.
class Doing {
 public:
  Doing(Process& process, Given& given) : races_(process.races()) {
    if (races_ != nullptr) races_->begin(given);
  }
  Doing(const Doing&) = delete;
  Doing& operator=(const Doing&) = delete;
  ~Doing() {
    if (races_ != nullptr) races_->end();
  }

 private:
  Races* const races_;
};

/// The stream's thread: ends when there has been nothing left for a while.
void work_off(Process& process, const std::shared_ptr<Stream>& stream) {
  const std::lock_guard lock(process.mutex());
  ++host_code().own_threads;
  Races* const races = process.races();
  const auto has_work = [&] { return !stream->waiting.empty(); };
  // A thread costs more than many a kernel: it stays for the next one.
  constexpr std::chrono::milliseconds a_while(50);
  while (changed().wait_for(process.mutex(), a_while, has_work)) {
    Stream::Waiting& next = stream->waiting.front();
    changed().wait(process.mutex(), [&] { return all_done(next.after); });
    current_device = next.device;
    const CallElsewhere call(next.place);
    process.begin_call(next.function, nullptr);
    Report::continue_call(next.call);
    own_work = Working{stream.get()};
    if (const auto* host = std::get_if<HostWork>(&next.work)) {
      if (races != nullptr) races->begin_host_function(next.given);
      if (process.surfaced_error() == cudaSuccess || host->runs_after_failure) {
        run_host_function(process, host->function, host->data);
      }
      // It tells the host, in ways that nobody sees.
      if (races != nullptr) races->drop(next.given);
      if (races != nullptr) races->host_knows(next.given.clock);
    } else if (auto* values = std::get_if<ValuesWork>(&next.work)) {
      // Kernels, copies and the host write them, and nobody is told.
      constexpr std::chrono::microseconds often(200);
      while (process.last_failure() == cudaSuccess && !go_on(process, *values)) {
        changed().wait_for(process.mutex(), often);
      }
      if (races != nullptr) races->drop(next.given);
    } else {
      const Doing doing(process, next.given);
      const cudaError_t result = run(process, next.work, stream->number);
      if (result != cudaSuccess) process.kernel_failed(result);
    }
    stream->waiting.pop_front();
    ++stream->done;
    ++host_code().steps;
    stream->is_left = false;
    changed().notify_all();
  }
  stream->has_thread = false;
  --host_code().own_threads;
}

/// Adds the work for which a wait for the stream waits: what it was given, and what it follows
/// though it was given nothing since.
void add_outstanding(Stream& stream, std::vector<Ticket>& tickets) {
  for (const Ticket& ticket : stream.follows) {
    if (!ticket.is_done()) tickets.push_back(ticket);
  }
  if (!stream.waiting.empty()) tickets.push_back({stream.shared_from_this(), stream.given});
}

/// The work of other streams that the stream waits for: legacy and blocking streams follow each
/// other.
std::vector<Ticket> followed(Process& process, Stream& stream) {
  std::erase_if(stream.follows, [](const Ticket& ticket) { return ticket.is_done(); });
  std::vector<Ticket> after = std::exchange(stream.follows, {});
  if ((stream.flags & cudaStreamNonBlocking) != 0) return after;
  const Stream* legacy = process.stream(cudaStreamLegacy);
  process.for_each_stream([&](Stream& other) {
    const bool is_between = (&other == legacy) != (&stream == legacy);
    if (is_between && (other.flags & cudaStreamNonBlocking) == 0) add_outstanding(other, after);
  });
  return after;
}

/// A kernel that may go by what others change, or one in such work.
bool may_wait(const Work& work) {
  if (std::holds_alternative<ConditionalWork>(work)) return true;
  const auto* kernel = std::get_if<KernelWork>(&work);
  const model::Program* program = kernel == nullptr ? nullptr : kernel->kernel->program();
  return program != nullptr && (program->polls || !program->device_calls.empty());
}

/// A handler of the program for what comes from elsewhere may set what a kernel waits for.
bool handles_signals() {
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    struct sigaction action {};
    if (signal == SIGSEGV || signal == SIGTRAP || signal == SIGBUS || signal == SIGFPE ||
        signal == SIGILL || signal == SIGABRT || signal == SIGCHLD || signal == SIGPIPE) {
      continue;
    }
    if (sigaction(signal, nullptr, &action) != 0) continue;
    if (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN) return true;
  }
  return false;
}

/// Nodes of one graph that follow here may be beside each other there.
bool is_in_front_of_node(const Stream& stream) {
  return stream.waiting.size() > 1 && stream.waiting[0].is_of_graph &&
         stream.waiting[1].is_of_graph;
}

/// The kernel that this thread runs is left where it is, for as long at least.
void leave_kernel(Process& process, std::chrono::microseconds time) {
  Stream& stream = *own_work.stream;
  if (!std::exchange(stream.is_left, true)) changed().notify_all();
  Races* const races = process.races();
  if (races != nullptr) races->leave_off();
  changed().wait_for(process.mutex(), time);
  if (races != nullptr) races->begin(stream.waiting.front().given);
}

}  // namespace

model::Outside wait_beside(Process& process, const Writers& writers, bool has_gone_on) {
  using model::Outside;
  constexpr std::chrono::microseconds shortest(20), longest(1000);
  constexpr std::chrono::milliseconds quiet(200), patience(10'000);
  HostCode& code = host_code();
  if (own_work.stream == nullptr) {
    const bool may_be = writers.are_host_code || writers.are_processes || code.may_go_on(1);
    return may_be ? Outside::unknown : Outside::nothing;
  }
  Working& own = own_work;
  if (has_gone_on) ++code.steps;
  own.pause = has_gone_on ? shortest : std::min(2 * own.pause, longest);
  leave_kernel(process, own.pause);
  const Time now = std::chrono::steady_clock::now();
  if (code.waiting == 0 || std::exchange(own.steps, code.steps) != code.steps) own.moved = now;
  if (own.moved == now || code.may_go_on()) own.quiet_since = now;
  const bool may_be_unseen = writers.are_processes ||
                             (writers.are_host_code && handles_signals()) ||
                             is_in_front_of_node(*own.stream);
  if (now - own.quiet_since > quiet && !may_be_unseen) return Outside::nothing;
  return now - own.moved > patience ? Outside::unknown : Outside::maybe;
}

void let_others_go_on(Process& process) {
  if (own_work.stream != nullptr) leave_kernel(process, std::chrono::microseconds(20));
}

void wait_for_kernels(Process& process) {
  wait_until(process, [&] {
    bool is_any_left = false;
    process.for_each_stream([&](const Stream& stream) { is_any_left |= stream.is_left; });
    return !is_any_left;
  });
}

bool is_in_host_function() { return in_host_function; }

void run_host_function(Process& process, cudaHostFn_t function, void* data) {
  process.show_printed();
  --host_code().own_threads;
  process.mutex().unlock();
  in_host_function = true;
  function(data);
  in_host_function = false;
  process.mutex().lock();
  ++host_code().own_threads;
}

bool is_done(const Stream& stream) { return stream.waiting.empty() && all_done(stream.follows); }
bool is_done(const Event& event) {
  return event.recorded_by.is_done() && (event.page == nullptr || event.page->is_done());
}

cudaError_t give(Process& process, Stream& stream, Work work, const Given* as) {
  Given given;
  Races* const races = process.races();
  if (races != nullptr) given = as != nullptr ? *as : races->give(stream, work, process.function());
  if (auto* event = std::get_if<EventWork>(&work);
      event != nullptr && event->records && process.has_event(event->event)) {
    event->event->recorded = given.clock;
  }
  std::vector<Ticket> after = followed(process, stream);
  if (auto* event = std::get_if<EventWork>(&work); event != nullptr && event->records &&
                                                   process.has_event(event->event) &&
                                                   event->event->page != nullptr) {
    event->number = event->event->page->give();
  }
  const bool is_host = std::holds_alternative<HostWork>(work);
  const bool is_next = is_done(stream) && after.empty();
  const bool may_be_left = may_wait(work);
  if (is_next && !is_host && !may_be_left) {
    auto* values = std::get_if<ValuesWork>(&work);
    if (values == nullptr) {
      const auto run_now = [&] {
        const Doing doing(process, given);
        return run(process, work, stream.number);
      };
      const cudaError_t result = run_now();
      if (races != nullptr && as == nullptr) races->returned(given, work, process.function());
      return result;
    }
    if (go_on(process, *values)) {
      if (races != nullptr) races->drop(given);
      return cudaSuccess;
    }
  }
  if (races != nullptr && as == nullptr) races->returned(given, work, process.function());
  const bool is_placed = may_be_left || (process.checks() != nullptr && !is_host);
  const HostPlace* place = is_placed ? &place_of_frequent_call() : nullptr;
  stream.waiting.push_back({std::move(work), std::move(after), std::move(given), current_device,
                            place, process.function(), as != nullptr, Report::call()});
  ++stream.given;
  changed().notify_all();
  if (!std::exchange(stream.has_thread, true)) {
    LargeThread([&process, own = stream.shared_from_this()] { work_off(process, own); }).detach();
  }
  if (is_next && may_be_left) {
    const Ticket ticket{stream.shared_from_this(), stream.given};
    changed().wait(process.mutex(), [&] { return ticket.is_done() || stream.is_left; });
  }
  return cudaSuccess;
}

void follow(Stream& stream, const Event& event) {
  if (Races* races = Process::get().races()) {
    if (!event.is_recorded && event.page == nullptr) races->waits_for_nothing(stream);
    races->follow(stream, event.known());
  }
  if (!event.recorded_by.is_done()) stream.follows.push_back(event.recorded_by);
  if (event.page == nullptr || event.page->is_done()) return;
  // Only another process knows what it does: asked on the stream's own thread.
  const auto wait = [](void* given) {
    const std::unique_ptr<Elsewhere> kept(static_cast<Elsewhere*>(given));
    kept->page->wait_for(kept->number);
  };
  give(Process::get(), stream,
       HostWork{wait, new Elsewhere{event.page, event.page->given()}, true});
}

void wait_until_done(Process& process, Stream& stream) {
  if (is_done(stream)) return;
  std::vector<Ticket> all;
  add_outstanding(stream, all);
  wait_until(process, [&] { return all_done(all); });
}

void wait_for(Process& process, Stream& stream) {
  Races* const races = process.races();
  const Clock known = races != nullptr ? races->waited_clock(stream) : Clock();
  wait_until_done(process, stream);
  if (races != nullptr) races->host_knows(known);
}

void wait_for(Process& process, const Event& event) {
  const Ticket ticket = event.recorded_by;
  Races* const races = process.races();
  const Clock known = races != nullptr ? event.known() : Clock();
  const std::shared_ptr<EventPage> page = event.page;
  wait_until(process, [&] { return ticket.is_done(); });
  if (page != nullptr) {
    process.mutex().unlock();
    page->wait_for(page->given());
    process.mutex().lock();
  }
  if (races != nullptr) races->host_knows(known);
}

void wait_for_device(Process& process, int device) {
  std::vector<Ticket> all;
  process.for_each_stream([&](Stream& stream) {
    if (stream.device == device) add_outstanding(stream, all);
  });
  Races* const races = process.races();
  const Clock known = races != nullptr ? races->clock_of_device(device) : Clock();
  if (!all.empty()) wait_until(process, [&] { return all_done(all); });
  if (races != nullptr) races->host_knows(known);
}

}  // namespace warpmeter::runtime
