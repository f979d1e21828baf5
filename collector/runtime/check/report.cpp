// SPDX-License-Identifier: MIT
#include "collector/runtime/check/report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "collector/inject/ranges.h"
#include "collector/model/counts/grades.h"
#include "collector/model/counts/intervals.h"
#include "collector/model/counts/kernel_code.h"
#include "collector/model/counts/source_lines.h"
#include "collector/model/input/kernel_file.h"
#include "collector/runtime/check/sources.h"
#include "collector/runtime/device/device.h"

namespace warpmeter::runtime {
namespace {

/// Calls that wait to be sent; a kernel or a copy is sent at once, with all before it.
constexpr std::size_t most_waiting = 256;
/// The size of a line's numbers in a frame.
constexpr std::size_t lines_in_a_frame = 1000;

std::uint64_t nanoseconds(std::chrono::nanoseconds time) {
  return static_cast<std::uint64_t>(time.count());
}

}  // namespace

Report::Report(const std::string& socket) : channel_(socket) {
  const auto config = channel_.receive_config();
  if (config) config_ = *config;
  counters_.assign(config_.counters.begin(), config_.counters.end());
  allow_sources(config_.source_folders);
  filter_ = std::make_unique<inject::Filter>(config_.selection);
  if (config_.ranges) inject::keep_ended_ranges(filter_->is_on());
  if (traces()) channel_.send(inject::TraceBegins{inject::monotonic_ns()});
}

bool Report::takes(const LaunchPlace& place) {
  if (filter_->takes(place.kernel, place.device, inject::open_ranges())) return true;
  if (left_out_.insert(place.kernel).second) {
    channel_.send(inject::Seen{channel_.name(place.kernel)});
  }
  return false;
}

void Report::send_device(std::uint32_t ordinal) {
  if (!devices_.insert(ordinal).second) return;
  channel_.send(inject::Device{described_device(config_.arch, ordinal)});
}

inject::LaunchShape Report::shape_of(const LaunchPlace& place, const model::Program* program) {
  send_device(place.device);
  inject::LaunchShape shape;
  shape.device = place.device;
  shape.context = context_of(place.device);
  shape.stream = place.stream;
  shape.kernel = channel_.name(place.kernel);
  const std::vector<std::string> ranges = inject::open_ranges();
  if (!ranges.empty()) shape.range = channel_.name(ranges.back());
  shape.grid = {place.geometry.grid.x, place.geometry.grid.y, place.geometry.grid.z};
  shape.block = {place.geometry.block.x, place.geometry.block.y, place.geometry.block.z};
  shape.dynamic_shared_bytes = place.geometry.dynamic_shared_bytes;
  if (program == nullptr) return shape;
  shape.static_shared_bytes = program->static_shared_bytes;
  const auto number = [](const std::optional<std::int64_t>& value) {
    return value ? std::optional(static_cast<std::uint32_t>(*value)) : std::nullopt;
  };
  shape.registers = number(program->resources.registers);
  shape.local_bytes = number(program->resources.local_bytes);
  const schema::KernelCode code = model::code_of(*program);
  const auto reason = [&](const std::string& text) {
    return text.empty() ? 0 : channel_.name(text);
  };
  shape.code = {number(code.bytes), number(code.spill_load_bytes), number(code.spill_store_bytes),
                reason(code.spills_reason), reason(model::why_not_known(*program))};
  return shape;
}

void Report::launched(const LaunchPlace& place, const model::Program& program,
                      const std::vector<model::Ran>& grids, const std::string& failure,
                      std::uint32_t explanation, std::string_view doubt) {
  inject::Launch launch;
  launch.explanation = explanation;
  launch.shape = shape_of(place, &program);
  launch.shape.correlation = call_;
  std::vector<schema::Counter> counters;
  launch.values.reserve(counters_.size());
  for (const model::NamedCounter& counter : counters_) {
    if (!grids.empty()) {
      counters.push_back(model::counter_named(counter, grids, doubt));
      launch.values.push_back(channel_.value_of(counters.back()));
    } else {
      launch.values.push_back({0, channel_.name("the launch failed"), schema::Grade::unavailable});
    }
  }
  for (const schema::Interval& interval : model::intervals(counters, grids)) {
    launch.intervals.push_back({channel_.name(interval.metric), interval.low, interval.high});
  }
  if (!grids.empty()) send_lines(grids);
  if (!failure.empty()) launch.failure = channel_.name(failure);
  channel_.send(launch);
}

void Report::could_not_run(const LaunchPlace& place, const std::string& why) {
  inject::Launch launch;
  launch.shape = shape_of(place, nullptr);
  launch.shape.correlation = call_;
  const std::uint32_t reason = channel_.name("the launch failed");
  launch.values.assign(config_.counters.size(), {0, reason, schema::Grade::unavailable});
  launch.failure = channel_.name(why);
  launch.could_not_run = true;
  channel_.send(launch);
}

void Report::refused(const std::string& why) { channel_.send(inject::Refused{channel_.name(why)}); }

void Report::failed(const inject::FailedCall& failed) {
  if (is_told_of_launches() || config_.checks) channel_.send(failed);
}

std::uint32_t Report::explain(const schema::Explanation& explanation) {
  for (const schema::Finding& finding : explanation.findings) {
    inject::Found found{finding};
    found.finding.file = model::relative_path(finding.file);
    channel_.send(found);
  }
  channel_.send(inject::Explained{++explanations_, explanation.was_made, explanation.missing});
  return explanations_;
}

/// Functions that several kernels call have their lines once.
void Report::send_lines(const std::vector<model::Ran>& grids) {
  inject::Lines lines;
  static std::map<std::string, std::string> sources;
  std::map<std::tuple<std::string, int, std::string>, schema::Line> all;
  for (const model::Ran& ran : grids) {
    for (schema::Line& line : model::source_lines(*ran.program, ran.outcome, "", "")) {
      const auto [known, is_new] = all.try_emplace({line.file, line.line, line.access}, line);
      if (is_new) continue;
      schema::Line& sum = known->second;
      sum.requests += line.requests;
      sum.transactions += line.transactions;
      sum.ideal += line.ideal;
      if (line.bytes) sum.bytes = sum.bytes.value_or(0) + *line.bytes;
      sum.grade = std::max(sum.grade, line.grade);
    }
  }
  for (const auto& [key, line] : all) {
    const auto [source, is_new] = sources.try_emplace(line.file);
    if (is_new) source->second = allowed_source(line.file);
    inject::Lines::Line sent;
    sent.file = channel_.name(model::relative_path(line.file));
    sent.text = channel_.name(model::line_text(source->second, line.line));
    sent.access = channel_.name(line.access);
    sent.line = line.line;
    sent.requests = line.requests;
    sent.transactions = line.transactions;
    sent.ideal = line.ideal;
    sent.bytes = line.bytes;
    sent.grade = line.grade;
    lines.lines.push_back(sent);
    if (lines.lines.size() < lines_in_a_frame) continue;
    channel_.send(lines);
    lines.lines.clear();
  }
  if (!lines.lines.empty()) channel_.send(lines);
}

void Report::runs(const std::string& kernel) {
  channel_.send(inject::Running{channel_.name(kernel)});
}

void Report::has_run() { channel_.send(inject::Running{}); }

void Report::add(const inject::ActivityShape& shape, inject::Activity activity) {
  activity.shape = shapes_.number_of(shape);
  waiting_.activities.push_back(activity);
}

/// A kernel, copy or set has no time: the model has no clock.
void Report::ran(const LaunchPlace& place, const model::Program& program,
                 std::uint64_t instructions) {
  inject::ActivityShape shape;
  shape.kind = inject::ActivityKind::kernel;
  shape.shape = shape_of(place, &program);
  shape.name = shape.shape->kernel;
  inject::Activity activity;
  activity.amount = instructions;
  activity.correlation = call_;
  add(shape, activity);
  flush();
}

void Report::moved(const Move& move) {
  if (!traces() || !filter_->is_on()) return;
  send_device(move.device);
  inject::ActivityShape shape;
  shape.kind = move.is_set ? inject::ActivityKind::set : inject::ActivityKind::copy;
  shape.name = channel_.name(move.name);
  inject::LaunchShape& place = shape.shape.emplace();
  place.device = move.device;
  place.context = context_of(move.device);
  place.stream = move.stream;
  shape.source_memory = move.source;
  shape.target_memory = move.target;
  const auto end_on = [](std::uint32_t device) {
    return inject::DeviceEnd{device, context_of(device)};
  };
  if (move.source_device) shape.source = end_on(*move.source_device);
  if (move.target_device) shape.target = end_on(*move.target_device);
  inject::Activity activity;
  activity.amount = move.bytes;
  activity.correlation = call_;
  add(shape, activity);
  flush();
}

void Report::allocated(const Allocated& memory) {
  if (!traces() || !filter_->is_on()) return;
  send_device(memory.device);
  inject::ActivityShape shape;
  shape.kind = inject::ActivityKind::allocation;
  shape.name = channel_.name(inject::allocation_name);
  shape.target_memory = memory.kind;
  inject::LaunchShape& place = shape.shape.emplace();
  place.device = memory.device;
  place.context = context_of(memory.device);
  inject::Activity activity;
  activity.start_ns = nanoseconds(memory.begin.time_since_epoch());
  if (memory.end) {
    activity.duration_ns = static_cast<double>(nanoseconds(*memory.end - memory.begin));
  }
  activity.amount = memory.bytes;
  activity.address = memory.address;
  add(shape, activity);
  if (waiting_.activities.size() >= most_waiting) flush();
}

/// Ranges that ended before come before its kernels.
void Report::begin_call() {
  call_ = ++correlation_;
  if (traces() && filter_->is_on()) add_ranges();
}

void Report::called(std::string_view function, const CallTime& time) {
  if (!traces() || !config_.calls || !filter_->is_on()) return;
  inject::ActivityShape shape;
  shape.kind = inject::ActivityKind::call;
  shape.name = channel_.name(function);
  shape.thread = static_cast<std::uint32_t>(gettid());
  inject::Activity activity;
  activity.start_ns = nanoseconds(time.begin.time_since_epoch());
  activity.duration_ns = static_cast<double>(nanoseconds(time.end - time.begin));
  activity.correlation = call_;
  add(shape, activity);
  if (waiting_.activities.size() >= most_waiting) flush();
}

void Report::add_ranges() {
  if (!config_.ranges) return;
  for (const inject::EndedRange& range : inject::take_ended_ranges()) {
    inject::ActivityShape shape;
    shape.kind = inject::ActivityKind::range;
    shape.name = channel_.name(range.text);
    shape.thread = range.thread;
    inject::Activity activity;
    activity.start_ns = range.start_ns;
    activity.duration_ns = static_cast<double>(range.end_ns - range.start_ns);
    add(shape, activity);
  }
}

void Report::profile(bool is_on) {
  add_ranges();
  filter_->profile(is_on);
  if (config_.ranges) inject::keep_ended_ranges(filter_->is_on());
}

void Report::say(const std::string& text) {
  if (said_.insert(text).second) channel_.send(inject::Problem{true, text});
}

void Report::flush() {
  if (waiting_.activities.empty()) return;
  channel_.send(waiting_);
  waiting_.activities.clear();
}

void Report::end() {
  add_ranges();
  flush();
  channel_.send(inject::Bye{0, !filter_->was_on()});
}

}  // namespace warpmeter::runtime
