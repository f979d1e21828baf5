// SPDX-License-Identifier: MIT
#include "collector/profile/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "base/kernel_name.h"

namespace warpmeter::profile {
namespace {

using inject::ActivityKind;

/// More than any program has; a process that sends more is no program of ours.
constexpr std::size_t most_names = 1 << 20;
constexpr std::size_t most_name_bytes = 256 << 20;
constexpr std::size_t most_devices = 1024;
constexpr std::size_t most_findings = 100'000, most_lines = 1'000'000, most_found = 1000,
                      most_shapes = 1000, most_unobserved = 10'000, most_explanations = 100'000,
                      most_refused = 10'000, most_failed_calls = 100;

/// "vec.cu:12" before "vec.cu:104"; what has no place comes last.
std::tuple<bool, std::string, int> in_order(const std::string& where) {
  const std::size_t colon = where.rfind(':');
  if (colon == std::string::npos) return {where.empty(), where, 0};
  return {false, where.substr(0, colon), std::atoi(where.c_str() + colon + 1)};
}

template <class Names>
auto* name_of(Names& names, std::uint32_t id) {
  const auto found = names.find(id);
  return found != names.end() ? &found->second : nullptr;
}

}  // namespace

Recorder::Recorder(RecorderOptions options)
    : options_(std::move(options)),
      writer_(options_.store != nullptr ? options_.store
                                        : std::make_shared<schema::Store>(options_.database),
              options_.run) {}

void Recorder::begin_pass(Pass pass) {
  pass_ = std::move(pass);
  processes_.clear();
  if (pass_.number > 1) later_.emplace(pass_);
}

void Recorder::meet(int peer, pid_t process, const std::string& program) {
  living_.insert(peer);
  processes_[peer].id = process;
  has_met_any_ = true;
  (later_ ? later_->sightings() : first_).meet(peer, process, program);
}

bool Recorder::take(int peer, inject::Message&& message) {
  Process& process = processes_[peer];
  if (auto* name = std::get_if<inject::Name>(&message)) {
    return take_name(process, std::move(*name));
  }
  if (auto* device = std::get_if<inject::Device>(&message)) {
    const auto ordinal =
        static_cast<std::uint32_t>(device->device.ordinal);  // as the process counts
    if (options_.complete) options_.complete(device->device);
    devices_[device->device.uuid] = device->device;
    process.devices[ordinal] = device->device.uuid;
    return process.devices.size() <= most_devices;
  }
  if (const auto* launch = std::get_if<inject::Launch>(&message)) {
    return take_launch(peer, process, *launch);
  }
  if (const auto* shape = std::get_if<inject::ActivityShape>(&message)) {
    return take_shape(process, *shape);
  }
  if (const auto* begins = std::get_if<inject::TraceBegins>(&message)) {
    if (!clock_ns_) clock_ns_ = begins->now_ns;
    return true;
  }
  if (const auto* batch = std::get_if<inject::Activities>(&message)) {
    for (const inject::Activity& activity : batch->activities) {
      if (!take_activity(peer, process, activity)) return false;
    }
    return true;
  }
  if (const auto* seen = std::get_if<inject::Seen>(&message)) {
    const Name* name = name_of(process.names, seen->kernel);
    if (name != nullptr) left_out_.insert(name->text);
    return name != nullptr;
  }
  if (const auto* running = std::get_if<inject::Running>(&message)) {
    process.running = running->kernel;
    return running->kernel == 0 || name_of(process.names, running->kernel) != nullptr;
  }
  if (const auto* refused = std::get_if<inject::Refused>(&message)) {
    const Name* reason = name_of(process.names, refused->reason);
    if (reason != nullptr && !later_) ++refused_[reason->text];
    return reason != nullptr && refused_.size() <= most_refused;
  }
  if (auto* failed = std::get_if<inject::FailedCall>(&message)) {
    if (!later_) note(std::move(*failed));
    return true;
  }
  if (const auto* problem = std::get_if<inject::Problem>(&message)) {
    (problem->is_remark ? remarks_ : problems_).insert(problem->text);
    return true;
  }
  if (const auto* shaped = std::get_if<inject::Shaped>(&message)) {
    std::string& wrong = shaped_.try_emplace(shaped->array, shaped->wrong).first->second;
    if (shaped->wrong.empty()) wrong.clear();
    return shaped_.size() <= most_shapes;
  }
  if (auto* unobserved = std::get_if<inject::Unobserved>(&message)) {
    unobserved_[std::move(unobserved->program)] = std::move(unobserved->reason);
    return unobserved_.size() <= most_unobserved;
  }
  if (const auto* lines = std::get_if<inject::Lines>(&message)) return take_lines(process, *lines);
  if (std::holds_alternative<inject::Found>(message) ||
      std::holds_alternative<inject::Explained>(message)) {
    return take_found(process, message);
  }
  if (auto* finding = std::get_if<inject::Finding>(&message)) {
    findings_[{std::move(finding->kind), std::move(finding->where), std::move(finding->message),
               finding->is_remark, std::move(finding->other)}] += finding->times;
    return findings_.size() <= most_findings;
  }
  if (const auto* checked = std::get_if<inject::Checked>(&message)) {
    checked_.launches += checked->launches;
    checked_.stopped += checked->stopped;
    checked_.refused += checked->refused;
    checked_.partial += checked->partial;
    checked_.gaps |= checked->gaps;
    return true;
  }
  if (auto* name = std::get_if<inject::ResourceName>(&message)) {
    return resource_names_.take(process.id, std::move(*name));
  }
  if (const auto* bye = std::get_if<inject::Bye>(&message)) {
    lost_records_ += bye->lost_records;
    if (bye->was_off) ++never_started_;
    living_.erase(peer);
    return true;
  }
  return false;
}

void Recorder::forget(int peer) {
  const auto process = processes_.find(peer);
  if (process == processes_.end()) return;
  const Name* running = name_of(process->second.names, process->second.running);
  if (running != nullptr) cut_off_.insert(running->text);
  processes_.erase(process);
}

bool Recorder::take_name(Process& process, inject::Name&& name) {
  process.name_bytes += name.text.size();
  if (name.id == 0 || process.names.size() == most_names || process.name_bytes > most_name_bytes) {
    return false;
  }
  return process.names.emplace(name.id, Name{std::move(name.text), {}}).second;
}

std::optional<schema::Launch> Recorder::describe(Process& process,
                                                 const inject::LaunchShape& shape) const {
  Name* kernel = name_of(process.names, shape.kernel);
  const Name* range = name_of(process.names, shape.range);
  if (kernel == nullptr || (shape.range != 0 && range == nullptr)) return std::nullopt;
  static const Name none;
  const inject::KernelCode code = shape.code.value_or(inject::KernelCode());
  const auto reason = [&](std::uint32_t id) {
    return id == 0 ? &none : name_of(process.names, id);
  };
  const Name* spills_reason = reason(code.spills_reason);
  const Name* resources_reason = reason(code.resources_reason);
  if (spills_reason == nullptr || resources_reason == nullptr) return std::nullopt;
  const bool is_graph = kernel->text.starts_with("graph(");
  if (kernel->variant.empty()) {
    kernel->variant = is_graph ? kernel->text : function_name(kernel->text);
  }
  schema::Launch launch;
  launch.family = options_.program;
  launch.variant = kernel->variant;
  if (range != nullptr) launch.nvtx_range = range->text;
  launch.kernel = kernel->text;
  for (std::size_t i = 0; i < 3; ++i) {
    launch.grid[i] = shape.grid[i];
    launch.block[i] = shape.block[i];
  }
  launch.dynamic_shared_bytes = shape.dynamic_shared_bytes;
  launch.static_shared_bytes = shape.static_shared_bytes;
  launch.registers = shape.registers;
  launch.local_bytes = shape.local_bytes;
  launch.code = {code.bytes, code.spill_load_bytes, code.spill_store_bytes, spills_reason->text};
  launch.resources_reason = resources_reason->text;
  if (is_graph) launch.resources_reason = "a graph is launched as a whole, and has several kernels";
  return launch;
}

std::optional<std::vector<schema::Counter>> Recorder::counters_of(
    const Process& process, const inject::Launch& message) const {
  if (message.values.size() != pass_.counters.size()) return std::nullopt;
  std::vector<schema::Counter> counters;
  counters.reserve(message.values.size());
  for (std::size_t i = 0; i < message.values.size(); ++i) {
    const inject::Launch::Value& value = message.values[i];
    schema::Counter counter;
    counter.name = pass_.counters[i];
    if (value.reason != 0) {
      const Name* reason = name_of(process.names, value.reason);
      if (reason == nullptr) return std::nullopt;
      counter.reason = reason->text;
    }
    if (value.reason != 0 &&
        (value.grade == schema::Grade::measured || value.grade == schema::Grade::unavailable)) {
      counter.grade = schema::Grade::unavailable;
    } else if (!std::isfinite(value.value)) {
      counter.reason = "CUPTI gave no number";
    } else {
      counter.value = value.value;
      counter.grade = value.grade;
    }
    counters.push_back(std::move(counter));
  }
  return counters;
}

std::optional<std::vector<schema::Interval>> Recorder::intervals_of(
    const Process& process, const inject::Launch& message) const {
  std::vector<schema::Interval> intervals;
  for (const inject::Launch::Interval& interval : message.intervals) {
    const Name* metric = name_of(process.names, interval.metric);
    const bool is_right = metric != nullptr && std::isfinite(interval.low) &&
                          std::isfinite(interval.high) && interval.low <= interval.high;
    const bool is_new =
        is_right && std::none_of(intervals.begin(), intervals.end(),
                                 [&](const auto& other) { return other.metric == metric->text; });
    if (!is_new) return std::nullopt;
    intervals.push_back({metric->text, interval.low, interval.high});
  }
  return intervals;
}

bool Recorder::take_launch(int peer, Process& process, const inject::Launch& message) {
  std::optional<schema::Launch> launch = describe(process, message.shape);
  std::optional<std::vector<schema::Counter>> counters = counters_of(process, message);
  std::optional<std::vector<schema::Interval>> intervals = intervals_of(process, message);
  const Name* failure = name_of(process.names, message.failure);
  if (!launch || !counters || !intervals || (message.failure != 0 && failure == nullptr))
    return false;
  launch->counters = std::move(*counters);
  launch->intervals = std::move(*intervals);
  launch->timing_reason = options_.timing_reason;
  has_lines_ |= !process.lines.empty();
  launch->lines = std::move(process.lines);
  process.lines.clear();
  if (message.explanation != 0) {
    const auto explained = process.explanations.find(message.explanation);
    if (explained == process.explanations.end()) return false;
    launch->explanation = explained->second;
  }
  if (failure != nullptr) {
    launch->outcome = schema::LaunchOutcome::failed;
    launch->reason = failure->text;
  }
  note(*launch);
  if (message.could_not_run && !later_) ++not_run_;
  const std::string& device = device_of(process, message.shape.device);
  std::optional<std::size_t> place;
  if (later_ || options_.has_more_passes) {
    const std::uint32_t identity =
        identities_.number_of(launch->kernel, message.shape, message.is_in_graph);
    Sightings& sightings = later_ ? later_->sightings() : first_;
    place = sightings.add(peer, message.shape, identity, message.occurrence);
    if (later_) {
      later_->add(identity, device, *launch);
      return true;
    }
  }
  const inject::LaunchShape& shape = message.shape;
  keep(device, place, std::move(*launch),
       {process.id, shape.context, shape.stream, shape.correlation});
  return true;
}

bool Recorder::take_lines(Process& process, const inject::Lines& message) const {
  for (const inject::Lines::Line& line : message.lines) {
    const Name* file = name_of(process.names, line.file);
    const Name* text = name_of(process.names, line.text);
    const Name* access = name_of(process.names, line.access);
    const bool has_text = line.text != 0;
    if (file == nullptr || access == nullptr || (has_text && text == nullptr)) return false;
    process.lines.push_back({file->text, line.line, has_text ? text->text : "", access->text,
                             line.requests, line.transactions, line.ideal, line.grade, line.bytes});
  }
  return process.lines.size() <= most_lines;
}

bool Recorder::take_found(Process& process, inject::Message& message) {
  if (auto* found = std::get_if<inject::Found>(&message)) {
    process.found.push_back(std::move(found->finding));
    return process.found.size() <= most_found;
  }
  auto& explained = std::get<inject::Explained>(message);
  schema::Explanation& explanation = process.explanations[explained.id];
  explanation.was_made = explained.was_made;
  explanation.missing = std::move(explained.missing);
  explanation.findings = std::exchange(process.found, {});
  return explained.id != 0 && process.explanations.size() <= most_explanations;
}

/// Keeps a call that failed, once.
void Recorder::note(inject::FailedCall&& failed) {
  for (inject::FailedCall& known : failed_calls_) {
    if (known.call != failed.call) continue;
    known.was_ignored |= failed.was_ignored;
    return;
  }
  if (failed_calls_.size() < most_failed_calls) failed_calls_.push_back(std::move(failed));
}

bool Recorder::is_told(const inject::FailedCall& failed) const {
  const std::string function = failed.call.substr(0, failed.call.find(' '));
  const bool is_launch = function.find("Launch") != std::string::npos;
  if (is_launch && !(failures_.empty() && refused_.empty())) return true;
  return std::any_of(remarks_.begin(), remarks_.end(), [&](const std::string& text) {
    return text.find(function) != std::string::npos;
  });
}

bool Recorder::is_in_finding(const std::string& text) const {
  constexpr std::size_t message = 2;
  return std::any_of(findings_.begin(), findings_.end(), [&](const auto& finding) {
    return std::get<message>(finding.first).find(text) != std::string::npos;
  });
}

/// Counts it as measured, as failed or as refused.
void Recorder::note(const schema::Launch& launch) {
  if (launch.outcome == schema::LaunchOutcome::failed) {
    Refusal& entry = failures_[launch.reason];
    ++entry.launches;
    entry.kernels.insert(launch.kernel);
    if (!later_) ++launches_;
    return;
  }
  const auto has_value = [](const schema::Counter& counter) { return counter.value.has_value(); };
  const bool has_all = pass_.counters.empty();  // its resources are all that was asked for
  if (has_all || std::any_of(launch.counters.begin(), launch.counters.end(), has_value)) {
    if (!later_) ++launches_;
    return;
  }
  const std::string& reason = launch.counters.back().reason;
  Refusal& entry =
      refusals_[later_ ? fmt::format("{} (in run {} of the program)", reason, pass_.number)
                       : reason];
  ++entry.launches;
  entry.kernels.insert(launch.kernel);
}

const std::string& Recorder::device_of(const Process& process, std::uint32_t ordinal) const {
  static const std::string unknown = without_device;
  const auto found = process.devices.find(ordinal);
  return found != process.devices.end() ? found->second : unknown;
}

std::vector<inject::Finding> Recorder::findings() const {
  std::vector<inject::Finding> all;
  for (const auto& [key, times] : findings_) {
    const auto& [kind, where, message, is_remark, other] = key;
    all.push_back({kind, where, message, times, is_remark, other});
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return in_order(a.where) < in_order(b.where);
  });
  return all;
}

Recorder::Coverage Recorder::checked() const {
  Coverage coverage{checked_};
  coverage.unended = living_.size();
  return coverage;
}

std::vector<Activity> Recorder::activities() const {
  std::vector<Activity> all;
  for (const auto& [key, activity] : activities_) all.push_back(activity);
  return all;
}

}  // namespace warpmeter::profile
