// SPDX-License-Identifier: MIT
// The instructions that give registers their values, where it is one alone.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "collector/model/ptx/flow/control_flow.h"
#include "collector/model/ptx/flow/registers.h"

namespace warpmeter::model::ptx {

class Definitions {
 public:
  Definitions(const Function& function, const DataFlow& data)
      : data_(data), of_(data.registers().size(), nowhere) {
    std::vector<bool> is_known(of_.size(), false);
    for (std::size_t i = 0; i < function.body.size(); ++i) {
      for (const RegisterId written : data.writes(i)) {
        of_[written] = is_known[written] ? nowhere : i;
        is_known[written] = true;
      }
    }
  }

  /// `nowhere` for a register that none or several write, and for what is no register.
  std::size_t of(std::string_view name) const {
    const auto id = data_.find(name);
    return id ? of_[*id] : nowhere;
  }

 private:
  const DataFlow& data_;
  std::vector<std::size_t> of_;
};

}  // namespace warpmeter::model::ptx
