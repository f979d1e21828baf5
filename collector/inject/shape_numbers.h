// SPDX-License-Identifier: MIT
// The numbers of what activities have in common. Most activities are like the one before or one
// seen lately, so a number costs a comparison or a look into a hash table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "collector/inject/channel.h"
#include "collector/inject/protocol.h"

namespace warpmeter::inject {

/// For one thread.
class ShapeNumbers {
 public:
  explicit ShapeNumbers(Channel& channel) : channel_(channel) {}
  /// The number of a shape (its own `id` says nothing), which is sent the first time.
  std::uint32_t number_of(const ActivityShape& shape);

 private:
  using Key = std::array<std::uint32_t, 21>;
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };
  static Key key_of(const ActivityShape& shape);

  Channel& channel_;
  std::unordered_map<Key, std::uint32_t, Hash> numbers_;
  Key last_{};
  std::uint32_t last_number_ = 0;
};

}  // namespace warpmeter::inject
