// SPDX-License-Identifier: MIT
// The effects of a program's instructions on registers that may be unset (see ptx/unset.h): the
// part that is ready to be followed while the program runs. Empty for most programs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collector/model/machine/warp/matrix_product.h"
#include "collector/model/machine/warp/operation.h"
#include "collector/model/ptx/memory/unset.h"

namespace warpmeter::model {

/// A register of one inlined function, at one place where it is inlined.
struct UnsetRegister {
  std::string name;  ///< as the PTX calls it
  std::uint32_t bits = 32;
  bool at_start = false;  ///< unset when a thread begins
  /// Unset only where a load of global or shared memory finds a part of what it reads unset.
  bool from_memory = false;
};

inline constexpr std::uint32_t always_set = ~std::uint32_t{0};

struct UnsetOperand {
  std::uint32_t number = always_set;  ///< in UnsetTable::registers
  std::uint32_t bits = 32;         ///< the bits of the register, 1 of a predicate; 64 of a number
  std::uint16_t row = no_operand;  ///< where its value is; of a predicate its index
  bool is_predicate = false, is_negated = false;
  bool is_constant = false;
  std::uint64_t value = 0;  ///< the value of a constant
};

/// An instruction that reads or writes some of them.
struct UnsetStep {
  /// An address, of local memory for example: what a row holds, and an offset.
  struct Place {
    UnsetOperand base;
    std::int64_t offset = 0;
  };
  struct Stretch {
    Place begin;
    std::uint64_t bytes = 0;
  };
  std::uint32_t operation = 0;  ///< the instruction's first, by which it is known that it begins
  std::uint32_t instruction = 0;
  ptx::Spread spread = ptx::Spread::none;
  std::uint32_t bits = 32, from_bits = 32;  ///< these as in ptx::UnsetRole
  bool is_signed = false, extends_sign = false, clamps = false, combines_or = false;
  std::uint8_t table = 0;
  bool has_guard = false;
  UnsetOperand guard;
  bool is_branch = false;  ///< all lanes execute it; the guard says which of them jump
  std::vector<UnsetOperand> results, sources;
  struct Use {
    ptx::UnsetUse what = ptx::UnsetUse::address;
    std::vector<UnsetOperand> operands;
    std::uint32_t bits = 0;
    bool is_generic = false;  ///< and may lead to local memory
    Place place;              ///< where, if it is
    /// For a value: what stores beside it write to the same structure, and how many bits. Where one
    /// of them is set, this one may be padding.
    std::vector<UnsetOperand> neighbours;
  };
  std::vector<Use> uses;
  /// The uses that write to memory that others see, for which it matters what was computed from
  /// unset memory.
  std::vector<Use> written;
  /// Registers that are the results of a load from such memory, or what a store puts there, stand
  /// in the order of their bytes. Each has as many.
  bool is_load = false, is_store = false;
  std::uint32_t bytes = 0;
  /// Concerns registers alone that are unset because of memory: nothing to do before such a load
  /// has been seen.
  bool is_dormant = false;
  /// For local memory, each part behind the one before it; of a generic access, where it leads
  /// there.
  struct Access {
    bool loads = false, stores = false, is_generic = false, is_parameter = false;
    Place place;
    std::uint32_t bytes = 4;  ///< the bytes of each part: a result of a load, a source of a store
  };
  Access access;
  std::vector<Stretch> forgotten;  ///< the variables that a beginning function forgets
  struct Copy {
    Place from, to;
    std::uint32_t bytes = 0;
  };
  std::optional<MatrixProduct> product;  ///< the product of Spread::matrix_product
  std::optional<Copy>
      copy;  ///< the copy of an argument or a result of a function with a body of its own
};

struct UnsetTable {
  std::vector<UnsetRegister> registers;  ///< those that are unset because of memory last
  std::vector<UnsetStep> steps;          ///< by their operations
  bool follows_local = false;            ///< there are variables in local memory
};

}  // namespace warpmeter::model
