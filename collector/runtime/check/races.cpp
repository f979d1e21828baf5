// SPDX-License-Identifier: MIT
#include "collector/runtime/check/races.h"

#include <algorithm>
#include <utility>

#include "base/host_memory.h"
#include "base/kernel_name.h"
#include "collector/runtime/check/caller.h"
#include "collector/runtime/device/device.h"
#include "collector/runtime/image/module.h"

namespace warpmeter::runtime {
namespace {

using model::check::Strength;
using model::check::Touched;

/// A program that never waits for its streams: more operations are not told apart.
constexpr std::size_t most_operations = std::size_t{1} << 20;

bool touches_memory(const Work& work) {
  return std::holds_alternative<KernelWork>(work) || std::holds_alternative<CopyWork>(work) ||
         std::holds_alternative<SetWork>(work) || std::holds_alternative<FreeWork>(work) ||
         std::holds_alternative<AllocationWork>(work) || std::holds_alternative<LibraryWork>(work);
}

bool waits_for_values(const Work& work) {
  const auto* values = std::get_if<ValuesWork>(&work);
  return values != nullptr &&
         std::any_of(values->operations.begin(), values->operations.end(), [](const auto& one) {
           return one.operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 ||
                  one.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
         });
}

}  // namespace

// Order.

std::uint32_t Races::new_track(const Track& track) {
  if (free_tracks_.empty()) {
    tracks_.push_back(track);
    return static_cast<std::uint32_t>(tracks_.size() - 1);
  }
  const std::uint32_t number = free_tracks_.back();
  free_tracks_.pop_back();
  const std::uint64_t count = tracks_[number].count;  // its numbers go on
  tracks_[number] = track;
  tracks_[number].count = count;
  return number;
}

std::uint32_t Races::track_of(Stream& stream) {
  const bool is_default = stream.number == legacy_stream_number;
  std::uint32_t& track = is_default ? default_tracks_[current_device] : stream.track;
  if (track == 0) {
    Track made;
    made.device = is_default ? current_device : stream.device;
    made.is_default = is_default;
    made.is_blocking = (stream.flags & cudaStreamNonBlocking) == 0;
    track = new_track(made);
  }
  return track;
}

/// The legacy stream waits for all blocking ones, and they for it.
void Races::join_default(std::uint32_t number) {
  Track& track = tracks_[number];
  if (!track.is_blocking) return;
  if (!track.is_default) {
    const auto found = default_tracks_.find(track.device);
    if (found != default_tracks_.end()) track.clock.join(tracks_[found->second].clock);
    return;
  }
  for (const Track& other : tracks_) {
    if (other.is_blocking && other.device == track.device) track.clock.join(other.clock);
  }
}

Clock Races::clock_of(Stream& stream) {
  const std::uint32_t number = track_of(stream);
  tracks_[number].clock.join(host_);
  join_default(number);
  return tracks_[number].clock;
}

Given Races::add(std::uint32_t track, const Stream& stream, const Work& work,
                 std::string_view function, bool is_of_graph) {
  Given given;
  given.track = track;
  const std::uint64_t number = ++tracks_[track].count;
  tracks_[track].clock.learn(track, number);
  ++outstanding_;
  if (!touches_memory(work)) return given;
  Operation made{track, number, stream.number};
  made.is_of_graph = is_of_graph;
  made.launch = is_of_graph ? graph_launches_ : 0;
  const auto* kernel = std::get_if<KernelWork>(&work);
  made.deed = kernel != nullptr                              ? Deed::kernel
              : std::holds_alternative<FreeWork>(work)       ? Deed::free
              : std::holds_alternative<AllocationWork>(work) ? Deed::allocation
              : is_of_graph                                  ? Deed::node
                                                             : Deed::call;
  const auto* library = std::get_if<LibraryWork>(&work);
  made.name = kept(kernel != nullptr                        ? readable_name(kernel->kernel->entry())
                   : library != nullptr                     ? std::string(library->name)
                   : !is_of_graph                           ? std::string(function)
                   : std::holds_alternative<CopyWork>(work) ? "a copy"
                   : std::holds_alternative<SetWork>(work)  ? "a set"
                   : std::holds_alternative<FreeWork>(work) ? "the freeing"
                                                            : "the allocating");
  made.place = kept(place_of_frequent_call().in_words());
  given.operation = static_cast<std::uint32_t>(operations_.size());
  operations_.push_back(made);
  return given;
}

Given Races::give(Stream& stream, const Work& work, std::string_view function) {
  bound();
  clock_of(stream);
  const std::uint32_t track = track_of(stream);
  Given given = add(track, stream, work, function, false);
  // Nobody knows who writes the value for which it waits.
  if (waits_for_values(work)) tracks_[track].clock.learn_all();
  given.clock = tracks_[track].clock;
  return given;
}

Given Races::give_node(Stream& stream, std::uint32_t lane, const Clock& before, const Work& work) {
  std::uint32_t track = track_of(stream);
  if (lane > 0) {
    while (tracks_[track].lanes.size() < lane) {
      Track made;
      made.device = tracks_[track].device;
      const std::uint32_t beside = new_track(made);
      tracks_[track].lanes.push_back(beside);
    }
    track = tracks_[track].lanes[lane - 1];
  }
  const Clock own = std::exchange(tracks_[track].clock, before);
  Given given = add(track, stream, work, "", true);
  if (waits_for_values(work)) tracks_[track].clock.learn_all();
  given.clock = tracks_[track].clock;
  tracks_[track].clock = own;  // the stream goes on when all of the graph is done
  return given;
}

void Races::follow(Stream& stream, const Clock& clock) {
  tracks_[track_of(stream)].clock.join(clock);
}

void Races::waits_for_nothing(Stream& stream) {
  tracks_[track_of(stream)].waited_for_nothing = kept(place_of_frequent_call().in_words());
}

Clock Races::waited_clock(Stream& stream) {
  const std::uint32_t track = track_of(stream);
  if (tracks_[track].is_default) join_default(track);
  return tracks_[track].clock;
}

void Races::host_knows(const Clock& clock) {
  host_.join(clock);
  settle(host_);
  forget_known();
}

/// Earlier touches are the host's from now on.
void Races::settle(const Clock& clock) {
  const auto is_done = [&](std::uint32_t number) {
    return clock.knows(operations_[number].track, operations_[number].number);
  };
  host_guard_.open_if(is_done);
  look_at_registered();
  registered_.drop_if(is_done);
}

/// Finds the registered memory that host code has changed by now.
void Races::look_at_registered() {
  registered_.look(
      [&](std::uint32_t number, std::uint64_t address) {
        bool is_by_device = false;
        touches_.for_each_at(address, [&](std::uint32_t other, bool writes, Strength) {
          is_by_device |= writes && other > number;
        });
        return is_by_device;
      },
      [&](std::uint32_t number, std::uint64_t address, std::uint64_t bytes, bool was_written) {
        tell_changed(operations_[number], {address, bytes, was_written});
      });
}

Clock Races::clock_of_device(int device) const {
  Clock clock;
  for (std::uint32_t track = 1; track < tracks_.size(); ++track) {
    if (tracks_[track].device == device) clock.learn(track, tracks_[track].count);
  }
  return clock;
}

/// Where the host knows all that was given, nothing that comes can race with any of it.
void Races::forget_known() {
  bool is_all = true;
  for (std::uint32_t track = 1; track < tracks_.size(); ++track) {
    const bool is_known = host_.knows_number(track, tracks_[track].count);
    is_all &= is_known;
    if (!tracks_[track].is_left || !is_known) continue;
    tracks_[track].is_left = false;
    free_tracks_.push_back(track);
  }
  if (!is_all || outstanding_ > 0) return;
  operations_.resize(1);
  touches_.forget_all();
  registered_.forget_all();
  host_guard_.open_all();
  host_.forget_all_known();
  for (Track& track : tracks_) {
    track.clock.forget();
    track.waited_for_nothing = nullptr;
  }
}

void Races::bound() {
  if (most_bytes_ == 0) {
    const std::uint64_t available = available_memory();
    most_bytes_ = available > 0 ? available / 8 : std::size_t{1} << 30;
  }
  const bool is_much = operations_.size() >= most_operations || touches_.bytes() > most_bytes_;
  if (!is_much) return;
  touches_.forget_if([&](std::uint32_t number) {
    const Operation& operation = operations_[number];
    return host_.knows(operation.track, operation.number);
  });
  if (operations_.size() < most_operations && touches_.bytes() <= most_bytes_) return;
  touches_.forget_all();
  registered_.forget_all();
  host_guard_.open_all();
  if (outstanding_ == 0) operations_.resize(1);
  is_partial_ = true;
}

void Races::leave(const Stream& stream) {
  if (stream.track == 0) return;
  tracks_[stream.track].is_left = true;
  for (const std::uint32_t lane : tracks_[stream.track].lanes) tracks_[lane].is_left = true;
}

Races::Side Races::side_of(std::uint64_t address) const {
  const Block* block = memory_.find(address);
  if (block == nullptr) {
    if (memory_.machine().find(address) == nullptr) return Side::pageable;
    const Stretch shared = memory_.pages_with_two_views(address);
    return shared.holds(address) ? Side::managed : Side::device;  // a variable
  }
  switch (block->kind) {
    case MemoryKind::managed:
      return Side::managed;
    case MemoryKind::pinned:
    case MemoryKind::registered:
      return Side::pinned;
    default:
      return Side::device;
  }
}

/// "API synchronization behavior" of the runtime's reference.
void Races::returned(const Given& given, const Work& work, std::string_view function) {
  const bool is_async = function.find("Async") != std::string_view::npos;
  if (const auto* set = std::get_if<SetWork>(&work)) {
    const Side to = side_of(set->to);
    if (!is_async && (to == Side::pinned || to == Side::managed)) host_knows(given.clock);
    return;
  }
  const auto* copy = std::get_if<CopyWork>(&work);
  if (copy == nullptr || given.operation == 0) return;
  const Side to = side_of(copy->to), from = side_of(copy->from);
  const auto is_host = [](Side side) { return side == Side::pinned || side == Side::pageable; };
  if (to == Side::managed || from == Side::managed) {
    if (!is_async) host_knows(given.clock);
  } else if (is_host(to)) {
    // A pageable target is waited for whatever the call's name, as an H100's driver does.
    if (!is_async || to == Side::pageable || is_host(from)) host_knows(given.clock);
  } else if (is_host(from) && !is_async) {
    // The call waits for a copy of pageable memory, which may still be on its way.
    const Operation& own = operations_[given.operation];
    host_knows(from == Side::pinned ? given.clock : given.clock.without(own.track, own.number));
  }
}

// Begins the touches of an operation.

void Races::begin(Given& given) {
  current_ = &given;
  meetings_.clear();
  look_at_registered();  // before it writes there itself
}

void Races::end() {
  const Given& given = *std::exchange(current_, nullptr);
  --outstanding_;
  registered_.keep_written(given.operation);
  if (!host_guard_.close(given.operation, given.track) && !std::exchange(is_unguarded_, true)) {
    is_partial_ = true;
    say_(
        "the program handles SIGSEGV by a way of its own: host code that touches what a kernel or "
        "copy might still use is not found");
  }
  for (const auto& [theirs, meeting] : std::exchange(meetings_, {})) {
    tell(operations_[theirs], operations_[given.operation], meeting);
  }
}

bool Races::is_before(std::uint32_t number) const {
  const Operation& operation = operations_[number];
  return number == current_->operation || current_->clock.knows(operation.track, operation.number);
}

void Races::take(std::uint32_t operation, bool theirs_writes, std::uint64_t address,
                 std::uint64_t bytes, bool own_writes) {
  const auto [place, is_new] = meetings_.try_emplace(operation);
  Meeting& meeting = place->second;
  if (is_new) meeting.address = address;
  meeting.bytes += bytes;
  meeting.theirs_writes |= theirs_writes;
  meeting.own_writes |= own_writes;
}

void Races::touch(const Touched& touched) {
  if (current_ == nullptr || current_->operation == 0 || touched.bytes == 0) return;
  touches_.touch(touched, current_->operation, *this);
  const Operation& own = operations_[current_->operation];
  if (own.meets_host || own.deed == Deed::allocation) return;
  const auto is_kept = [](Strength strength) {
    return strength != Strength::none && strength != Strength::system;
  };
  const bool writes = is_kept(touched.writes), reads = is_kept(touched.reads);
  if (!writes && !reads) return;
  host_guard_.touch(touched.address, touched.bytes, writes);
  registered_.keep(current_->operation, {touched.address, touched.address + touched.bytes}, writes);
}

void Races::touch(std::uint64_t address, std::uint64_t bytes, bool writes) {
  if (side_of(address) == Side::pageable) return;
  touch({address, bytes, writes ? Strength::plain : Strength::none,
         writes ? Strength::none : Strength::plain});
}

void Races::touch(const model::check::Checker& kernel) {
  if (current_ == nullptr || current_->operation == 0) return;
  follow_answers();
  if (kernel.has_releases()) follow_flags(kernel);
  operations_[current_->operation].meets_host = kernel.has_system_fence();
  kernel.for_each_touched([&](const Touched& touched) { touch(touched); });
}

/// Kernels that run side by side may hand on data by flags: where one has a fence and writes what
/// another looks at, both with strong accesses, the other may well come behind it.
void Races::follow_flags(const model::check::Checker& kernel) {
  operations_[current_->operation].hands_on = true;
  kernel.for_each_touched([&](const Touched& touched) {
    const auto is_strong = [](Strength strength) { return strength > Strength::plain; };
    if (!is_strong(touched.reads) && !is_strong(touched.writes)) return;
    touches_.for_each_in(
        touched.address, touched.bytes,
        [&](std::uint64_t, std::uint64_t, std::uint32_t number, bool writes, Strength strength) {
          const Operation& theirs = operations_[number];
          if (!writes || !is_strong(strength) || !theirs.hands_on) return;
          current_->clock.learn(theirs.track, theirs.number);
          tracks_[current_->track].clock.learn(theirs.track, theirs.number);
        });
  });
}

std::set<std::uint32_t> Races::writers_of(std::uint64_t address) const {
  std::set<std::uint32_t> writers;
  touches_.for_each_at(address, [&](std::uint32_t number, bool writes, Strength) {
    if (writes) writers.insert(number);
  });
  return writers;
}

void Races::waits_for(const std::set<std::uint64_t>& addresses) {
  if (current_ == nullptr || current_->operation == 0) return;
  auto& before = waited_for_[current_->operation];
  for (const std::uint64_t address : addresses) {
    const auto [place, is_new] = before.try_emplace(address);
    if (is_new) place->second = writers_of(address);
  }
}

/// A kernel has gone on for what was written while it waited.
void Races::follow_answers() {
  const auto waited = waited_for_.extract(current_->operation);
  if (waited.empty()) return;
  for (const auto& [address, before] : waited.mapped()) {
    for (const std::uint32_t number : writers_of(address)) {
      if (before.contains(number)) continue;
      const Operation& theirs = operations_[number];
      current_->clock.learn(theirs.track, theirs.number);
      tracks_[current_->track].clock.learn(theirs.track, theirs.number);
    }
  }
}

// Memory.

void Races::allocated(Stream& stream, const Block& block, std::string_view function) {
  Given given = give(stream, AllocationWork{}, function);
  begin(given);
  touch(block.address, block.bytes, true);
  end();
}

void Races::freed(const Block& block, std::string_view function) {
  std::map<std::uint32_t, Meeting> pending;
  touches_.for_each_in(
      block.address, block.bytes,
      [&](std::uint64_t address, std::uint64_t bytes, std::uint32_t number, bool writes, Strength) {
        const Operation& theirs = operations_[number];
        if (theirs.deed == Deed::allocation) return;
        if (host_.knows(theirs.track, theirs.number)) return;
        const auto [place, is_new] = pending.try_emplace(number);
        if (is_new) place->second.address = address;
        place->second.bytes += bytes;
        place->second.theirs_writes |= writes;
      });
  for (const auto& [number, meeting] : pending) tell_freed(operations_[number], meeting, function);
}

void Races::released(const Block& block) {
  registered_.forget(block);
  touches_.forget(block.address, block.bytes);
}

}  // namespace warpmeter::runtime
