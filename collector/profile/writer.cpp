// SPDX-License-Identifier: MIT
#include "collector/profile/writer.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace warpmeter::profile {

Writer::Writer(std::shared_ptr<schema::Store> store, schema::Run run)
    : store_(std::move(store)), run_(std::move(run)) {}

bool Writer::is_busy() const {
  using namespace std::chrono_literals;
  return writing_.valid() && writing_.wait_for(0s) != std::future_status::ready;
}

void Writer::write(Batches&& batches) {
  settle();
  if (failure_ || batches.empty()) return;
  writing_ = std::async(std::launch::async,
                        [this, batches = std::move(batches)]() mutable { put(batches); });
}

void Writer::write_all(Batches&& batches) {
  settle();
  if (!failure_) put(batches);
}

void Writer::settle() {
  if (writing_.valid()) writing_.get();
}

std::int64_t Writer::run() {
  if (!run_id_) run_id_ = store_->begin_run(run_);
  return *run_id_;
}

std::int64_t Writer::id_of(const schema::Device& device) {
  const auto [id, is_new] = device_ids_.try_emplace(device.uuid, 0);
  if (is_new) id->second = store_->add_device(run(), device);
  return id->second;
}

void Writer::put(Batches& batches) {
  try {
    for (const Batch& batch : batches.launches) put(batch);
    if (!batches.trace.rows.empty()) put(batches.trace);
  } catch (const Error& error) {
    failure_ = error;
  }
}

void Writer::put(const Batch& batch) {
  const std::int64_t run_id = run();
  const auto ids = store_->add_launches(run_id, id_of(batch.device), batch.launches);
  for (std::size_t i = 0; i < batch.places.size(); ++i) {
    launch_ids_.resize(std::max(launch_ids_.size(), batch.places[i] + 1));
    launch_ids_[batch.places[i]] = ids[i];
  }
  for (std::size_t i = 0; i < batch.origins.size(); ++i) {
    origins_.emplace(ids[i], batch.origins[i]);
  }
}

void Writer::put(TraceBatch& batch) {
  const std::int64_t run_id = run();
  for (std::size_t i = 0; i < batch.devices.size(); ++i) {
    if (batch.devices[i]) batch.rows.shapes[i].second.device_id = id_of(*batch.devices[i]);
  }
  store_->add_activities(run_id, batch.rows);
}

}  // namespace warpmeter::profile
