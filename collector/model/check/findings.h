// SPDX-License-Identifier: MIT
// The findings: one finding for each kind of mistake and instruction, with how often it was seen.
// Seeing it again costs next to nothing, so that a loop that goes wrong a million times ends.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "collector/model/machine/program.h"

namespace warpmeter::model::check {

enum class Defect : std::uint8_t {
  out_of_bounds,
  misaligned,
  uninitialised,  ///< memory that others see too
  partly_unset,   ///< the same, of which a part was set: padding, maybe
  unset,          ///< registers and local memory
  unset_shared,
  race,          ///< threads of a block, on shared memory
  global_race,   ///< threads of a block, on global memory
  block_race,    ///< threads of several blocks
  equal_writes,  ///< the same races, but all write the same: a remark
  barrier,
  absent_lanes,
  trap,
};
inline constexpr std::size_t defects = 13;
std::string_view to_string(Defect defect);  ///< "out of bounds", "shared-memory race", …

/// True if a source file is a header of CUB, Thrust, libcu++ or cooperative groups.
bool is_of_toolkit(std::string_view file);

/// Threads that a mistake involves: what orders them differs.
enum class Span : std::uint8_t { none, warp, block, grid };

struct Finding {
  Defect defect = Defect::trap;
  Span span = Span::none;
  Place place;
  std::string file;         ///< the file of the source; empty where the PTX does not say
  std::uint64_t times = 0;  ///< how often, by all threads
  std::string message;      ///< the message of the first time of the widest span: one sentence
  /// The other line that the message names: where the other thread writes, for example. 0: none.
  std::string other_file;
  int other_line = 0;
  std::uint64_t address = 0;  ///< where it leaves global memory; 0: it is elsewhere
  std::uint64_t width = 0;    ///< its bytes
  /// The code is the toolkit's (CUB, Thrust, cooperative groups), inlined into the kernel maybe;
  /// and so is the kernel.
  bool is_of_toolkit = false, is_of_its_kernel = false;

  /// True if it is worth a look, but no mistake by itself: all write the same; or code of the
  /// toolkit reads padding, or shared memory, that nobody has set, and may make no use of it; or
  /// its own kernels do so with registers, or use one place from several threads or blocks
  /// (Thrust's algorithms in place, whose blocks tell each other how far they have come).
  bool is_remark() const {
    switch (defect) {
      case Defect::equal_writes:
        return true;
      case Defect::partly_unset:
      case Defect::unset_shared:
        return is_of_toolkit;
      case Defect::unset:
      case Defect::race:
      case Defect::block_race:
        return is_of_its_kernel;
      default:
        return false;
    }
  }
};

/// A message that names another instruction than the finding's own.
struct Described {
  std::string message;
  std::uint32_t other = 0;
};

/// The message of an access that global memory does not have.
struct Illegal {
  std::string message;
  std::uint64_t address = 0;
  std::uint64_t width = 0;
};

/// A mistake of an instruction: its place is the person's line, also in the toolkit's kernels.
Finding finding_at(const Program& program, std::uint32_t instruction);

class Findings {
 public:
  /// The program must outlive them.
  explicit Findings(const Program& program);

  /// Counts that many more. `describe` gives the message, or a Described, and is asked only where
  /// it is needed.
  template <class Describe>
  void add(Defect defect, std::uint32_t instruction, Span span, const Describe& describe,
           std::uint64_t times = 1) {
    std::uint32_t& number = number_of(defect, instruction);
    if (number == none) number = create(defect, instruction);
    Finding& finding = all_[number];
    finding.times += times;
    if (finding.times > times && span <= finding.span) return;
    finding.span = span;
    set_message(finding, describe());
  }

  /// By their places; those of one kind on one line are one.
  std::vector<Finding> list() const;
  /// How many were seen, remarks aside.
  std::uint64_t mistakes() const;

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  std::uint32_t& number_of(Defect defect, std::uint32_t instruction) {
    return numbers_[instruction * defects + static_cast<std::size_t>(defect)];
  }
  std::uint32_t create(Defect defect, std::uint32_t instruction);
  void set_message(Finding& finding, Described described) const;
  static void set_message(Finding& finding, Illegal illegal);
  static void set_message(Finding& finding, std::string message);

  const Program& program_;
  std::vector<std::uint32_t> numbers_;  ///< by instruction and defect
  std::vector<Finding> all_;
};

}  // namespace warpmeter::model::check
