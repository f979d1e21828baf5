// SPDX-License-Identifier: MIT
// Which loads of a block have one row as their address, so that they are checked together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "collector/model/machine/native/code.h"
#include "collector/model/machine/native/flow.h"
#include "collector/model/machine/program.h"

namespace warpmeter::model::native {

class LoadGroups {
 public:
  LoadGroups(const Program& program, const std::vector<Effect>& effects, int pieces_of_unit);

  struct Place {
    std::uint32_t group = 0;
    bool is_first = false;
  };
  /// nullopt: the operation is in none.
  std::optional<Place> place(std::size_t operation) const { return places_[operation]; }
  const std::vector<LoadGroup>& all() const { return groups_; }

 private:
  struct Open;
  void add(const Program& program, std::size_t operation, std::vector<Open>& open) const;
  void close(const Open& one);

  std::vector<LoadGroup> groups_;
  std::vector<std::optional<Place>> places_;
};

}  // namespace warpmeter::model::native
