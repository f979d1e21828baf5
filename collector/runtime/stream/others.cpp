// SPDX-License-Identifier: MIT
#include "collector/runtime/stream/others.h"

#include <algorithm>

#include "collector/runtime/stream/outstanding.h"

namespace warpmeter::runtime {
namespace {

/// Host code writes there without a call, of this process or of another.
bool is_written_by_host(Process& process, std::uint64_t address) {
  const Block* block = process.memory().find(address);
  if (block == nullptr) {
    const auto variable = process.variable_at(address);
    return variable && variable->is_managed;
  }
  return block->kind == MemoryKind::managed || block->kind == MemoryKind::pinned ||
         block->kind == MemoryKind::registered;
}

/// Another process has it too.
bool is_shared(Process& process, std::uint64_t address) {
  const Block* block = process.memory().find(address);
  return block != nullptr && (block->is_imported || block->pages.process != 0);
}

}  // namespace

model::Outside Others::wait(const std::set<std::uint64_t>& loaded, bool has_gone_on) {
  if (loaded.empty()) return model::Outside::nothing;  // they wait for each other
  const auto any = [&](auto is_so) {
    return std::any_of(loaded.begin(), loaded.end(),
                       [&](std::uint64_t address) { return is_so(process_, address); });
  };
  const Writers writers{any(is_written_by_host), any(is_shared)};
  have_been_waited_for_ = true;
  if (Races* races = process_.races()) races->waits_for(loaded);
  reach_.reset();
  const model::Outside others = wait_beside(process_, writers, has_gone_on);
  reach_.emplace(process_, device_);
  return others;
}

void Others::let_go() {
  reach_.reset();
  let_others_go_on(process_);
  reach_.emplace(process_, device_);
}

}  // namespace warpmeter::runtime
