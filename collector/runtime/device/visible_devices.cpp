// SPDX-License-Identifier: MIT
#include "collector/runtime/device/visible_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>

namespace warpmeter::runtime {
namespace {

constexpr int no_device = -1;

int by_index(std::string_view entry, int count) {
  int index = no_device;
  const auto parsed = std::from_chars(entry.data(), entry.data() + entry.size(), index);
  return parsed.ec == std::errc() && index >= 0 && index < count ? index : no_device;
}

int by_uuid(std::string_view beginning, int count) {
  int found = no_device;
  for (int number = 0; number < count; ++number) {
    if (!uuid_text(number).starts_with(beginning)) continue;
    if (found != no_device) return no_device;
    found = number;
  }
  return found;
}

}  // namespace

std::string uuid_text(int number) {
  return fmt::format("GPU-{:02x}{:02x}0000-0000-0000-0000-0000000000{:02x}", uuid_first_byte,
                     number, number);
}

std::vector<int> visible_devices(std::string_view list, int count) {
  std::vector<int> visible;
  for (;;) {
    const std::size_t comma = list.find(',');
    std::string_view entry = list.substr(0, comma);
    entry.remove_prefix(std::min(entry.find_first_not_of(' '), entry.size()));
    const int number = entry.starts_with("GPU-") ? by_uuid(entry, count) : by_index(entry, count);
    if (number == no_device) return visible;
    if (std::find(visible.begin(), visible.end(), number) != visible.end()) return {};
    visible.push_back(number);
    if (comma == std::string_view::npos) return visible;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace warpmeter::runtime
