// SPDX-License-Identifier: MIT
// The rows of a picture of a trace, and the place of each activity in them.
//
// A row is a stream of a device, the managed memory of a device, or the calls or ranges of a
// thread. Activities of a row nest (a range in a range) or overlap (kernels of a graph on one
// stream). Each gets the first lane of its row in which it lies within another activity or beside
// all of them; its depth is the number of activities that it lies in.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reports/trace/trace.h"

namespace warpmeter::reports {

struct TimelineRow {
  enum class Kind { stream, memory, calls, ranges };
  Kind kind = Kind::stream;
  std::optional<std::int64_t> device_ordinal;  ///< nullopt: a row of the host
  std::string device;
  std::int64_t process_id = 0;
  std::optional<std::int64_t> context, stream, thread_id;
  std::vector<std::size_t> depths;  ///< a lane each: the most activities that nest

  bool is_on_device() const { return kind == Kind::stream || kind == Kind::memory; }
  /// "stream 7", "managed memory", "calls", "ranges", with what tells it apart.
  std::string name() const;
  /// The device or process that it is shown with.
  std::string group() const;
};

struct TimelinePlace {
  std::size_t activity = 0;  ///< its place in Trace::activities
  std::uint32_t row = 0, lane = 0, depth = 0;
};

struct Timeline {
  std::vector<TimelineRow> rows;      ///< devices first
  std::vector<TimelinePlace> places;  ///< by start; of those that start together the longest first
  std::int64_t begin_ns = 0, end_ns = 0;
  std::size_t untimed = 0;  ///< activities without a start: the model has no clock
};

/// The time that intervals cover together. They come in the order of their starts.
class CoveredTime {
 public:
  void add(std::int64_t start_ns, std::int64_t end_ns) {
    ns_ += std::max<std::int64_t>(0, end_ns - std::max(start_ns, end_ns_));
    end_ns_ = std::max(end_ns_, end_ns);
  }
  std::int64_t ns() const { return ns_; }

 private:
  std::int64_t ns_ = 0, end_ns_ = INT64_MIN;
};

Timeline timeline_of(const Trace& trace);

}  // namespace warpmeter::reports
