// SPDX-License-Identifier: MIT
// Random programs out of forms (forms.h): lines, branches and loops in each other, for 32 lanes
// with registers and memory of their own, and some memory that all of them change.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "tests/collector/model/forms.h"
#include "tests/collector/model/reference/program.h"

namespace warpmeter::model {

inline constexpr unsigned each_kind = 6;  ///< registers of each kind
inline constexpr std::string_view register_kinds = "hrdfgpxyvw";
inline constexpr unsigned registers_of_lane = register_kinds.size() * each_kind;
inline constexpr unsigned lane_bytes = 64;     ///< the lane bytes of a lane in each space
inline constexpr unsigned common_bytes = 192;  ///< the common bytes of shared, and of global memory

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  /// A register's contents: often numbers at whose neighbours instructions behave otherwise.
  std::uint64_t bits(char kind);
  /// One instruction of a form, guarded now and then.
  std::string line(const Form& form) { return line(form, {}); }
  reference::Block program(unsigned lines) { return block(lines, {}); }

 private:
  /// Where in a program a line stands.
  struct Where {
    unsigned depth = 0;  ///< the depth of branches and loops: not all lanes need to be here
    bool in_loop = false;
  };

  std::uint64_t integer();
  std::uint64_t narrow(bool is_bf16);
  double real(bool is_double);
  std::string line(const Form& form, Where where);
  std::string any(char kind);
  std::string operand(const Form& form, const std::string& token, char size, Where where);
  std::string memory(const Form& form, Where where);
  reference::Block block(unsigned lines, Where where);
  void add_branch(reference::Block& block, unsigned lines, Where where);
  void add_loop(reference::Block& block, unsigned lines, Where where);
  void add_leave(reference::Block& block, Where where);
  template <class T>
  const T& one_of(const std::vector<T>& all) {
    return all[below(all.size())];
  }

  std::mt19937_64 random_;
};

/// Entry k(out, in, lanes' global memory, common global memory): loads each lane's registers,
/// runs the program, stores the lane's registers, shared and local memory, and behind those of all
/// lanes the common shared memory. All in words of 8 bytes.
std::string kernel_of(const reference::Block& program);
inline constexpr unsigned words_of_lane = registers_of_lane + 2 * lane_bytes / 8;

/// As many such programs of one line as there are lines, one after the other in one kernel, whose
/// loading and storing is then read once for all of them. Each has its own part of every buffer,
/// and begins as if it were alone: with its registers, memory of zeros, and no carry.
std::string kernel_of_each(const std::vector<std::string>& lines);
inline constexpr unsigned words_of_program = 32 * words_of_lane + common_bytes / 8;

}  // namespace warpmeter::model
