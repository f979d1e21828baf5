// SPDX-License-Identifier: MIT
// Races between what streams do, and of that with the host: what `profile --check` finds although
// everything was run in order here.
//
// Each operation that a stream is given has a clock (clock.h): which operations come before it
// whatever the device does, by the rules of the programming guide ("Asynchronous concurrent
// execution") and of the API's reference ("API synchronization behavior", "Stream synchronization
// behavior"). Its touches are compared with what others touched last (last_touches.h): the same
// bytes, one of the two writes, and neither comes before the other.
//
// The host is one, however many threads it has: what one of them waited for, all of them know.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/model/check/checker.h"
#include "collector/runtime/check/host_guard.h"
#include "collector/runtime/check/last_touches.h"
#include "collector/runtime/device/clock.h"
#include "collector/runtime/graph/stream.h"
#include "collector/runtime/memory/memory.h"
#include "collector/runtime/memory/registered_memory.h"

namespace warpmeter::runtime {

class Races final : private TouchSink {
 public:
  /// Tells of a race: its kind, the line of the later one, what it has in common with others of
  /// this line that are the same finding, and a message.
  using Find = std::function<void(const std::string& kind, const std::string& where,
                                  const std::string& what, const std::string& message)>;
  /// Tells the person something that is no race.
  using Say = std::function<void(const std::string& text)>;
  Races(Memory& memory, Find find, Say say)
      : memory_(memory),
        find_(std::move(find)),
        say_(std::move(say)),
        registered_(memory),
        host_guard_(memory) {}

  // Order. `function`: the call of the program.
  Given give(Stream& stream, const Work& work, std::string_view function);
  /// Gives a graph's node, on the track of that number beside the stream's; 0: its own.
  Given give_node(Stream& stream, std::uint32_t lane, const Clock& before, const Work& work);
  /// Before the first node of each launch.
  void begin_graph() { ++graph_launches_; }
  /// The clock before a stream's next operation, and what it comes after from now on.
  Clock clock_of(Stream& stream);
  void follow(Stream& stream, const Clock& clock);
  /// A stream waits for an event that nobody has recorded, which is no wait.
  void waits_for_nothing(Stream& stream);
  /// The host has seen it come to its end.
  void host_knows(const Clock& clock);
  /// All that the streams of a device were given.
  Clock clock_of_device(int device) const;
  /// The clock that waiting for a stream gives: of the default stream also what that waits for.
  Clock waited_clock(Stream& stream);
  /// The call that gave this work returns to the host, which knows what it waited for meanwhile.
  void returned(const Given& given, const Work& work, std::string_view function);
  /// A host function begins, and may change what was read before it.
  void begin_host_function(const Given& given) { settle(given.clock); }
  /// The stream has gone.
  void leave(const Stream& stream);

  // Begins the touches of operations, between begin() and end().
  void begin(Given& given);
  void end();
  /// Others go on meanwhile; then begin() again.
  void leave_off() { current_ = nullptr; }
  /// The kernel waits for what others write there: those who do from now on come before it.
  void waits_for(const std::set<std::uint64_t>& addresses);
  /// It is done, and touched nothing.
  void drop(const Given&) { --outstanding_; }
  void touch(std::uint64_t address, std::uint64_t bytes, bool writes);
  void touch(const model::check::Checker& kernel);

  // The host.
  /// By a signal handler: host code could not touch that. Told where it is a mistake, after which
  /// it may try again; where it is none, it may for a single instruction, then close_again().
  enum class HostAccess : std::uint8_t { not_ours, again, step };
  HostAccess host_touches(std::uint64_t address, std::uint64_t bytes, bool writes,
                          const void* instruction);
  void open(const Stretch& bytes) { host_guard_.open(bytes); }
  void close_again(const Stretch& bytes) { host_guard_.close_again(bytes); }
  /// A function of the system is about to touch memory for the program, and may: what of it an
  /// operation might still use. `returned`: where the program goes on. Then close_again().
  struct Met {
    std::uint32_t operation = 0;  ///< 0: none does
    std::uint64_t address = 0;    ///< the first such byte
    bool theirs_writes = false;
  };
  bool guards_any() const { return host_guard_.keeps_any(); }
  Met open_for_system(const Stretch& bytes, bool writes);
  void system_touched(const Met& met, bool writes, std::string_view function, const void* returned);

