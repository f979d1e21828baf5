// SPDX-License-Identifier: MIT
// Atomics: one lane after the other, each number of a vector by itself.
#include <bit>
#include <cstring>
#include <functional>
#include <type_traits>

#include "collector/model/machine/access.h"
#include "collector/model/machine/worker_memory.h"

// The arithmetic of 16-bit floats is that of the units of execute/, compiled once more.
#define WARPMETER_ISA atomics
#include "collector/model/machine/execute/narrow.h"
#include "collector/model/machine/warp/lane_rows.h"

namespace warpmeter::model {
namespace {

using atomics::Bf16;
using atomics::F16;
using atomics::halves;

/// 16 bytes, which are only exchanged and compared.
struct Wide {
  std::uint64_t low, high;
  bool operator==(const Wide&) const = default;
};

template <class T>
T changed_integer(AtomicKind kind, T old, T operand) {
  using Unsigned = std::make_unsigned_t<T>;
  switch (kind) {
    case AtomicKind::add:
      return static_cast<T>(static_cast<Unsigned>(old) + static_cast<Unsigned>(operand));
    case AtomicKind::bit_and:
      return static_cast<T>(old & operand);
    case AtomicKind::bit_or:
      return static_cast<T>(old | operand);
    case AtomicKind::bit_xor:
      return static_cast<T>(old ^ operand);
    case AtomicKind::increment:
      return old >= operand ? T{0} : static_cast<T>(old + 1);
    case AtomicKind::decrement:
      return old == 0 || old > operand ? operand : static_cast<T>(old - 1);
    case AtomicKind::minimum:
      return operand < old ? operand : old;
    case AtomicKind::maximum:
      return old < operand ? operand : old;
    case AtomicKind::exchange:
    case AtomicKind::compare_and_swap:
      break;
  }
  return operand;
}

/// f32 and f64; the decoder lets nothing else but an exchange through.
template <class T>
T changed_float(AtomicKind kind, T old, T operand) {
  return kind == AtomicKind::add ? atomics::canonical(old + operand) : operand;
}

/// Global memory takes subnormal numbers for 0 and gives none (PTX ISA, atom; seen on an H200). In
/// shared memory, where an addition is a loop, they stay.
float changed_global(AtomicKind kind, float old, float operand) {
  if (kind != AtomicKind::add) return operand;
  return atomics::flushed(changed_float(kind, atomics::flushed(old), atomics::flushed(operand)));
}

template <class T>
std::uint16_t changed_narrow(AtomicKind kind, std::uint16_t old, std::uint16_t operand) {
  switch (kind) {
    case AtomicKind::add:
      return atomics::narrow_add<T>(old, operand);
    case AtomicKind::minimum:
      return atomics::narrow_min<T>(old, operand, false);
    case AtomicKind::maximum:
      return atomics::narrow_max<T>(old, operand, false);
    default:
      return operand;
  }
}

/// Numbers of 16 bytes lie in two rows of 8.
template <class T>
T lane_of(const Warp& w, std::uint16_t row, unsigned lane) {
  if constexpr (sizeof(T) == 16) {
    return {row_of<std::uint64_t>(w, row)[lane],
            row_of<std::uint64_t>(w, static_cast<std::uint16_t>(row + 4))[lane]};
  } else {
    return row_of<T>(w, row)[lane];
  }
}
template <class T>
void set_lane(const Warp& w, std::uint16_t row, unsigned lane, const T& value) {
  if constexpr (sizeof(T) == 16) {
    row_of<std::uint64_t>(w, row)[lane] = value.low;
    row_of<std::uint64_t>(w, static_cast<std::uint16_t>(row + 4))[lane] = value.high;
  } else {
    row_of<T>(w, row)[lane] = value;
  }
}

template <class T, class Changed>
void change(Warp& w, const Operation* op, std::uint32_t mask, Changed changed) {
  const auto kind = static_cast<AtomicKind>(op->c & atomic_kind_mask);
  const unsigned parts = op->f == 0 ? 1 : op->f;
  const unsigned units = sizeof(T) * 32 / row_unit_bytes;
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    for (unsigned part = 0; part < parts; ++part) {
      const auto moved = static_cast<std::uint16_t>(part * units);
      std::byte* const at = w.lane_host[lane] + part * sizeof(T);
      T old;
      std::memcpy(&old, at, sizeof(T));
      const T operand = lane_of<T>(w, static_cast<std::uint16_t>(op->b + moved), lane);
      T now = operand;
      if (kind == AtomicKind::compare_and_swap) {
        now = old == operand ? lane_of<T>(w, op->e, lane) : old;
      } else if (kind != AtomicKind::exchange) {
        now = changed(kind, old, operand);
      }
      std::memcpy(at, &now, sizeof(T));
      if (op->d != no_operand) set_lane(w, static_cast<std::uint16_t>(op->d + moved), lane, old);
    }
  }
}

/// Most atomics add single numbers. False where it is something else.
template <class T, class Add>
bool add_each(Warp& w, const Operation* op, std::uint32_t mask, Add add) {
  if (static_cast<AtomicKind>(op->c & atomic_kind_mask) != AtomicKind::add || op->f > 1) {
    return false;
  }
  const T* const operands = row_of<T>(w, op->b);
  T* const olds = op->d == no_operand ? nullptr : row_of<T>(w, op->d);
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    T old;
    std::memcpy(&old, w.lane_host[lane], sizeof(T));
    const T now = add(old, operands[lane]);
    std::memcpy(w.lane_host[lane], &now, sizeof(T));
    if (olds != nullptr) olds[lane] = old;
  }
  return true;
}

