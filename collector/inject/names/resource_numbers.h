// SPDX-License-Identifier: MIT
// CUPTI's numbers of the contexts and streams that the program names by NVTX. To ask the driver for
// a stream's context would be a call among the program's own, so contexts are remembered as they
// and their streams are made.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "collector/cupti/library.h"
#include "collector/inject/names/named.h"

namespace warpmeter::inject {

struct ResourceNumber {
  std::uint32_t context = 0;  ///< the context of a stream
  std::uint64_t number = 0;   ///< CUPTI's; a device's ordinal, or the program's number of a thread
};

class ResourceNumbers {
 public:
  explicit ResourceNumbers(const cupti::CuptiApi& api) : api_(api) {}

  void context_made(CUcontext context);
  void stream_made(CUcontext context, CUstream stream);
  /// nullopt: it has none. A default stream has one only where the program has made one context.
  std::optional<ResourceNumber> of(const Named& named);

 private:
  std::optional<ResourceNumber> of_stream(CUstream stream);
  CUcontext context_of(CUstream stream);

  const cupti::CuptiApi& api_;
  std::mutex mutex_;
  std::set<CUcontext> contexts_;
  std::map<CUstream, CUcontext> streams_;
};

}  // namespace warpmeter::inject
