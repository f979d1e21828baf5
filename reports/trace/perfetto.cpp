// SPDX-License-Identifier: MIT
// A slice is two packets, its begin and its end, in the order of time. Names and categories are
// interned: a packet has their numbers.
#include "reports/trace/perfetto.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <protozero/pbf_builder.hpp>
#include <queue>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/utf8.h"
#include "reports/trace/timeline.h"

namespace warpmeter::reports {
namespace {

// The numbers of the fields that are written, from Perfetto's .proto files.
enum class InTrace : protozero::pbf_tag_type { packet = 1 };
enum class InPacket : protozero::pbf_tag_type {
  timestamp = 8,
  sequence_id = 10,
  track_event = 11,
  interned_data = 12,
  sequence_flags = 13,
  track_descriptor = 60
};
enum class InTrack : protozero::pbf_tag_type {
  uuid = 1,
  name = 2,
  process = 3,
  thread = 4,
  parent_uuid = 5,
  child_ordering = 11,
  sibling_order_rank = 12
};
enum class InProcess : protozero::pbf_tag_type { pid = 1, process_name = 6 };
enum class InThread : protozero::pbf_tag_type { pid = 1, tid = 2 };
enum class InEvent : protozero::pbf_tag_type {
  category_iids = 3,
  debug_annotations = 4,
  type = 9,
  name_iid = 10,
  track_uuid = 11,
  flow_ids = 47
};
enum class InInterned : protozero::pbf_tag_type { categories = 1, names = 2, annotations = 3 };
enum class InName : protozero::pbf_tag_type { iid = 1, name = 2 };
enum class InAnnotation : protozero::pbf_tag_type { name_iid = 1, int_value = 4, string_value = 6 };

using TraceBuilder = protozero::pbf_builder<InTrace>;
using Packet = protozero::pbf_builder<InPacket>;
using TrackDescriptor = protozero::pbf_builder<InTrack>;
using Event = protozero::pbf_builder<InEvent>;
using Annotation = protozero::pbf_builder<InAnnotation>;

constexpr int slice_begin = 1, slice_end = 2;          // TrackEvent.Type
constexpr std::uint32_t cleared = 1, needs_state = 2;  // TracePacket.SequenceFlags
constexpr int explicit_order = 3;                      // TrackDescriptor.ChildTracksOrdering
constexpr std::size_t chunk_bytes = std::size_t{1} << 20;

/// Numbers for texts, from 1 in the order of their first use.
class Interned {
 public:
  std::uint64_t of(const std::string& text) {
    return numbers_.try_emplace(text, numbers_.size() + 1).first->second;
  }
  void write(protozero::pbf_builder<InInterned>& interned, InInterned field) const {
    for (const auto& [text, number] : numbers_) {
      protozero::pbf_builder<InName> entry(interned, field);
      entry.add_uint64(InName::iid, number);
      entry.add_string(InName::name, text);
    }
  }

 private:
  std::map<std::string, std::uint64_t> numbers_;
};

/// A call and what it gave a device have this in common; nullopt where that is not known.
std::optional<std::uint64_t> flow_of(const TracedShape& shape, const TracedActivity& activity) {
  if (!activity.correlation || *activity.correlation <= 0 || shape.kind == "range") return {};
  return static_cast<std::uint64_t>(shape.process_id.value_or(0)) << 40U |
         (static_cast<std::uint64_t>(*activity.correlation) & ((std::uint64_t{1} << 40U) - 1));
}

class PerfettoWriter {
 public:
  PerfettoWriter(const Trace& trace, const Timeline& timeline,
                 const std::function<bool(std::string_view)>& sink)
      : trace_(trace), timeline_(timeline), sink_(sink), file_(buffer_) {}

  void write() {
    add_flows();
    for (const TracedShape& shape : trace_.shapes) shapes_.push_back(shape_fields(shape));
    for (const char* name : own_names) annotations_.of(name);
    write_interned();
    write_tracks();
    write_slices();
    sink_(buffer_);
  }

 private:
  static constexpr const char* own_names[] = {"bytes", "faults", "address", "correlation"};

  /// Flows have two ends: those numbers that a call and a device's work share.
  void add_flows() {
    std::unordered_set<std::uint64_t> calls;
    for (const TracedActivity& activity : trace_.activities) {
      const TracedShape& shape = trace_.shapes[activity.shape];
      const auto flow = flow_of(shape, activity);
      if (flow && shape.kind == "call") calls.insert(*flow);
    }
    for (const TracedActivity& activity : trace_.activities) {
      const TracedShape& shape = trace_.shapes[activity.shape];
      const auto flow = flow_of(shape, activity);
      if (flow && shape.kind != "call" && calls.contains(*flow)) flows_.insert(*flow);
    }
  }

