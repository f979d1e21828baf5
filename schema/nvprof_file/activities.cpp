// SPDX-License-Identifier: MIT
#include "schema/nvprof_file/activities.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <unordered_map>
#include <utility>

#include "schema/nvprof_file/ids.h"
#include "schema/nvprof_file/words.h"

namespace warpmeter::schema {
namespace {

constexpr std::int64_t any = NvprofSource::any, any_32 = NvprofSource::any_32;
constexpr std::size_t activities_a_batch = 10'000;

std::string text_of(const std::optional<std::int64_t>& number) {
  return number ? std::to_string(*number) : "-";
}

/// Equal for equal shapes only: the texts come last, with their lengths.
std::string key_of(const ActivityShape& s) {
  std::string key = fmt::format("{} {}", s.process_id, s.kind);
  for (const auto* number : {&s.thread_id, &s.device_id, &s.context, &s.stream, &s.registers,
                             &s.static_shared_bytes, &s.dynamic_shared_bytes, &s.source_device,
                             &s.source_context, &s.target_device, &s.target_context}) {
    key += " " + text_of(*number);
  }
  if (s.grid) key += fmt::format(" {} {}", fmt::join(*s.grid, " "), fmt::join(*s.block, " "));
  return key + fmt::format(" {}:{} {}:{} {} {}", s.name.size(), s.name, s.symbol.size(), s.symbol,
                           s.source_memory, s.target_memory);
}

/// Process and thread as CUpti_ActivityObjectKindId has them: 4 bytes and 8.
std::pair<std::int64_t, std::int64_t> process_and_thread(const std::string& bytes) {
  std::uint32_t process = 0;
  std::uint64_t thread = 0;
  if (bytes.size() == sizeof process + sizeof thread) {
    std::memcpy(&process, bytes.data(), sizeof process);
    std::memcpy(&thread, bytes.data() + sizeof process, sizeof thread);
  }
  return {process, static_cast<std::int64_t>(thread)};
}

}  // namespace

NvprofActivities::NvprofActivities(NvprofSource& source, Target target)
    : source_(source), target_(std::move(target)) {
  constexpr std::string_view columns = "processId";
  if (!source_.has("RUNTIME")) return;
  Statement row(source_.db(), fmt::format("SELECT min(processId), max(processId) FROM ({})",
                                          source_.select("RUNTIME", columns, 1)));
  if (row.step() && row.integer(0) == row.integer(1)) process_id_ = row.integer(0);
}

void NvprofActivities::read() {
  read_kernels("KERNEL");
  read_kernels("CONCURRENT_KERNEL");
  read_copies("MEMCPY");
  read_copies("MEMCPY2");
  read_sets();
  read_calls("RUNTIME", true);
  read_calls("DRIVER", false);
  read_markers();
  read_managed();
  store_waiting();
}

Activity NvprofActivities::between(std::int64_t start, std::int64_t end) const {
  Activity activity;
  if (start == 0 || start < target_.clock_ns) return activity;
  activity.start_ns = start - target_.clock_ns;
  if (end >= start) activity.duration_ns = end - start;
  return activity;
}

Activity NvprofActivities::moved(const Statement& row, int bytes) const {
  Activity activity = between(source_.number(row, 0, 0, any), source_.number(row, 1, 0, any));
  activity.bytes = source_.number(row, bytes, 0, any);
  activity.correlation = source_.number(row, bytes + 1, 0, any);
  return activity;
}

void NvprofActivities::place_on_device(ActivityShape& shape, const Statement& row,
                                       int first) const {
  shape.process_id = process_id_;
  shape.device_id = target_.device_id(source_.number(row, first, 0, 1023));
  shape.context = source_.optional_number(row, first + 1, 0, any_32);
  shape.stream = source_.optional_number(row, first + 2, 0, any_32);
}

void NvprofActivities::add(const ActivityShape& shape, Activity activity) {
  const auto [place, is_new] =
      shapes_.try_emplace(key_of(shape), static_cast<std::uint32_t>(shapes_.size() + 1));
  if (is_new) {
    source_.charge(place->first.size());
    waiting_.shapes.emplace_back(place->second, shape);
  }
  activity.shape = place->second;
  if (waiting_.activities.empty()) waiting_.first_id = next_id_;
  ++next_id_;
  waiting_.activities.push_back(activity);
  if (waiting_.activities.size() == activities_a_batch) store_waiting();
}

void NvprofActivities::store_waiting() {
  target_.check_cancelled();
  if (!waiting_.empty()) target_.store->add_activities(target_.run_id, waiting_);
  waiting_ = {};
}

void NvprofActivities::read_kernels(std::string_view table) {
  if (!source_.has(table)) return;
  constexpr std::string_view columns =
      "start end correlationId name deviceId gridX gridY gridZ blockX blockY blockZ "
      "contextId streamId registersPerThread staticSharedMemory dynamicSharedMemory";
  Statement row(source_.db(), source_.select(table, columns, 11));
  while (row.step()) {
    ActivityShape shape;
    shape.kind = "kernel";
    const NvprofSource::KernelName& kernel = source_.kernel(source_.number(row, 3, 0, any));
    shape.symbol = kernel.mangled;
    shape.name = kernel.with_parameters;
    shape.process_id = process_id_;
    shape.device_id = target_.device_id(source_.number(row, 4, 0, 1023));
    shape.grid.emplace();
    shape.block.emplace();
    for (int i = 0; i < 3; ++i) {
      const auto axis = static_cast<std::size_t>(i);
      (*shape.grid)[axis] = static_cast<std::uint32_t>(source_.number(row, 5 + i, 0, any_32));
      (*shape.block)[axis] = static_cast<std::uint32_t>(source_.number(row, 8 + i, 0, any_32));
    }
    shape.context = source_.optional_number(row, 11, 0, any_32);
    shape.stream = source_.optional_number(row, 12, 0, any_32);
    shape.registers = source_.optional_number(row, 13, 0, any_32);
    shape.static_shared_bytes = source_.optional_number(row, 14, 0, any_32);
    shape.dynamic_shared_bytes = source_.optional_number(row, 15, 0, any_32);
    Activity activity = between(source_.number(row, 0, 0, any), source_.number(row, 1, 0, any));
    activity.correlation = source_.number(row, 2, 0, any);
    add(shape, activity);
  }
}

void NvprofActivities::read_copies(std::string_view table) {
  if (!source_.has(table)) return;
  constexpr std::string_view columns =
      "start end copyKind bytes correlationId deviceId contextId streamId srcKind dstKind "
      "srcDeviceId srcContextId dstDeviceId dstContextId";
  Statement row(source_.db(), source_.select(table, columns, 6));
  while (row.step()) {
    ActivityShape shape;
    shape.kind = "copy";
    shape.name = nvprof_copy_name(source_.number(row, 2, 0, 255));
    place_on_device(shape, row, 5);
    shape.source_memory = nvprof_memory_word(source_.optional_number(row, 8, 0, 255).value_or(0));
    shape.target_memory = nvprof_memory_word(source_.optional_number(row, 9, 0, 255).value_or(0));
    shape.source_device = source_.optional_number(row, 10, 0, any_32);
    shape.source_context = source_.optional_number(row, 11, 0, any_32);
    shape.target_device = source_.optional_number(row, 12, 0, any_32);
    shape.target_context = source_.optional_number(row, 13, 0, any_32);
    add(shape, moved(row, 3));
  }
}

void NvprofActivities::read_sets() {
  if (!source_.has("MEMSET")) return;
  constexpr std::string_view columns =
      "start end bytes correlationId deviceId contextId streamId memoryKind";
  Statement row(source_.db(), source_.select("MEMSET", columns, 5));
  while (row.step()) {
    ActivityShape shape;
    shape.kind = "set";
    shape.name = "[CUDA memset]";
    place_on_device(shape, row, 4);
    shape.target_memory = nvprof_memory_word(source_.optional_number(row, 7, 0, 255).value_or(0));
    add(shape, moved(row, 2));
  }
}

void NvprofActivities::read_calls(std::string_view table, bool is_runtime) {
  if (!source_.has(table)) return;
  constexpr std::string_view columns = "start end cbid processId threadId correlationId";
  Statement row(source_.db(), source_.select(table, columns, 6));
  while (row.step()) {
    const NvprofCall call{is_runtime, source_.number(row, 2, 0, any_32)};
    ActivityShape shape;
    shape.kind = "call";
    shape.name = nvprof_call(call);
    if (shape.name.empty()) {
      shape.name = fmt::format("{} function {}", is_runtime ? "runtime" : "driver", call.number);
    }
    shape.process_id = source_.number(row, 3, 0, any_32);
    // nvprof kept 32 bits of the thread, with a sign.
    shape.thread_id = source_.number(row, 4, -any, any) & 0xffff'ffff;
    Activity activity = between(source_.number(row, 0, 0, any), source_.number(row, 1, 0, any));
    activity.correlation = source_.number(row, 5, 0, any);
    add(shape, activity);
  }
}

/// A range is two markers of one number, with flags 2 and 4; a mark is one, with flag 1.
void NvprofActivities::read_markers() {
  if (!source_.has("MARKER")) return;
  constexpr int is_begin = 2, is_end = 4;
  constexpr std::string_view columns = "flags timestamp id name objectId";
  std::unordered_map<std::int64_t, std::int64_t> ends;
  {
    Statement row(source_.db(), source_.select("MARKER", columns, 4));
    while (row.step()) {
      if ((source_.number(row, 0, 0, any) & is_end) == 0) continue;
      ends.emplace(source_.number(row, 2, 0, any), source_.number(row, 1, 0, any));
    }
  }
  Statement row(source_.db(), source_.select("MARKER", columns, 4));
  while (row.step()) {
    const std::int64_t flags = source_.number(row, 0, 0, any),
                       name = source_.number(row, 3, 0, any);
    if ((flags & is_end) != 0 || name == 0) continue;
    const std::int64_t begin = source_.number(row, 1, 0, any);
    const auto end = ends.find(source_.number(row, 2, 0, any));
    const bool is_range = (flags & is_begin) != 0 && end != ends.end();
    ActivityShape shape;
    shape.kind = "range";
    shape.name = source_.text(name);
    const auto [process, thread] = process_and_thread(row.text(4));
    shape.process_id = process;
    shape.thread_id = thread;
    add(shape, between(begin, is_range ? end->second : begin));
  }
}

void NvprofActivities::read_managed() {
  if (!source_.has("UNIFIED_MEMORY_COUNTER")) return;
  constexpr std::string_view columns = "counterKind value start end address srcId dstId processId";
  // Before CUDA 7 a row had a time and a device in place of these.
  Statement row(source_.db(), source_.select("UNIFIED_MEMORY_COUNTER", columns, 2));
  while (row.step()) {
    const NvprofManaged event = nvprof_managed(source_.number(row, 0, 0, any_32));
    if (event.kind.empty()) continue;
    ActivityShape shape;
    shape.kind = event.kind;
    shape.name = event.name;
    shape.process_id = source_.optional_number(row, 7, 0, any_32).value_or(process_id_);
    const bool is_fault = event.kind == "page fault";
    if (event.kind == "migration") {
      shape.source_device = source_.optional_number(row, 5, 0, any_32);
      shape.target_device = source_.optional_number(row, 6, 0, any_32);
    }
    Activity activity = between(source_.optional_number(row, 2, 0, any).value_or(0),
                                source_.optional_number(row, 3, 0, any).value_or(0));
    const std::int64_t value = source_.number(row, 1, 0, any);
    // The value of a CPU's fault is no count but where the program was.
    constexpr std::string_view of_cpu = "[Unified Memory CPU page faults]";
    (is_fault ? activity.faults : activity.bytes) = event.name == of_cpu ? 1 : value;
    activity.address = source_.optional_number(row, 4, 0, any);
    add(shape, activity);
  }
}

}  // namespace warpmeter::schema
