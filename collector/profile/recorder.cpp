#include "collector/profile/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "collector/inject/kernel_name.h"

namespace warpmeter::profile {
namespace {

using inject::ActivityKind;

/// More than any program has; a process that sends more is no program of ours.
constexpr std::size_t most_names = 1 << 20;
constexpr std::size_t most_name_bytes = 256 << 20;
constexpr std::size_t most_devices = 1024;
constexpr const char* without_device = "unknown";

const std::string* name_of(const std::unordered_map<std::uint32_t, std::string>& names,
                           std::uint32_t id) {
  const auto found = names.find(id);
  return found != names.end() ? &found->second : nullptr;
}

}  // namespace

Recorder::Recorder(RecorderOptions options)
    : options_(std::move(options)), store_(options_.database) {}

void Recorder::begin_pass(Pass pass) {
  pass_ = std::move(pass);
  processes_.clear();
  if (pass_.number > 1) later_.emplace(pass_);
}

void Recorder::meet(int peer, pid_t process, const std::string& program) {
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
  if (const auto* batch = std::get_if<inject::Activities>(&message)) {
    for (const inject::Activity& activity : batch->activities) {
      if (!take_activity(peer, process, activity)) return false;
    }
    return true;
  }
  if (const auto* seen = std::get_if<inject::Seen>(&message)) {
    const std::string* name = name_of(process.names, seen->kernel);
    if (name != nullptr) left_out_.insert(*name);
    return name != nullptr;
  }
  if (const auto* problem = std::get_if<inject::Problem>(&message)) {
    problems_.insert(problem->text);
    return true;
  }
  if (const auto* bye = std::get_if<inject::Bye>(&message)) {
    lost_records_ += bye->lost_records;
    return true;
  }
  return false;
}

bool Recorder::take_name(Process& process, inject::Name&& name) {
  process.name_bytes += name.text.size();
  if (name.id == 0 || process.names.size() == most_names || process.name_bytes > most_name_bytes) {
    return false;
  }
  return process.names.emplace(name.id, std::move(name.text)).second;
}

std::optional<schema::Launch> Recorder::describe(const Process& process,
                                                 const inject::LaunchShape& shape) const {
  const std::string* kernel = name_of(process.names, shape.kernel);
  const std::string* range = name_of(process.names, shape.range);
  if (kernel == nullptr || (shape.range != 0 && range == nullptr)) return std::nullopt;
  schema::Launch launch;
  launch.family = options_.program;
  launch.variant = kernel->starts_with("graph(") ? *kernel : inject::function_name(*kernel);
  if (range != nullptr) launch.nvtx_range = *range;
  launch.kernel = *kernel;
  for (std::size_t i = 0; i < 3; ++i) {
    launch.grid[i] = shape.grid[i];
    launch.block[i] = shape.block[i];
  }
  launch.dynamic_shared_bytes = shape.dynamic_shared_bytes;
  launch.static_shared_bytes = shape.static_shared_bytes;
  launch.registers = shape.registers;
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
      const std::string* reason = name_of(process.names, value.reason);
      if (reason == nullptr) return std::nullopt;
      counter.reason = *reason;
    } else if (!std::isfinite(value.value)) {
      counter.reason = "CUPTI gave no number";
    } else {
      counter.value = value.value;
      counter.grade = schema::Grade::measured;
    }
    counters.push_back(std::move(counter));
  }
  return counters;
}

bool Recorder::take_launch(int peer, Process& process, const inject::Launch& message) {
  std::optional<schema::Launch> launch = describe(process, message.shape);
  std::optional<std::vector<schema::Counter>> counters = counters_of(process, message);
  if (!launch || !counters) return false;
  launch->counters = std::move(*counters);
  launch->timing_reason = options_.timing_reason;
  note(*launch);
  const std::string& device = device_of(process, message.shape.device);
  std::optional<std::size_t> place;
  if (later_ || options_.has_more_passes) {
    const std::uint32_t identity = identities_.number_of(launch->kernel, message.shape);
    Sightings& sightings = later_ ? later_->sightings() : first_;
    place = sightings.add(peer, message.shape, identity, message.occurrence);
    if (later_) {
      later_->add(identity, device, *launch);
      return true;
    }
  }
  keep(device, place, std::move(*launch));
  return true;
}

