// SPDX-License-Identifier: MIT
// The recorder's activities: each is summed up; a kernel is a launch too; a traced run stores every
// one of them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <iterator>
#include <utility>

#include "base/kernel_name.h"
#include "base/statistics.h"
#include "collector/profile/recorder.h"

namespace warpmeter::profile {
namespace {

using inject::ActivityKind;
using inject::MemoryKind;

/// More than any program has; a process that sends more is no program of ours.
constexpr std::size_t most_activity_shapes = 4'000'000;

/// In the order of the enumeration.
constexpr const char* activity_words[] = {"kernel",     "copy",       "set",       "call",
                                          "range",      "page fault", "migration", "thrashing",
                                          "throttling", "remote map", "allocation"};
static_assert(std::size(activity_words) == static_cast<int>(ActivityKind::allocation) + 1);
const char* word_of(ActivityKind kind) { return activity_words[static_cast<int>(kind)]; }

/// nvprof's words, in the order of the enumeration.
constexpr const char* memory_words[] = {"",       "Pageable", "Pinned",        "Device",
                                        "Array",  "Managed",  "Device Static", "Managed Static",
                                        "Unknown"};
static_assert(std::size(memory_words) == static_cast<int>(MemoryKind::unknown) + 1);
const char* word_of(MemoryKind kind) { return memory_words[static_cast<int>(kind)]; }

std::optional<std::int64_t> unless_zero(std::uint64_t value) {
  if (value == 0) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

}  // namespace

Activity& Recorder::sum_of(ActivityKind kind, const std::string& name) {
  Activity& sum = activities_[{kind, name}];  // stays where it is
  sum.kind = kind;
  sum.name = name;
  return sum;
}

bool Recorder::is_traced(ActivityKind kind) const {
  return kind == ActivityKind::call ? options_.traces_calls : options_.traces;
}

bool Recorder::take_shape(Process& process, const inject::ActivityShape& message) {
  const auto name = process.names.find(message.name);
  const bool is_kernel = message.kind == ActivityKind::kernel;
  if (message.id != process.shapes.size() + 1 || message.id > most_activity_shapes ||
      name == process.names.end() || (is_kernel && !message.shape)) {
    return false;
  }
  Shape shape;
  shape.message = message;
  if (message.shape) shape.device = device_of(process, message.shape->device);
  if (is_kernel) {
    shape.launch = describe(process, *message.shape);
    if (!shape.launch) return false;
  }
  process.shapes.push_back(std::move(shape));
  return true;
}

bool Recorder::take_activity(int peer, Process& process, const inject::Activity& message) {
  if (message.shape == 0 || message.shape > process.shapes.size()) return false;
  const double duration_ns = message.duration_ns.value_or(0);
  if (!(duration_ns >= 0 && std::isfinite(duration_ns))) return false;
  Shape& shape = process.shapes[message.shape - 1];
  if (!later_) {
    if (shape.sum == nullptr) {
      shape.sum = &sum_of(shape.message.kind, process.names.at(shape.message.name).text);
    }
    ++shape.sum->calls;
    shape.sum->amount += message.amount;
    if (message.duration_ns) {
      shape.sum->durations_ns.push_back(static_cast<float>(duration_ns));
      shape.sum->total_ns += duration_ns;
    }
  }
  if (!later_ && is_traced(shape.message.kind)) trace(process, shape, message);
  if (!shape.launch) return true;
  if (!later_) ++launches_;
  if (!later_ && (options_.traces || options_.traces_calls)) {
    if (shape.alike == nullptr) shape.alike = &alike_of(shape);
    if (message.duration_ns) shape.alike->durations_ns.push_back(duration_ns);
    return true;
  }
  schema::Launch launch = *shape.launch;
  if (message.duration_ns) {
    launch.timing = timing_of(duration_ns);
  } else {
    launch.timing_reason = options_.timing_reason;
  }
  if (!later_) {
    keep(shape.device, std::nullopt, std::move(launch));
  } else if (message.correlation != 0 && !message.is_in_graph) {
    const std::uint32_t identity = identities_.number_of(launch.kernel, *shape.message.shape);
    later_->sightings().add_traced(peer, *shape.message.shape, identity, message.correlation);
    later_->add(identity, shape.device, launch);
  }
  return true;
}

/// The stored trace learns of the shape.
void Recorder::describe_shape(const Process& process, Shape& shape) {
  const inject::ActivityShape& message = shape.message;
  const std::string& name = process.names.at(message.name).text;
  shape.number = next_shape_++;
  schema::ActivityShape row;
  row.kind = word_of(message.kind);
  row.name = name;
  row.process_id = process.id;
  row.thread_id = unless_zero(message.thread);
  if (shape.launch) {
    row.name = demangled(name);
    row.symbol = name;
    row.grid = message.shape->grid;
    row.block = message.shape->block;
    row.registers = message.shape->registers;
    row.static_shared_bytes = message.shape->static_shared_bytes;
    row.dynamic_shared_bytes = message.shape->dynamic_shared_bytes;
  }
  if (message.shape) {
    row.context = unless_zero(message.shape->context);
    if (row.context) row.stream = message.shape->stream;
  }
  row.source_memory = word_of(message.source_memory);
  row.target_memory = word_of(message.target_memory);
  const auto ordinal = [&](const inject::DeviceEnd& end) -> std::int64_t {
    const auto known = devices_.find(device_of(process, end.device));
    return known != devices_.end() ? known->second.ordinal : static_cast<int>(end.device);
  };
  if (message.source) {
    row.source_device = ordinal(*message.source);
    row.source_context = unless_zero(message.source->context);
  }
  if (message.target) {
    row.target_device = ordinal(*message.target);
    row.target_context = unless_zero(message.target->context);
  }
  trace_waiting_.rows.shapes.emplace_back(shape.number, std::move(row));
  trace_waiting_.devices.push_back(message.shape ? std::optional(stored_device(shape.device))
                                                 : std::nullopt);
}

/// Without a start there is no clock, and durations are not the program's.
void Recorder::trace(Process& process, Shape& shape, const inject::Activity& message) {
  if (shape.number == 0) describe_shape(process, shape);
  schema::Activity row;
  row.shape = shape.number;
  if (message.start_ns != 0) {
    row.start_ns = static_cast<std::int64_t>(message.start_ns - clock_ns_.value_or(0));
    if (message.duration_ns) row.duration_ns = std::llround(*message.duration_ns);
  }
  const bool is_fault = shape.message.kind == ActivityKind::page_fault;
  if (!shape.launch) (is_fault ? row.faults : row.bytes) = unless_zero(message.amount);
  row.correlation = unless_zero(message.correlation);
  if (message.address) row.address = static_cast<std::int64_t>(*message.address);
  if (trace_waiting_.rows.activities.empty()) trace_waiting_.rows.first_id = next_activity_;
  ++next_activity_;
  trace_waiting_.rows.activities.push_back(row);
}

Recorder::Alike& Recorder::alike_of(const Shape& shape) {
  const schema::Launch& launch = *shape.launch;
  const std::string key =
      fmt::format("{}\n{}\n{}\n{} {} {} {} {} {}", shape.device, launch.kernel, launch.nvtx_range,
                  fmt::join(launch.grid, " "), fmt::join(launch.block, " "),
                  launch.dynamic_shared_bytes, launch.static_shared_bytes.value_or(-1),
                  launch.registers.value_or(-1), launch.local_bytes.value_or(-1));
  Alike& alike = alike_[key];
  alike.device = shape.device;
  alike.launch = launch;
  return alike;
}

/// The launches of a traced run, to be stored.
void Recorder::keep_alike() {
  for (auto& [key, alike] : std::exchange(alike_, {})) {
    if (alike.durations_ns.empty()) {
      alike.launch.timing_reason = options_.timing_reason;
    } else {
      alike.launch.timing = timing_of(alike.durations_ns.front());
      alike.launch.timing->relative_confidence =
          median_interval(alike.durations_ns).relative_half_width();
      alike.launch.timing->samples_ns = std::move(alike.durations_ns);
    }
    keep(alike.device, std::nullopt, std::move(alike.launch));
  }
}

}  // namespace warpmeter::profile
