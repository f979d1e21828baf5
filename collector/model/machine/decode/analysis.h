// SPDX-License-Identifier: MIT
// The decoder's facts about a function before it decodes an instruction of it.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "collector/model/ptx/flow/asking_loops.h"
#include "collector/model/ptx/flow/control_flow.h"
#include "collector/model/ptx/flow/slots.h"
#include "collector/model/ptx/memory/order_flow.h"
#include "collector/model/ptx/parting.h"

namespace warpmeter::model {

/// The facts about a function whatever calls it.
struct Analysis {
  ptx::ControlFlow graph;
  ptx::DataFlow data;
  ptx::Slots slots;
  std::vector<std::size_t> leader;  ///< the leader of each instruction; see ptx/leaders.h
  std::vector<bool> is_meeting;     ///< for each instruction: lanes that parted meet before it
  std::vector<bool> waits;          ///< the waits of each instruction: see ptx::waiting_loops()
  ptx::OrderFlow order;             ///< the values that depend on who comes to an atomic first
  std::vector<ptx::AskingLoop> asking_loops;
  bool waits_somewhere = false;  ///< or a function that it calls
  std::vector<bool> is_behind;   ///< for each instruction: see ptx::behind_waiting()
  std::vector<bool> is_copied;   ///< for each instruction: see ptx::copied_loads()
  std::vector<bool> decides;     ///< for each instruction: see ptx::deciding_reads()
  std::vector<std::vector<ptx::Parting>> partings;  ///< by block: see ptx::partings()
  std::vector<bool> is_verified;        ///< for each instruction: see ptx::verified_loads()
  std::vector<std::string_view> meant;  ///< by each instruction: see ptx::meant_variables()
  std::vector<bool> stores_same;        ///< for each instruction: see ptx::stores_of_one_value()
  std::vector<std::size_t>
      deciders;  ///< the deciders of each instruction: see ptx::deciding_comparisons()
  std::vector<std::vector<std::size_t>>
      early_joins;  ///< the early joins of each block: see ptx/early_joins.h
};

}  // namespace warpmeter::model
