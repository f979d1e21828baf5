// SPDX-License-Identifier: MIT
// The names that programs gave by NVTX to their devices, contexts, streams and threads.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>

#include "collector/inject/protocol.h"

namespace warpmeter::profile {

class ResourceNames {
 public:
  /// A later name takes the place of an earlier one. False when there are too many.
  bool take(pid_t process, inject::ResourceName&& name);

  /// Empty: it has none.
  std::string of_context(std::int64_t process, std::int64_t context) const;
  std::string of_stream(std::int64_t process, std::int64_t context, std::int64_t stream) const;
  /// Every name, by process, resource, context and number.
  void each(const std::function<void(pid_t, const inject::ResourceName&)>& on_name) const;

 private:
  using Key = std::tuple<std::int64_t, inject::Resource, std::int64_t, std::uint64_t>;
  std::string find(const Key& key) const;

  std::map<Key, std::string> names_;
};

}  // namespace warpmeter::profile