  template <typename Add>
  void annotate(Event& event, const char* name, const Add& add) {
    Annotation annotation(event, InEvent::debug_annotations);
    annotation.add_uint64(InAnnotation::name_iid, annotations_.of(name));
    add(annotation);
  }
  void annotate_number(Event& event, const char* name, const std::optional<std::int64_t>& value) {
    if (!value) return;
    annotate(event, name, [&](Annotation& a) { a.add_int64(InAnnotation::int_value, *value); });
  }
  void annotate_text(Event& event, const char* name, const std::string& text) {
    if (text.empty()) return;
    annotate(event, name, [&](Annotation& a) { a.add_string(InAnnotation::string_value, text); });
  }

  /// The fields that the begins of all activities of a shape share.
  std::string shape_fields(const TracedShape& shape) {
    std::string fields;
    Event event(fields);
    event.add_uint64(InEvent::category_iids, categories_.of(printable(shape.kind)));
    event.add_uint64(InEvent::name_iid, names_.of(printable(shape.name)));
    const auto extent = [](const std::optional<std::array<std::int64_t, 3>>& e) {
      return e ? fmt::format("{} x {} x {}", (*e)[0], (*e)[1], (*e)[2]) : std::string();
    };
    annotate_text(event, "grid", extent(shape.grid));
    annotate_text(event, "block", extent(shape.block));
    annotate_number(event, "registers", shape.registers);
    annotate_number(event, "static_shared_bytes", shape.static_shared_bytes);
    annotate_number(event, "dynamic_shared_bytes", shape.dynamic_shared_bytes);
    annotate_text(event, "source_memory", printable(shape.source_memory));
    annotate_text(event, "target_memory", printable(shape.target_memory));
    annotate_number(event, "source_device", shape.source_device);
    annotate_number(event, "target_device", shape.target_device);
    return fields;
  }

  template <typename Fill>
  void packet(std::uint32_t flags, const Fill& fill) {
    {
      Packet packet(file_, InTrace::packet);
      packet.add_uint32(InPacket::sequence_id, 1);
      packet.add_uint32(InPacket::sequence_flags, flags);
      fill(packet);
    }
    if (buffer_.size() < chunk_bytes) return;
    wanted_ = wanted_ && sink_(buffer_);
    buffer_.clear();
  }

  void write_interned() {
    packet(cleared | needs_state, [&](Packet& packet) {
      protozero::pbf_builder<InInterned> interned(packet, InPacket::interned_data);
      categories_.write(interned, InInterned::categories);
      names_.write(interned, InInterned::names);
      annotations_.write(interned, InInterned::annotations);
    });
  }

  template <typename Fill>
  std::uint64_t add_track(std::uint64_t parent, const std::string& name, const Fill& fill) {
    const std::uint64_t uuid = ++tracks_;
    packet(needs_state, [&](Packet& packet) {
      TrackDescriptor track(packet, InPacket::track_descriptor);
      track.add_uint64(InTrack::uuid, uuid);
      if (!name.empty()) track.add_string(InTrack::name, name);
      if (parent != 0) track.add_uint64(InTrack::parent_uuid, parent);
      track.add_int32(InTrack::sibling_order_rank, static_cast<std::int32_t>(uuid));
      fill(track);
    });
    return uuid;
  }

  /// The track that a row lies below.
  std::uint64_t parent_of(const TimelineRow& row) {
    const auto sorts = [](TrackDescriptor& t) {
      t.add_enum(InTrack::child_ordering, explicit_order);
    };
    if (row.is_on_device()) {
      const std::string name = printable(row.group());
      const auto [at, is_new] = devices_.try_emplace(name, 0);
      if (is_new) at->second = add_track(0, name, sorts);
      return at->second;
    }
    const auto pid = static_cast<std::int32_t>(row.process_id);
    const auto [process, is_new_process] = processes_.try_emplace(pid, 0);
    if (is_new_process) {
      process->second = add_track(0, "", [&](TrackDescriptor& track) {
        protozero::pbf_builder<InProcess> words(track, InTrack::process);
        words.add_int32(InProcess::pid, pid);
        words.add_string(InProcess::process_name, row.group());
      });
    }
    const std::int64_t tid = row.thread_id.value_or(0);
    const auto [thread, is_new_thread] = threads_.try_emplace({pid, tid}, 0);
    if (is_new_thread) {
      thread->second = add_track(process->second, "", [&](TrackDescriptor& track) {
        protozero::pbf_builder<InThread> words(track, InTrack::thread);
        words.add_int32(InThread::pid, pid);
        words.add_int64(InThread::tid, tid);
      });
    }
    return thread->second;
  }

