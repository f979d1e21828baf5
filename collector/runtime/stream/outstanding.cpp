#include "collector/runtime/stream/outstanding.h"
#include "collector/runtime/device/device.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <thread>
#include <utility>

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

/// The stream's thread: ends when there is nothing left.
void work_off(Process& process, const std::shared_ptr<Stream>& stream) {
  const std::lock_guard lock(process.mutex());
  current_device = stream->device;
  Races* const races = process.races();
  while (!stream->waiting.empty()) {
    Stream::Waiting& next = stream->waiting.front();
    changed().wait(process.mutex(), [&] { return all_done(next.after); });
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
    changed().notify_all();
  }
  stream->has_thread = false;
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

}  // namespace

bool is_in_host_function() { return in_host_function; }

void run_host_function(Process& process, cudaHostFn_t function, void* data) {
  process.show_printed();
  process.mutex().unlock();
  in_host_function = true;
  function(data);
  in_host_function = false;
  process.mutex().lock();
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
  if (!is_host && is_done(stream) && after.empty()) {
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
  stream.waiting.push_back({std::move(work), std::move(after), std::move(given)});
  ++stream.given;
  if (!std::exchange(stream.has_thread, true)) {
    std::thread(work_off, std::ref(process), stream.shared_from_this()).detach();
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
  changed().wait(process.mutex(), [&] { return all_done(all); });
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
  changed().wait(process.mutex(), [&] { return ticket.is_done(); });
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
  if (!all.empty()) changed().wait(process.mutex(), [&] { return all_done(all); });
  if (races != nullptr) races->host_knows(known);
}

}  // namespace warpmeter::runtime
