// SPDX-License-Identifier: MIT
#include "collector/model/machine/device_limits.h"

#include <algorithm>
#include <iterator>

#include "collector/model/machine/memory/align.h"

namespace warpmeter::model {
namespace {

constexpr std::uint32_t kib = 1024;
constexpr DeviceLimits devices[] = {
    {70, 80, 96 * kib, 96 * kib, 2048, 32},     {72, 8, 96 * kib, 96 * kib, 2048, 32},
    {75, 72, 64 * kib, 64 * kib, 1024, 16},     {80, 108, 164 * kib, 163 * kib, 2048, 32},
    {86, 84, 100 * kib, 99 * kib, 1536, 16},    {87, 16, 164 * kib, 163 * kib, 1536, 16},
    {89, 128, 100 * kib, 99 * kib, 1536, 24},   {90, 132, 228 * kib, 227 * kib, 2048, 32},
    {100, 148, 228 * kib, 227 * kib, 2048, 32}, {103, 148, 228 * kib, 227 * kib, 2048, 32},
    {110, 20, 228 * kib, 227 * kib, 1536, 24},  {120, 170, 100 * kib, 99 * kib, 1536, 24},
    {121, 48, 100 * kib, 99 * kib, 1536, 24},
};

constexpr std::int64_t registers_of_quarter = 16384, register_unit = 256;

/// How many warps the four quarters hold.
std::int64_t warps_by_registers(std::int64_t registers) {
  const std::int64_t of_warp = round_up(std::max<std::int64_t>(registers, 1) * 32, register_unit);
  return registers_of_quarter / of_warp * 4;
}

}  // namespace

const DeviceLimits& device_limits(int arch) {
  const auto* next = std::find_if(std::begin(devices) + 1, std::end(devices),
                                  [&](const DeviceLimits& limits) { return limits.arch > arch; });
  return *(next - 1);
}

std::uint32_t shared_step(int arch) { return arch < 80 ? 256 : 128; }

int blocks_at_a_time(const DeviceLimits& limits, const BlockNeeds& needs) {
  const int warps = std::max(1, (static_cast<int>(needs.threads) + 31) / 32);
  int blocks =
      std::min(limits.blocks_of_multiprocessor, limits.threads_of_multiprocessor / 32 / warps);
  if (needs.registers.value_or(0) > 0) {
    blocks = std::min(blocks, static_cast<int>(warps_by_registers(*needs.registers) / warps));
  }
  const std::uint32_t of_system = limits.arch < 80 ? 0 : kib;
  const std::uint64_t shared =
      round_up(std::uint64_t{needs.shared_bytes} + of_system, shared_step(limits.arch));
  if (shared > 0) {
    blocks = std::min(blocks, static_cast<int>(limits.shared_of_multiprocessor / shared));
  }
  return blocks;
}

std::uint32_t most_threads_of_block(std::int64_t registers) {
  return static_cast<std::uint32_t>(std::min<std::int64_t>(warps_by_registers(registers), 32) * 32);
}

}  // namespace warpmeter::model