  void write_tracks() {
    for (const TimelineRow& row : timeline_.rows) {
      const std::uint64_t parent = parent_of(row);
      std::vector<std::uint64_t>& lanes = lanes_.emplace_back();
      for (std::size_t i = 0; i < row.depths.size(); ++i) {
        lanes.push_back(add_track(parent, printable(row.name()), [](TrackDescriptor&) {}));
      }
    }
  }

  std::uint64_t time(std::int64_t ns) const {  // a range may begin before the run's clock
    return static_cast<std::uint64_t>(ns - std::min<std::int64_t>(0, timeline_.begin_ns));
  }

  void write_begin(std::int64_t start_ns, std::uint64_t track, const TracedActivity& activity) {
    packet(needs_state, [&](Packet& packet) {
      packet.add_uint64(InPacket::timestamp, time(start_ns));
      std::string fields = shapes_[activity.shape];
      Event event(fields);
      event.add_enum(InEvent::type, slice_begin);
      event.add_uint64(InEvent::track_uuid, track);
      annotate_number(event, "bytes", activity.bytes);
      annotate_number(event, "faults", activity.faults);
      annotate_number(event, "address", activity.address);
      annotate_number(event, "correlation", activity.correlation);
      const auto flow = flow_of(trace_.shapes[activity.shape], activity);
      if (flow && flows_.contains(*flow)) event.add_fixed64(InEvent::flow_ids, *flow);
      packet.add_message(InPacket::track_event, fields);
    });
  }

  void write_end(std::int64_t end_ns, std::uint64_t track) {
    packet(needs_state, [&](Packet& packet) {
      packet.add_uint64(InPacket::timestamp, time(end_ns));
      Event event(packet, InPacket::track_event);
      event.add_enum(InEvent::type, slice_end);
      event.add_uint64(InEvent::track_uuid, track);
    });
  }

  void write_slices() {
    using End = std::pair<std::int64_t, std::uint64_t>;  // time, track
    std::priority_queue<End, std::vector<End>, std::greater<>> ends;
    for (const TimelinePlace& place : timeline_.places) {
      const TracedActivity& activity = trace_.activities[place.activity];
      const std::int64_t start = *activity.start_ns;
      for (; !ends.empty() && ends.top().first <= start; ends.pop()) {
        write_end(ends.top().first, ends.top().second);
      }
      const std::uint64_t track = lanes_[place.row][place.lane];
      write_begin(start, track, activity);
      ends.emplace(activity.end_ns(), track);
      if (!wanted_) return;
    }
    for (; !ends.empty(); ends.pop()) write_end(ends.top().first, ends.top().second);
  }

  const Trace& trace_;
  const Timeline& timeline_;
  const std::function<bool(std::string_view)>& sink_;
  std::string buffer_;
  TraceBuilder file_;
  bool wanted_ = true;  ///< false: the reader of the pipe has gone
  Interned categories_, names_, annotations_;
  std::vector<std::string> shapes_;
  std::unordered_set<std::uint64_t> flows_;
  std::uint64_t tracks_ = 0;
  std::map<std::string, std::uint64_t> devices_;
  std::map<std::int32_t, std::uint64_t> processes_;
  std::map<std::pair<std::int32_t, std::int64_t>, std::uint64_t> threads_;
  std::vector<std::vector<std::uint64_t>> lanes_;  ///< the tracks of each row's lanes
};

}  // namespace

PerfettoWritten write_perfetto(const schema::Reader& reader, std::int64_t run_id,
                               const std::function<bool(std::string_view)>& sink) {
  const Trace trace = read_trace(reader, run_id);
  const Timeline timeline = timeline_of(trace);
  if (timeline.places.empty()) {
    throw Error(
        ExitCode::nothing,
        timeline.untimed > 0
            ? fmt::format("the activities of run {} have no times, for the model has no "
                          "clock: a timeline needs a GPU",
                          run_id)
            : fmt::format("run {} has no activities: record them with warpmeter profile --trace",
                          run_id));
  }
  PerfettoWriter(trace, timeline, sink).write();
  return {timeline.places.size(), timeline.untimed};
}

}  // namespace warpmeter::reports
