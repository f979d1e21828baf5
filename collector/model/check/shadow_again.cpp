// SPDX-License-Identifier: MIT
// Threads that poll a flag or retry an atomic: what they did there before is kept already, and
// becomes the last again. Nothing else changes, however many do so beside them.
#include <utility>

#include "collector/model/check/shadow.h"

namespace warpmeter::model::check {

/// Where what `by` did before is kept, by as many lanes: `last` or a slot of the chain.
Shadow::Slot* Shadow::slot_of(Cell& cell, Slot& last, const Conflict& at, const Accessing& by) {
  Slot* own = last.context == by.number ? &last : nullptr;
  for (std::uint32_t i = cell.more; i != 0 && own == nullptr; i = chains_[i].next) {
    if (chains_[i].value.context == by.number) own = &chains_[i].value;
  }
  return own == nullptr || (at.own_lanes & ~own->lanes) != 0 ? nullptr : own;
}

bool Shadow::poll_again(Cell& cell, const Conflict& at, const Accessing& by, ConflictSink& sink) {
  if (!by.context.is_strong || cell.read.context == 0) return false;
  Slot* const own = slot_of(cell, cell.read, at, by);
  if (own == nullptr) return false;
  for (std::uint32_t i = cell.more; i != 0; i = chains_[i].next) {
    const Slot& slot = chains_[i].value;
    if (by.contexts[slot.context].writes) conflicts(slot, at, by, sink);
  }
  std::swap(*own, cell.read);
  return true;
}

/// Not where the atomic sees for the first time what others have handed on.
bool Shadow::retry_again(Cell& cell, const Conflict& at, const Accessing& by, ConflictSink& sink) {
  if (!by.context.changes || by.context.hands_on || cell.read.context != 0) return false;
  Slot* const own = slot_of(cell, cell.write, at, by);
  if (own == nullptr) return false;
  const bool sees = sees_all(cell, by);
  const auto is_news = [&](const Slot& slot) {
    return sees && has_seen(by.context, by.contexts[slot.context]);
  };
  if (is_news(cell.write)) return false;
  for (std::uint32_t i = cell.more; i != 0; i = chains_[i].next) {
    if (is_news(chains_[i].value)) return false;
  }
  conflicts(cell.write, at, by, sink);
  for (std::uint32_t i = cell.more; i != 0; i = chains_[i].next) {
    conflicts(chains_[i].value, at, by, sink);
  }
  std::swap(*own, cell.write);
  return true;
}

}  // namespace warpmeter::model::check
