// SPDX-License-Identifier: MIT
// A launch that is repeated on our stream without a pause, in batches.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <vector>

#include "collector/cupti/context.h"
#include "collector/cupti/energy.h"

namespace warpmeter::cupti {

class StreamLoad {
 public:
  /// `launch` enqueues one launch.
  StreamLoad(const Context& context, std::function<void()> launch);
  ~StreamLoad();
  StreamLoad(const StreamLoad&) = delete;
  StreamLoad& operator=(const StreamLoad&) = delete;

  /// Valid as long as this object. Its functions throw Error{no_hardware} when the driver fails.
  Load load();

 private:
  void begin_batch(std::size_t launches);
  std::size_t batches_done();
  CUevent record();

  const Context& context_;
  std::function<void()> launch_;
  CUevent begin_ = nullptr;
  std::deque<CUevent> ends_;  ///< those of batches that have not ended, the oldest first
  std::size_t done_ = 0;
  double end_s_ = 0;
};

/// The energy of what `launch` enqueues, by the names of the catalogue's counters. `restore`: what
/// it enqueues besides the launch, which is measured too and subtracted; empty: nothing.
MeasuredEnergy measure_energy(const Context& context, const std::string& uuid,
                              const std::function<void()>& launch,
                              const std::function<void()>& restore,
                              const std::function<bool()>& cancelled);

}  // namespace warpmeter::cupti