/// Those of the lanes whose access goes to shared memory.
std::uint32_t lanes_in_shared(const Warp& w, std::uint32_t mask) {
  const std::vector<std::byte>& shared = w.memory->shared;
  std::uint32_t found = 0;
  for (; mask != 0; mask &= mask - 1) {
    const int lane = std::countr_zero(mask);
    const std::less<const std::byte*> before;
    const bool is_there = !before(w.lane_host[lane], shared.data()) &&
                          before(w.lane_host[lane], shared.data() + shared.size());
    if (is_there) found |= 1u << lane;
  }
  return found;
}

template <class T>
std::uint32_t changed_pair(AtomicKind kind, std::uint32_t old, std::uint32_t operand) {
  return halves(old, operand,
                [=](std::uint16_t x, std::uint16_t y) { return changed_narrow<T>(kind, x, y); });
}

}  // namespace

void change_atomically(Warp& w, const Operation* op, std::uint32_t mask) {
  switch (static_cast<AtomicType>(op->c >> atomic_type_shift & 15)) {
    case AtomicType::u32:
      if (add_each<std::uint32_t>(w, op, mask, std::plus<>())) return;
      return change<std::uint32_t>(w, op, mask, changed_integer<std::uint32_t>);
    case AtomicType::s32:
      if (add_each<std::uint32_t>(w, op, mask, std::plus<>())) return;
      return change<std::int32_t>(w, op, mask, changed_integer<std::int32_t>);
    case AtomicType::u64:
      if (add_each<std::uint64_t>(w, op, mask, std::plus<>())) return;
      return change<std::uint64_t>(w, op, mask, changed_integer<std::uint64_t>);
    case AtomicType::s64:
      return change<std::int64_t>(w, op, mask, changed_integer<std::int64_t>);
    case AtomicType::f32: {
      const bool keeps_all = (op->c & atomic_keeps_subnormals) != 0;
      const std::uint32_t in_shared = keeps_all ? mask : lanes_in_shared(w, mask);
      const auto add = [](float x, float y) { return changed_float(AtomicKind::add, x, y); };
      const auto add_global = [](float x, float y) {
        return changed_global(AtomicKind::add, x, y);
      };
      if (add_each<float>(w, op, mask & in_shared, add)) {
        add_each<float>(w, op, mask & ~in_shared, add_global);
        return;
      }
      change<float>(w, op, mask & in_shared, changed_float<float>);
      return change<float>(w, op, mask & ~in_shared, changed_global);
    }
    case AtomicType::f64:
      if (add_each<double>(w, op, mask,
                           [](double x, double y) { return atomics::canonical(x + y); })) {
        return;
      }
      return change<double>(w, op, mask, changed_float<double>);
    case AtomicType::f16:
      return change<std::uint16_t>(w, op, mask, changed_narrow<F16>);
    case AtomicType::bf16:
      return change<std::uint16_t>(w, op, mask, changed_narrow<Bf16>);
    case AtomicType::f16x2:
      return change<std::uint32_t>(w, op, mask, changed_pair<F16>);
    case AtomicType::bf16x2:
      return change<std::uint32_t>(w, op, mask, changed_pair<Bf16>);
    case AtomicType::b16:
      return change<std::uint16_t>(w, op, mask, changed_integer<std::uint16_t>);
    case AtomicType::b128:
      return change<Wide>(w, op, mask,
                          [](AtomicKind, const Wide&, const Wide& operand) { return operand; });
  }
}

}  // namespace warpmeter::model
