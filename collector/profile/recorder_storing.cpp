// SPDX-License-Identifier: MIT
// The launches of the recorder that wait for the database, and the end of the run there.
#include <chrono>
#include <utility>

#include "collector/profile/recorder.h"

namespace warpmeter::profile {
namespace {

/// Launches that wait for the writer. A program that is faster for longer waits for it too.
constexpr std::size_t most_waiting = 4'000, most_activities_waiting = 500'000;
/// Each batch is a transaction, which writes the last pages of all tables once more.
constexpr std::chrono::milliseconds between_batches{10};

}  // namespace

void Recorder::keep(const std::string& device, std::optional<std::size_t> place,
                    schema::Launch&& launch, const LaunchOrigin& origin) {
  Batch& batch = waiting_[device];
  batch.launches.push_back(std::move(launch));
  if (place) batch.places.push_back(*place);
  if (options_.keeps_origins) batch.origins.push_back(origin);
  ++launches_waiting_;
}

schema::Device Recorder::stored_device(const std::string& uuid) const {
  schema::Device device;
  if (const auto known = devices_.find(uuid); known != devices_.end()) device = known->second;
  device.uuid = uuid == without_device ? "" : uuid;
  if (device.name.empty()) device.name = without_device;
  if (device.backend.empty()) device.backend = "cupti";
  return device;
}

void Recorder::store() {
  const bool is_much = launches_waiting_ >= most_waiting ||
                       trace_waiting_.rows.activities.size() >= most_activities_waiting;
  const bool is_early = std::chrono::steady_clock::now() - stored_at_ < between_batches;
  if ((is_early || writer_.is_busy()) && !is_much) return;
  Batches batches = take_waiting();
  if (batches.empty()) return;
  writer_.write(std::move(batches));
  stored_at_ = std::chrono::steady_clock::now();
}

Batches Recorder::take_waiting() {
  Batches batches;
  for (auto& [uuid, batch] : waiting_) {
    batch.device = stored_device(uuid);
    batches.launches.push_back(std::move(batch));
  }
  waiting_.clear();
  launches_waiting_ = 0;
  batches.trace = std::exchange(trace_waiting_, {});
  return batches;
}

void Recorder::store_all() {
  keep_alike();
  writer_.write_all(take_waiting());
}

/// Stores the states of devices that have launches.
void Recorder::store_states() {
  if (!options_.states || !run_id()) return;
  for (const auto& [uuid, device_id] : writer_.device_ids()) {
    const auto device = devices_.find(uuid);
    if (device == devices_.end()) continue;
    for (const schema::DeviceState& state : options_.states(device->second)) {
      writer_.store().add_state(*run_id(), device_id, state);
    }
  }
}

void Recorder::finish(schema::RunOutcome outcome, const std::string& reason) {
  store_all();
  if (writer_.failure()) throw *writer_.failure();
  store_states();
  if (!run_id()) return;
  writer_.store().tell_kernels_apart(*run_id());
  writer_.store().end_run(*run_id(), outcome, reason);
}

void Recorder::finish_at_once(schema::RunOutcome outcome, const std::string& reason) {
  writer_.settle();                           // it writes by the same connection
  if (launches_waiting_ == 0 && !run_id()) {  // nothing to write, perhaps to a locked file
    end_pass();
    return finish(outcome, reason);
  }
  writer_.store().in_one_transaction([&] {
    end_pass();
    finish(outcome, reason);
  });
}

}  // namespace warpmeter::profile
