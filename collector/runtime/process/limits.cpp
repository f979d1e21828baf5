// SPDX-License-Identifier: MIT
#include "collector/runtime/process/limits.h"

#include <algorithm>
#include <map>
#include <set>

#include "collector/model/machine/memory/align.h"
#include "collector/runtime/device/device.h"

namespace warpmeter::runtime {
namespace {

struct Limits {
  std::map<int, std::size_t> changed;
  std::set<int> held;

  void reset() {
    *this = {};
    Process::get().memory().machine().heap().limit = limit_fact(cudaLimitMallocHeapSize);
  }
};

Limits& limits() { return Process::get().state<Limits>(); }

constexpr int first_unknown = 16;
constexpr std::size_t most_stack = 523'712;  // 512 KiB of local memory, without the driver's part
constexpr std::size_t stack_unit = 16;
constexpr std::size_t least_fifo = 512 << 10, least_heap = 4 << 20, most_fetched = 128;

/// A value that rounds to the current one changes nothing on the device, and is answered as it is.
std::size_t rounded_stack(std::size_t value) {
  std::size_t current = 0;
  get_limit(current, cudaLimitStackSize);
  const std::size_t rounded = model::round_up(value, stack_unit);
  return rounded == model::round_up(current, stack_unit) ? value : rounded;
}

}  // namespace

cudaError_t get_limit(std::size_t& value, cudaLimit limit) {
  const int number = limit;  // the number of a caller that may have made it of any number
  if (number < 0 || number >= first_unknown) return cudaErrorInvalidValue;
  const auto changed = limits().changed.find(number);
  const bool is_changed = changed != limits().changed.end();
  if (!is_changed && limit_fact(number) == 0) return cudaErrorUnsupportedLimit;
  value = is_changed ? changed->second : limit_fact(number);
  return cudaSuccess;
}

cudaError_t set_limit(Process& process, cudaLimit limit, std::size_t value) {
  const int number = limit;
  if (number < 0 || number >= first_unknown) return cudaErrorInvalidValue;
  if (limits().held.contains(number)) return cudaErrorInvalidValue;
  switch (limit) {
    case cudaLimitStackSize:
      if (value > most_stack) return cudaErrorInvalidValue;
      value = rounded_stack(value);
      break;
    case cudaLimitPrintfFifoSize:
      value = model::round_up(std::max(value, least_fifo), 256);
      break;
    case cudaLimitMallocHeapSize:
      value = model::round_up(std::max(value, least_heap), 64 << 10);
      process.memory().machine().heap().limit = value;
      break;
    case cudaLimitDevRuntimeSyncDepth:
      return cudaErrorUnsupportedLimit;
    case cudaLimitMaxL2FetchGranularity:
      if (value > most_fetched) return cudaErrorInvalidValue;
      break;
    default:
      break;
  }
  limits().changed[number] = value;
  return cudaSuccess;
}

void hold_limits(const model::Program& program) {
  if (program.prints) limits().held.insert(cudaLimitPrintfFifoSize);
  if (program.allocates) limits().held.insert(cudaLimitMallocHeapSize);
}

}  // namespace warpmeter::runtime
