// SPDX-License-Identifier: MIT
// Which memory an access reaches, as far as a function's code tells one piece from another: a
// shared array, a variable, what a parameter of the kernel points to. Compilers never make one
// piece's address of another's, so whatever leads to an address says where it leads.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "collector/model/ptx/flow/registers.h"
#include "collector/model/ptx/module.h"

namespace warpmeter::model::ptx {

struct MemoryPiece {
  enum class Kind : std::uint8_t {
    block,      ///< shared, local, or what is handed to a function and back: gone with the launch
    variable,   ///< the variable of the module, in global memory
    parameter,  ///< the memory behind a parameter of the entry
    elsewhere,  ///< global memory at an address that came out of memory
  };
  Kind kind = Kind::elsewhere;
  std::string_view name;     ///< the name of the variable or parameter
  std::uint32_t offset = 0;  ///< the offset of the pointer in the parameter, in bytes

  bool operator==(const MemoryPiece&) const = default;
};

using PieceId = std::uint32_t;

/// Where the variables of a module lie, by name.
using Spaces = std::unordered_map<std::string_view, Space>;

class PointedMemory {
 public:
  PointedMemory(const Function& function, const DataFlow& data, const Spaces& variables);

  const std::vector<MemoryPiece>& pieces() const { return pieces_; }
  /// The pieces that an access to that space may reach, each once; none: parameters of the entry
  /// and constants, which nobody writes while the kernel runs.
  const std::vector<PieceId>& reached(const Operand& address, Space space);
  /// Adds every piece that an address may be made of, each once: where one is sure, the others too.
  /// `elsewhere`, where something came out of memory, or nothing is known.
  void add_all_reached(const Operand& address, std::vector<PieceId>& to) const;

 private:
  /// Pieces that a register may point into. Those that it does as far as is known because it was
  /// made an address of theirs, and others that may only be numbers.
  struct Pointers {
    std::vector<PieceId> sure, possible;
    bool may_come_from_memory = false;
    bool has_unknown_half = false;  ///< the number was put together of two, and one is unknown
    bool add(const Pointers& other);
    bool has_pieces() const { return !sure.empty() || !possible.empty(); }
    bool empty() const { return !has_pieces() && !may_come_from_memory && !has_unknown_half; }
  };

  void follow();
  Pointers given_by(std::size_t index) const;
  Pointers of_name(std::string_view name) const;
  PieceId number_of(const MemoryPiece& piece);
  bool is_in(PieceId piece, Space space) const;

  const Function& function_;
  const DataFlow& data_;
  std::vector<MemoryPiece> pieces_;
  std::vector<Space> spaces_;  ///< by piece
  std::unordered_map<std::string_view, PieceId> variables_;
  std::unordered_map<std::size_t, std::vector<PieceId>>
      loaded_;                  ///< for parameters, by instruction
  std::vector<Pointers> held_;  ///< by register
  std::vector<PieceId> found_;
};

}  // namespace warpmeter::model::ptx
