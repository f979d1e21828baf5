// SPDX-License-Identifier: MIT
// Streams and events, as data: what a program has made them and what they still have to do.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "collector/runtime/device/clock.h"
#include "collector/runtime/device/cuda_api.h"
#include "collector/runtime/graph/graph.h"
#include "collector/runtime/memory/event_page.h"

namespace warpmeter::runtime {

struct Capture;
struct Context;
struct HostPlace;
struct Stream;

/// An operation that a stream was given, until it is done; see races.h.
struct Given {
  std::uint32_t operation = 0;  ///< 0: it touches nothing, or nobody asked
  std::uint32_t track = 0;
  Clock clock;
};

/// Something that a stream was given: all up to that number.
struct Ticket {
  std::shared_ptr<Stream> stream;
  std::uint64_t number = 0;

  bool is_done() const;
};

/// The number of the legacy default stream, as on hardware.
inline constexpr std::uint32_t legacy_stream_number = 7;

/// A stream or event belongs to a device. Work runs when it is given to a stream, which is one of
/// the orders that streams allow, unless it follows a host function (see outstanding.h).
struct Stream : std::enable_shared_from_this<Stream> {
  std::uint32_t number = 0;
  unsigned flags = 0;
  int priority = 0, device = 0;
  std::shared_ptr<Capture> capture;  ///< the capture that launches become part of; null: it runs
  std::vector<Node*> capture_after;  ///< nodes that the next one of this stream follows
  Ports capture_ports;               ///< the capture ports of those
  std::vector<cudaGraphEdgeData> capture_edges;  ///< the same as the program was last told
  Context* green = nullptr;  ///< the context with the multiprocessors for its kernels; null: all

  struct Waiting {
    Work work;
    std::vector<Ticket> after;  ///< for other streams, that come first
    Given given{};
    int device = 0;                    ///< that was current
    const HostPlace* place = nullptr;  ///< the place of the call; null: not kept
    std::string_view function;         ///< the call
    bool is_of_graph = false;
    std::uint32_t call = 0;  ///< the call's number: see Report
  };
  std::deque<Waiting> waiting;
  std::uint64_t given = 0, done = 0;  ///< the work that had to wait
  bool has_thread = false;
  bool is_left = false;  ///< its kernel waits for others: the host goes on meanwhile
  std::map<int, cudaLaunchAttributeValue> attributes;  ///< that were set
  std::vector<Ticket> follows;                         ///< the tickets that the next one waits for
  std::uint32_t track = 0;                             ///< see races.h; 0: it has none yet
};

/// The stream's green context. For the default stream, the current context's. Null: no restriction.
Context* green_of(cudaStream_t handle, const Stream& stream);
/// The device of the stream; of a default stream, the current one.
int device_of(cudaStream_t handle, const Stream& stream);

inline bool Ticket::is_done() const { return stream == nullptr || stream->done >= number; }

struct Event {
  unsigned flags = 0;
  int device = 0;
  bool is_recorded = false;
  std::chrono::steady_clock::time_point at;
  Ticket recorded_by;
  std::shared_ptr<Capture> captured_in;
  std::vector<Node*> captured_after;
  Ports captured_ports;
  std::shared_ptr<EventPage> page;  ///< where other processes have it too; null: they do not
  Clock recorded;                   ///< The clock before the last recording; see races.h

  /// The clock that waiting for it gives: of other processes' work nothing is known.
  Clock known() const {
    Clock clock = recorded;
    if (page != nullptr) clock.learn_all();
    return clock;
  }
};

}  // namespace warpmeter::runtime
