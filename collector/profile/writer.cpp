// SPDX-License-Identifier: MIT
#include "collector/profile/writer.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace warpmeter::profile {

Writer::Writer(const std::string& database, schema::Run run)
    : store_(database), run_(std::move(run)) {}

bool Writer::is_busy() const {
  using namespace std::chrono_literals;
  return writing_.valid() && writing_.wait_for(0s) != std::future_status::ready;
}

void Writer::write(std::vector<Batch>&& batches) {
  settle();
  if (failure_ || batches.empty()) return;
  writing_ = std::async(std::launch::async, [this, batches = std::move(batches)] {
    try {
      for (const Batch& batch : batches) put(batch);
    } catch (const Error& error) {
      failure_ = error;
    }
  });
}

void Writer::settle() {
  if (writing_.valid()) writing_.get();
}

void Writer::put(const Batch& batch) {
  if (!run_id_) run_id_ = store_.begin_run(run_);
  const auto [id, is_new] = device_ids_.try_emplace(batch.device.uuid, 0);
  if (is_new) id->second = store_.add_device(*run_id_, batch.device);
  const auto ids = store_.add_launches(*run_id_, id->second, batch.launches);
  for (std::size_t i = 0; i < batch.places.size(); ++i) {
    launch_ids_.resize(std::max(launch_ids_.size(), batch.places[i] + 1));
    launch_ids_[batch.places[i]] = ids[i];
  }
}

}  // namespace warpmeter::profile
