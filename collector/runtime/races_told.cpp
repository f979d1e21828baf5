// Races in words, and those that show by what host code touches.
#include <fmt/format.h>

#include "collector/model/machine/shown_name.h"
#include "collector/runtime/call.h"
#include "collector/runtime/caller.h"
#include "collector/runtime/process.h"
#include "collector/runtime/races.h"

namespace warpmeter::runtime {
namespace {

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
  const std::string bytes =
      fmt::format("{} byte{}", fmt::group_digits(meeting.bytes), meeting.bytes == 1 ? "" : "s");
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

void Races::tell_changed(const Operation& reader, const Meeting& meeting) {
  find_("race with the host", *reader.place, in_words(reader),
        fmt::format("host code changed {}, while {} might still read them: wait for it before "
                    "(cudaStreamSynchronize, cudaEventSynchronize)",
                    memory_in_words(meeting), in_words(reader, reader.is_of_graph)));
}

void Races::tell_touched(const Operation& theirs, std::uint64_t address, bool writes,
                         const std::string& where) {
  const Block* block = memory_.find(address);
  find_(
      "race with the host", where, in_words(theirs),
      fmt::format("host code {} byte {} of {}, which {} might still be writing: wait for it before "
                  "(cudaDeviceSynchronize, cudaStreamSynchronize, cudaEventSynchronize)",
                  writes ? "writes" : "reads", fmt::group_digits(address - block->address),
                  block->name, in_words(theirs)));
}

bool Races::host_touches(std::uint64_t address, bool writes, const void* instruction) {
  if (!host_guard_.has_kept(address)) return false;
  Process& process = Process::get();
  if (process.is_fork() || call_depth > 0 || is_in_host_function()) {
    host_guard_.open_at(address);  // none of the code that has to wait
    return true;
  }
  const std::lock_guard lock(process.mutex());
  const std::uint32_t number = host_guard_.open_at(address);
  if (number == 0) return true;
  const auto [place, is_new] = touching_places_.try_emplace(instruction);
  if (is_new) place->second = place_of_signal(instruction).in_words();
  tell_touched(operations_[number], address, writes, place->second);
  return true;
}

void Races::tell_freed(const Operation& theirs, const Meeting& meeting, std::string_view function) {
  find_("race with the host", place_of_call().in_words(), in_words(theirs),
        fmt::format("{} waits for nothing where memory comes from a pool, and frees {}, which {} "
                    "may still {}: use cudaFreeAsync behind it, or wait for it first",
                    function, memory_in_words(meeting), in_words(theirs),
                    meeting.theirs_writes ? "write" : "read"));
}

}  // namespace warpmeter::runtime