/// Counts it as measured or as refused.
void Recorder::note(const schema::Launch& launch) {
  const auto has_value = [](const schema::Counter& counter) { return counter.value.has_value(); };
  if (std::any_of(launch.counters.begin(), launch.counters.end(), has_value)) {
    if (!later_) ++launches_;
    return;
  }
  const std::string reason = launch.counters.empty() ? "" : launch.counters.back().reason;
  Refusal& entry =
      refusals_[later_ ? fmt::format("{} (in run {} of the program)", reason, pass_.number)
                       : reason];
  ++entry.launches;
  entry.kernels.insert(launch.kernel);
}

bool Recorder::take_activity(int peer, Process& process, const inject::Activity& message) {
  const std::string* name = name_of(process.names, message.name);
  const bool is_kernel = message.kind == ActivityKind::kernel;
  if (name == nullptr || is_kernel != message.shape.has_value() ||
      !(message.duration_ns >= 0 && std::isfinite(message.duration_ns))) {
    return false;
  }
  if (!later_) {
    Activity& activity = activities_[{message.kind, *name}];
    activity.kind = message.kind;
    activity.name = *name;
    activity.durations_ns.push_back(static_cast<float>(message.duration_ns));
    activity.total_ns += message.duration_ns;
  }
  if (!is_kernel) return true;
  std::optional<schema::Launch> launch = describe(process, *message.shape);
  if (!launch) return false;
  launch->timing = timing_of(message.duration_ns);
  const std::string& device = device_of(process, message.shape->device);
  if (!later_) {
    ++launches_;
    keep(device, std::nullopt, std::move(*launch));
  } else if (message.correlation != 0) {
    const std::uint32_t identity = identities_.number_of(launch->kernel, *message.shape);
    later_->sightings().add_traced(peer, *message.shape, identity, message.correlation);
    later_->add(identity, device, *launch);
  }
  return true;
}

const std::string& Recorder::device_of(const Process& process, std::uint32_t ordinal) const {
  static const std::string unknown = without_device;
  const auto found = process.devices.find(ordinal);
  return found != process.devices.end() ? found->second : unknown;
}

void Recorder::keep(const std::string& device, std::optional<std::size_t> place,
                    schema::Launch&& launch) {
  if (failure_) return;
  Batch& batch = waiting_[device];
  batch.launches.push_back(std::move(launch));
  if (place) batch.places.push_back(*place);
}

void Recorder::store() {
  if (waiting_.empty() || failure_) return;
  try {
    if (!run_id_) run_id_ = store_.begin_run(options_.run);
    for (const auto& [uuid, batch] : waiting_) {
      const auto [id, is_new] = device_ids_.try_emplace(uuid, 0);
      if (is_new) {
        schema::Device device = devices_[uuid];
        if (device.name.empty()) device.name = without_device;
        device.backend = "cupti";
        id->second = store_.add_device(*run_id_, device);
      }
      const auto ids = store_.add_launches(*run_id_, id->second, batch.launches);
      for (std::size_t i = 0; i < batch.places.size(); ++i) {
        launch_ids_.resize(std::max(launch_ids_.size(), batch.places[i] + 1));
        launch_ids_[batch.places[i]] = ids[i];
      }
    }
  } catch (const Error& error) {
    failure_ = error;
  }
  waiting_.clear();
}

void Recorder::finish(schema::RunOutcome outcome, const std::string& reason) {
  store();
  if (failure_) throw *failure_;
  if (run_id_) store_.end_run(*run_id_, outcome, reason);
}

std::vector<Activity> Recorder::activities() const {
  std::vector<Activity> all;
  for (const auto& [key, activity] : activities_) all.push_back(activity);
  return all;
}

}  // namespace warpmeter::profile
