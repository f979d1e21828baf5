// SPDX-License-Identifier: MIT
// The points of the roofline: the operations of a kind, and the bytes of a memory.
//
// A kernel with operations of several kinds has points for each. L1 has what moves between it and
// the registers, and what passes it by into shared memory (cp.async, copies in bulk). L2 and device
// memory have what was counted there. Where nobody counted, device memory has input and output,
// each once: the kernel moves at least that.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/sections/needs.h"

namespace warpmeter::reports::sections {

enum class Memory { l1, l2, device };
std::string_view name_of(Memory memory);

/// Operations of one kind, and the peak that limits them.
struct OperationKind {
  const char *name, *counter;
  const char* peak;  ///< as in the view `peaks`
  double share = 1;  ///< the part of the peak's operations that the counter counts
  bool is_floating = true;
  const char* unit = nullptr;  ///< the unit of the peak, where it is not this kind's own
};

struct Traffic {
  Memory memory = Memory::l1;
  Sum bytes;
  bool is_least = false;  ///< more may have moved
  std::string title() const;
};

/// Two limits: of operations, and of bytes.
struct Roof {
  double peak = 0, tbytes_per_s = 0;  ///< 10^12 operations and bytes a second
  double at(double operations_a_byte) const;
  double ridge() const { return peak / tbytes_per_s; }
};

/// By the datasheet, and as measured on this card.
template <class T>
struct Both {
  std::optional<T> documented, measured;
};

struct RooflinePoint {
  const Limits* limits = nullptr;
  const OperationKind* kind = nullptr;
  Traffic traffic;
  Sum operations;
  Both<Roof> roof;
  std::optional<double> achieved;  ///< 10^12 operations a second
  double most = 0;                 ///< the least roof of the kernel's memories; 0: no roof is known

  double per_byte() const { return operations.value / traffic.bytes.value; }
  std::string mark() const { return std::max(operations.mark, traffic.bytes.mark); }
};

/// By kind, then by memory; none for a kernel whose operations or bytes nobody counted.
std::vector<RooflinePoint> points_of(const Limits& limits);

/// The bytes of a kernel without floating-point operations.
struct BytesPoint {
  const Limits* limits = nullptr;
  Traffic traffic;
  Both<double> roof;               ///< 10^12 bytes a second
  std::optional<double> achieved;  ///< the same
};

std::vector<BytesPoint> bytes_points_of(const Limits& limits);

}  // namespace warpmeter::reports::sections