  // Memory.
  /// Allocated in a stream's order: for others it is not there before.
  void allocated(Stream& stream, const Block& block, std::string_view function);
  /// The host frees what was allocated so; that waits for nothing.
  void freed(const Block& block, std::string_view function);
  void released(const Block& block);
  void unmapped(const Stretch& pages) { host_guard_.forget(pages); }
  /// Some of it became too much to be followed.
  bool is_partial() const {
    return is_partial_ || registered_.is_partial() || host_guard_.is_partial();
  }

 private:
  enum class Deed : std::uint8_t { kernel, call, node, free, allocation };
  struct Operation {
    std::uint32_t track = 0;
    std::uint64_t number = 0;
    std::uint32_t stream = 0;  ///< its number
    Deed deed = Deed::call;
    bool is_of_graph = false;
    bool hands_on = false;     ///< a kernel with fences
    bool meets_host = false;   ///< one with fences for the host
    std::uint32_t launch = 0;  ///< the launch of the graph; 0: of none
    const std::string* name = nullptr;
    const std::string* place = nullptr;
  };
  struct Track {
    Clock clock;
    std::uint64_t count = 0;
    int device = 0;
    bool is_blocking = false, is_default = false, is_left = false;
    std::vector<std::uint32_t> lanes;
    const std::string* waited_for_nothing = nullptr;  ///< where
  };
  /// Bytes that an operation and an earlier one touch.
  struct Meeting {
    std::uint64_t address = 0, bytes = 0;
    bool theirs_writes = false, own_writes = false;
  };

  bool is_before(std::uint32_t operation) const override;
  void take(std::uint32_t operation, bool theirs_writes, std::uint64_t address, std::uint64_t bytes,
            bool own_writes) override;

  std::uint32_t track_of(Stream& stream);
  std::uint32_t new_track(const Track& track);
  void join_default(std::uint32_t track);
  Given add(std::uint32_t track, const Stream& stream, const Work& work, std::string_view function,
            bool is_of_graph);
  void touch(const model::check::Touched& touched);
  void follow_flags(const model::check::Checker& kernel);
  void follow_answers();
  std::set<std::uint32_t> writers_of(std::uint64_t address) const;
  void settle(const Clock& clock);
  void look_at_registered();
  void forget_known();
  void bound();
  enum class Side : std::uint8_t { device, managed, pinned, pageable };
  Side side_of(std::uint64_t address) const;
  const std::string* kept(const std::string& text) { return &*texts_.insert(text).first; }
  std::string in_words(const Operation& operation, bool has_place = true) const;
  std::string memory_in_words(const Meeting& meeting) const;
  static std::string_view deed_in_words(const Operation& operation, bool writes);
  std::string advice(const Operation& theirs, const Operation& own) const;
  void tell(const Operation& theirs, const Operation& own, const Meeting& meeting);
  void tell_changed(const Operation& theirs, const Meeting& meeting);
  Met met_by_host(const Stretch& bytes, bool writes) const;
  void tell_met(const Met& met, bool writes, std::string_view by, const void* instruction);
  void tell_freed(const Operation& theirs, const Meeting& meeting, std::string_view function);

  Memory& memory_;
  Find find_;
  Say say_;
  std::vector<Track> tracks_ = std::vector<Track>(1);
  std::vector<std::uint32_t> free_tracks_;
  std::map<int, std::uint32_t>
      default_tracks_;  ///< the default tracks of the legacy streams, by device
  std::vector<Operation> operations_ = std::vector<Operation>(1);
  std::set<std::string> texts_;
  std::uint64_t outstanding_ = 0;  ///< the operations under way
  std::uint32_t graph_launches_ = 0;
  Clock host_;
  Given* current_ = nullptr;
  std::map<std::uint32_t, Meeting>
      meetings_;  ///< the meetings of the current one, by the other operation
  /// By operation and address that it waits for: who had written there before.
  std::map<std::uint32_t, std::map<std::uint64_t, std::set<std::uint32_t>>> waited_for_;
  LastTouches touches_;
  RegisteredMemory registered_;
  HostGuard host_guard_;
  std::map<const void*, std::string> touching_places_;  ///< by instruction
  std::uint64_t steps_ = 0;  ///< the steps of host code on pages that are kept from it
  std::size_t most_bytes_ = 0;
  bool is_partial_ = false;
  bool is_unguarded_ = false;  ///< it was said
};

}  // namespace warpmeter::runtime
