// SPDX-License-Identifier: MIT
// The decoder's rows and predicates between the operations of one instruction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace warpmeter::model {

/// Rows and predicates for what lies between the operations of one instruction. Each is given once
/// to an instruction, and to the next one again.
class Scratch {
 public:
  /// By bytes of an element and rows that follow each other; predicates are {0, 1}.
  using Shape = std::pair<unsigned, unsigned>;

  /// The next free one of a shape, which `allocate` makes where there is none.
  template <class Allocate>
  std::uint16_t take(Shape shape, Allocate allocate) {
    Pool& pool = pools_[shape];
    if (pool.used == pool.rows.size()) pool.rows.push_back(allocate());
    return pool.rows[pool.used++];
  }

  /// All that were ever taken, as visit(shape, first row).
  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& [shape, pool] : pools_) {
      for (const std::uint16_t row : pool.rows) visit(shape, row);
    }
  }

  /// While it lives; what was taken meanwhile is free again afterwards.
  class Lease {
   public:
    explicit Lease(Scratch& scratch) : scratch_(scratch) {
      for (const auto& [shape, pool] : scratch.pools_) used_[shape] = pool.used;
    }
    ~Lease() {
      for (auto& [shape, pool] : scratch_.pools_) pool.used = used_[shape];
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

   private:
    Scratch& scratch_;
    std::map<Shape, std::size_t> used_;
  };

 private:
  struct Pool {
    std::vector<std::uint16_t> rows;
    std::size_t used = 0;
  };
  std::map<Shape, Pool> pools_;
};

}  // namespace warpmeter::model
