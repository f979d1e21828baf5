// SPDX-License-Identifier: MIT
// Races in words, and those that show by what host code touches.
#include <fmt/format.h>

#include "base/with_noun.h"
#include "collector/model/machine/memory/shown_name.h"
#include "collector/runtime/api/row.h"
#include "collector/runtime/check/caller.h"
#include "collector/runtime/check/races.h"
#include "collector/runtime/process/process.h"
#include "collector/runtime/stream/outstanding.h"

namespace warpmeter::runtime {
namespace {

/// The most touches by host code of pages of which an operation uses other bytes, each of which
/// costs two signals.
constexpr std::uint64_t most_steps = 20'000;

std::string stream_in_words(std::uint32_t number) {
  return number == legacy_stream_number ? "the default stream" : fmt::format("stream {}", number);
}

std::string at(const std::string& place) {
  return place.find(':') != std::string::npos ? "at " + place : "in " + place;
}

}  // namespace

std::string Races::in_words(const Operation& operation, bool has_place) const {
  const bool is_kernel = operation.deed == Deed::kernel;
  std::string text = is_kernel ? fmt::format("kernel '{}'", *operation.name) : *operation.name;
  if (operation.is_of_graph) {
    text += fmt::format(" in a graph that {} was given", stream_in_words(operation.stream));
  } else {
    text += " in " + stream_in_words(operation.stream);
  }
  if (!has_place || operation.place->empty()) return text;
  const char* deed = operation.is_of_graph ? "" : is_kernel ? "launched " : "called ";
  return fmt::format("{} ({}{})", text, deed, at(*operation.place));
}

std::string_view Races::deed_in_words(const Operation& operation, bool writes) {
  if (operation.deed == Deed::free) return "frees";
  if (operation.deed == Deed::allocation) return "allocates";
  return writes ? "writes" : "reads";
}

std::string Races::memory_in_words(const Meeting& meeting) const {
  const std::string bytes = with_noun(fmt::format("{}", fmt::group_digits(meeting.bytes)), "byte");
  const Block* block = memory_.find(meeting.address);
  if (block != nullptr) {
    return fmt::format("{} of {}, from byte {} on", bytes, block->name,
                       fmt::group_digits(meeting.address - block->address));
  }
  const model::Allocation* variable = memory_.machine().find(meeting.address);
  if (variable == nullptr) return bytes;
  return fmt::format("{} of {}, from byte {} on", bytes, model::shown_name(*variable),
                     meeting.address - variable->address);
}

std::string Races::advice(const Operation& theirs, const Operation& own) const {
  if (own.launch != 0 && own.launch == theirs.launch) {
    return "add an edge between the two nodes of the graph";
  }
  const Track& track = tracks_[own.track];
  if (track.waited_for_nothing != nullptr) {
    return fmt::format(
        "the cudaStreamWaitEvent {} waits for an event that was not recorded yet, which is no "
        "wait: record it first",
        at(*track.waited_for_nothing));
  }
  const Track& other = tracks_[theirs.track];
  if (track.is_default != other.is_default && (!track.is_blocking || !other.is_blocking)) {
    const std::uint32_t behind = track.is_default ? theirs.stream : own.stream;
    return fmt::format(
        "{} was made with cudaStreamNonBlocking and the default stream do not wait for each "
        "other: wait for an event between the two (cudaStreamWaitEvent), or on the host",
        stream_in_words(behind));
  }
  return fmt::format(
      "record an event behind the first (cudaEventRecord) and let {} wait for it "
      "(cudaStreamWaitEvent)",
      own.stream == theirs.stream ? "the other" : stream_in_words(own.stream));
}

void Races::tell(const Operation& theirs, const Operation& own, const Meeting& meeting) {
  const bool is_both = meeting.theirs_writes && meeting.own_writes;
  find_("race between streams", *own.place, in_words(own) + in_words(theirs),
        fmt::format("{} {} {}, which {} {}{}, and nothing orders the two: {}",
                    in_words(own, own.is_of_graph), deed_in_words(own, meeting.own_writes),
                    memory_in_words(meeting), in_words(theirs),
                    deed_in_words(theirs, meeting.theirs_writes),
                    is_both && own.deed == theirs.deed ? " too" : "", advice(theirs, own)));
}

void Races::tell_changed(const Operation& theirs, const Meeting& meeting) {
  find_("race with the host", *theirs.place, in_words(theirs),
        fmt::format("host code changed {}, while {} might still {} them: wait for it before "
                    "(cudaStreamSynchronize, cudaEventSynchronize)",
                    memory_in_words(meeting), in_words(theirs, theirs.is_of_graph),
                    meeting.theirs_writes ? "write" : "read"));
}

/// `by`: of the system; empty: it is the program's own instruction.
void Races::tell_met(const Met& met, bool writes, std::string_view by, const void* instruction) {
  const Operation& theirs = operations_[met.operation];
  const auto [place, is_new] = touching_places_.try_emplace(instruction);
  if (is_new) place->second = place_of_signal(instruction).in_words();
  const Block* block = memory_.find(met.address);
  const model::Allocation* variable = memory_.machine().find(met.address);
  const std::string name = block != nullptr      ? block->name
                           : variable != nullptr ? model::shown_name(*variable)
                                                 : "managed memory";
  const std::uint64_t begin = block != nullptr      ? block->address
                              : variable != nullptr ? variable->address
                                                    : met.address;
  find_("race with the host", place->second, in_words(theirs),
        fmt::format("host code {}{} byte {} of {}, which {} might still be {}: wait for it before "
                    "(cudaDeviceSynchronize, cudaStreamSynchronize, cudaEventSynchronize)",
                    by.empty() ? "" : fmt::format("(by {}()) ", by), writes ? "writes" : "reads",
                    fmt::group_digits(met.address - begin), name, in_words(theirs),
                    met.theirs_writes ? "writing" : "reading"));
}

/// The last operation that host code would meet there.
Races::Met Races::met_by_host(const Stretch& bytes, bool writes) const {
  Met met;
  touches_.for_each_in(bytes.begin, bytes.end - bytes.begin,
                       [&](std::uint64_t address, std::uint64_t, std::uint32_t number,
                           bool theirs_writes, model::check::Strength strength) {
                         if (number < met.operation || (!theirs_writes && !writes)) return;
                         if (strength == model::check::Strength::system) return;
                         const Operation& theirs = operations_[number];
                         if (theirs.deed == Deed::allocation || theirs.meets_host) return;
                         if (host_.knows(theirs.track, theirs.number)) return;
                         if (number > met.operation) met = {number, address, false};
                         met.theirs_writes |= theirs_writes;
                       });
  return met;
}

Races::HostAccess Races::host_touches(std::uint64_t address, std::uint64_t bytes, bool writes,
                                      const void* instruction) {
  if (!host_guard_.has_kept(address)) return HostAccess::not_ours;
  Process& process = Process::get();
  if (process.is_fork() || is_in_host_function()) {  // its order is another
    host_guard_.give_up_page(address);
    return HostAccess::again;
  }
  if (call_depth > 0) return HostAccess::step;  // ours
  const std::lock_guard lock(process.mutex());
  if (!host_guard_.keeps(address)) {
    host_guard_.open({address, address + 1});
    return HostAccess::again;
  }
  const Met met = met_by_host({address, address + bytes}, writes);
  if (met.operation != 0) {
    tell_met(met, writes, "", instruction);
    host_guard_.give_up(operations_[met.operation].track, address);
    if (host_guard_.keeps(address)) host_guard_.give_up_page(address);
    return HostAccess::again;
  }
  const std::uint64_t page = address / host_page_bytes * host_page_bytes;
  const bool is_used = met_by_host({page, page + host_page_bytes}, true).operation != 0;
  if (is_used && ++steps_ <= most_steps) return HostAccess::step;
  is_partial_ |= is_used;
  host_guard_.give_up_page(address);
  return HostAccess::again;
}

Races::Met Races::open_for_system(const Stretch& bytes, bool writes) {
  Process& process = Process::get();
  Met met;
  // Without the lock, which a thread may have for long.
  if (!host_guard_.keeps_some(bytes)) return met;
  if (!process.is_fork() && !is_in_host_function() && call_depth == 0) {
    const std::lock_guard lock(process.mutex());
    met = met_by_host(bytes, writes);
  }
  host_guard_.open(bytes);
  return met;
}

void Races::system_touched(const Met& met, bool writes, std::string_view function,
                           const void* returned) {
  const std::lock_guard lock(Process::get().mutex());
  tell_met(met, writes, function, returned);
}

void Races::tell_freed(const Operation& theirs, const Meeting& meeting, std::string_view function) {
  find_("race with the host", place_of_call().in_words(), in_words(theirs),
        fmt::format("{} waits for nothing where memory comes from a pool, and frees {}, which {} "
                    "may still {}: use cudaFreeAsync behind it, or wait for it first",
                    function, memory_in_words(meeting), in_words(theirs),
                    meeting.theirs_writes ? "write" : "read"));
}

}  // namespace warpmeter::runtime
