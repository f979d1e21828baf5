// SPDX-License-Identifier: MIT
// The parts of a program that depend on the order in which threads come to an atomic, or on other
// things that only the hardware knows: see ptx/memory/order_flow.h.
#include <algorithm>
#include <iterator>

#include "collector/model/machine/decode/decoder.h"

namespace warpmeter::model {
namespace {

using ptx::MemoryPiece;
using ptx::PieceId;

/// By ptx::Unknown.
constexpr std::string_view unknown_reasons[] = {
    "approximate: its addresses, or who comes to it, depend on the clock",
    "approximate: its addresses, or who comes to it, depend on where the hardware puts blocks and "
    "warps (%smid, %warpid)",
    "approximate: its addresses, or who comes to it, depend on the address that malloc of a kernel "
    "returned",
    "approximate: its addresses, or who comes to it, depend on memory or a register that nothing "
    "has set",
};
static_assert(std::size(unknown_reasons) == ptx::unknown_count);

/// The pieces of an instance that last, as the program has them.
class LastingPieces {
 public:
  using Symbols = std::unordered_map<std::string_view, Symbol>;

  LastingPieces(const Instance& instance, const Symbols& variables, std::vector<LastingMemory>& all)
      : instance_(instance), variables_(variables), all_(all) {}

  std::uint32_t of(PieceId id) {
    const LastingMemory found = described(instance_.analysis->order.pieces[id]);
    const auto known = std::find_if(all_.begin(), all_.end(), [&](const LastingMemory& memory) {
      return memory.kind == found.kind && memory.place == found.place;
    });
    const auto index = static_cast<std::uint32_t>(known - all_.begin());
    if (known == all_.end()) all_.push_back(found);
    return index;
  }

 private:
  LastingMemory described(const MemoryPiece& piece) const {
    if (piece.kind == MemoryPiece::Kind::parameter) {
      const Symbol& parameter = instance_.symbols.at(piece.name);
      return {LastingMemory::Kind::parameter, parameter.address + piece.offset};
    }
    if (piece.kind == MemoryPiece::Kind::variable) {
      return {LastingMemory::Kind::variable, variables_.at(piece.name).address};
    }
    return {};
  }

  const Instance& instance_;
  const Symbols& variables_;
  std::vector<LastingMemory>& all_;
};

}  // namespace

void Decoder::note_ordered_sites(const Instance& instance,
                                 const std::vector<std::size_t>& sites_before) {
  const ptx::OrderFlow& order = instance.analysis->order;
  const auto each_site = [&](const std::vector<bool>& accesses, auto visit) {
    for (std::size_t i = 0; i < accesses.size(); ++i) {
      if (!accesses[i]) continue;
      for (std::size_t site = sites_before[i]; site < sites_before[i + 1]; ++site) visit(site);
    }
  };
  LastingPieces pieces(instance, module_symbols_, program_.lasting_memory);
  for (const PieceId stored : order.stored) {
    const std::uint32_t index = pieces.of(stored);
    program_.lasting_memory[index].is_stored = true;
  }
  each_site(order.of_atomics.accesses,
            [&](std::size_t site) { program_.sites[site].is_ordered = true; });
  each_site(order.of_races, [&](std::size_t site) { program_.sites[site].is_raced = true; });
  const auto note_left = [&](const std::vector<PieceId>& memory) {
    for (const PieceId left : memory) {
      const std::uint32_t index = pieces.of(left);
      program_.lasting_memory[index].is_left_ordered = true;
    }
  };
  note_left(order.of_atomics.memory);
  for (std::size_t k = 0; k < ptx::unknown_count; ++k) {
    each_site(order.of_unknown[k].accesses,
              [&](std::size_t site) { program_.sites[site].unknown = unknown_reasons[k]; });
    note_left(order.of_unknown[k].memory);
  }
  for (PieceId id = 0; id < order.of_contents.size(); ++id) {
    const ptx::OrderReach& reach = order.of_contents[id];
    if (reach.accesses.empty()) continue;
    const std::uint32_t index = pieces.of(id);
    each_site(reach.accesses, [&](std::size_t site) {
      program_.lasting_memory[index].ordered_sites.push_back(static_cast<std::uint32_t>(site));
    });
    for (const PieceId left : reach.memory) {
      const std::uint32_t to = pieces.of(left);
      program_.lasting_memory[index].leads_to.push_back(to);
    }
  }
}

}  // namespace warpmeter::model
