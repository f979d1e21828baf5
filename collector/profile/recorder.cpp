#include "collector/profile/recorder.h"

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
    return take_launch(process, *launch);
  }
  if (const auto* batch = std::get_if<inject::Activities>(&message)) {
    for (const inject::Activity& activity : batch->activities) {
      if (!take_activity(process, activity)) return false;
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

bool Recorder::take_launch(Process& process, const inject::Launch& message) {
  std::optional<schema::Launch> launch = describe(process, message.shape);
  if (!launch || message.values.size() != options_.config.counters.size()) return false;
  launch->timing_reason = "not timed: counters were read, and reading them takes longer";
  std::string refusal;
  bool has_figure = false;
  for (std::size_t i = 0; i < message.values.size(); ++i) {
    const inject::Launch::Value& value = message.values[i];
    schema::Counter counter;
    counter.name = options_.config.counters[i];
    if (value.reason != 0) {
      const std::string* reason = name_of(process.names, value.reason);
      if (reason == nullptr) return false;
      counter.reason = refusal = *reason;
    } else if (!std::isfinite(value.value)) {
      counter.reason = "CUPTI gave no number";
    } else {
      counter.value = value.value;
      counter.grade = schema::Grade::measured;
      has_figure = true;
    }
    launch->counters.push_back(std::move(counter));
  }
  if (has_figure) {
    ++launches_;
  } else {
    Refusal& entry = refusals_[refusal];
    ++entry.launches;
    entry.kernels.insert(launch->kernel);
  }
  keep(process, message.shape.device, std::move(*launch));
  return true;
}

bool Recorder::take_activity(Process& process, const inject::Activity& message) {
  const std::string* name = name_of(process.names, message.name);
  const bool is_kernel = message.kind == ActivityKind::kernel;
  if (name == nullptr || is_kernel != message.shape.has_value() ||
      !(message.duration_ns >= 0 && std::isfinite(message.duration_ns))) {
    return false;
  }
  Activity& activity = activities_[{message.kind, *name}];
  activity.kind = message.kind;
  activity.name = *name;
  activity.durations_ns.push_back(static_cast<float>(message.duration_ns));
  activity.total_ns += message.duration_ns;
  if (!is_kernel) return true;
  std::optional<schema::Launch> launch = describe(process, *message.shape);
  if (!launch) return false;
  launch->timing = schema::Timing{
      {message.duration_ns}, schema::CacheState::warm, 0, "the program's own launch"};
  ++launches_;
  keep(process, message.shape->device, std::move(*launch));
  return true;
}

void Recorder::keep(const Process& process, std::uint32_t device, schema::Launch&& launch) {
  if (failure_) return;
  const auto found = process.devices.find(device);
  waiting_[found != process.devices.end() ? found->second : without_device].push_back(
      std::move(launch));
}

void Recorder::store() {
  if (waiting_.empty() || failure_) return;
  try {
    if (!run_id_) run_id_ = store_.begin_run(options_.run);
    for (const auto& [uuid, launches] : waiting_) {
      const auto [place, is_new] = device_ids_.try_emplace(uuid, 0);
      if (is_new) {
        schema::Device device = devices_[uuid];
        if (device.name.empty()) device.name = without_device;
        device.backend = "cupti";
        place->second = store_.add_device(*run_id_, device);
      }
      store_.add_launches(*run_id_, place->second, launches);
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
