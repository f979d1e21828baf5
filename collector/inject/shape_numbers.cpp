// SPDX-License-Identifier: MIT
#include "collector/inject/shape_numbers.h"

namespace warpmeter::inject {

std::size_t ShapeNumbers::Hash::operator()(const Key& key) const {
  std::uint64_t hash = 0;
  for (const std::uint32_t word : key) hash = (hash ^ word) * 0x9e3779b97f4a7c15 + (hash >> 32);
  return hash;
}

/// Absent numbers differ from those that are 0.
ShapeNumbers::Key ShapeNumbers::key_of(const ActivityShape& shape) {
  const LaunchShape launch = shape.shape.value_or(LaunchShape{});
  const auto end = [](const std::optional<DeviceEnd>& given) {
    return given.value_or(DeviceEnd{});
  };
  const std::uint32_t absent = static_cast<std::uint32_t>(shape.shape.has_value()) |
                               static_cast<std::uint32_t>(launch.static_shared_bytes.has_value())
                                   << 1 |
                               static_cast<std::uint32_t>(launch.registers.has_value()) << 2 |
                               static_cast<std::uint32_t>(launch.local_bytes.has_value()) << 3 |
                               static_cast<std::uint32_t>(shape.source.has_value()) << 4 |
                               static_cast<std::uint32_t>(shape.target.has_value()) << 5;
  const auto kinds = static_cast<std::uint32_t>(shape.kind) |
                     static_cast<std::uint32_t>(shape.source_memory) << 8 |
                     static_cast<std::uint32_t>(shape.target_memory) << 16 | absent << 24;
  return {kinds,
          shape.name,
          shape.thread,
          launch.device,
          launch.context,
          launch.stream,
          launch.range,
          launch.grid[0],
          launch.grid[1],
          launch.grid[2],
          launch.block[0],
          launch.block[1],
          launch.block[2],
          launch.dynamic_shared_bytes,
          launch.static_shared_bytes.value_or(0),
          launch.registers.value_or(0),
          launch.local_bytes.value_or(0),
          end(shape.source).device,
          end(shape.source).context,
          end(shape.target).device,
          end(shape.target).context};
}

std::uint32_t ShapeNumbers::number_of(const ActivityShape& shape) {
  const Key key = key_of(shape);
  if (last_number_ != 0 && key == last_) return last_number_;
  const auto next = static_cast<std::uint32_t>(numbers_.size() + 1);
  const auto [place, is_new] = numbers_.try_emplace(key, next);
  if (is_new) {
    ActivityShape sent = shape;
    sent.id = next;
    channel_.send(sent);
  }
  last_ = key;
  return last_number_ = place->second;
}

}  // namespace warpmeter::inject
