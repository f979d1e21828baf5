// SPDX-License-Identifier: MIT
#include "collector/runtime/blas/reach.h"

#include "collector/model/machine/order.h"
#include "collector/runtime/check/checks.h"

namespace warpmeter::runtime::blas {

void* Reach::place(const void* at, std::uint64_t bytes, bool writes) {
  const auto address = reinterpret_cast<std::uint64_t>(at);
  bool is_inside = false;
  std::byte* const place = process_.memory().translate(address, bytes, is_inside);
  if (place == nullptr || !is_inside) throw Unreachable{address, bytes, writes};
  const model::Allocation* allocation = process_.memory().machine().find(address);
  if (allocation != nullptr && allocation->is_ordered) ordered_ = address;
  if (writes) written_.emplace_back(address, bytes);
  return place;
}

void Reach::touch(const void* at, std::uint64_t bytes, bool writes) {
  Checks* checks = process_.checks();
  if (checks == nullptr) return;
  const auto address = reinterpret_cast<std::uint64_t>(at);
  checks->races().touch(address, bytes, writes);
  if (writes) checks->set(address, bytes);
}

void Reach::finish() {
  for (const auto& [address, bytes] : written_) {
    model::follow_copy(process_.memory().machine(), process_.host_order(), address, ordered_,
                       bytes);
  }
}

}  // namespace warpmeter::runtime::blas
