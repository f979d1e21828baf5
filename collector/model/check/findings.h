// What was found: one finding for each kind of mistake and instruction, with how often it was seen.
// Seeing it again costs next to nothing, so that a loop that goes wrong a million times ends.
#pragma once

#include <array>
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
  unset,          ///< the same of registers, local and shared memory
  race,           ///< threads of a block, on shared memory
  global_race,    ///< threads of a block, on global memory
  block_race,     ///< threads of several blocks
  equal_writes,   ///< the same races, but all write the same: a remark
  barrier,
  absent_lanes,
  trap,
};
inline constexpr std::size_t defects = 11;
std::string_view to_string(Defect defect);  ///< "out of bounds", "shared-memory race", …
/// Threads that a mistake involves: what orders them differs.
enum class Span : std::uint8_t { none, warp, block, grid };

struct Finding {
  Defect defect = Defect::trap;
  Span span = Span::none;
  Place place;
  std::string file;         ///< of the source; empty where the PTX does not say
  std::uint64_t times = 0;  ///< how often, by all threads
  std::string message;      ///< of the first time of the widest span: one sentence
  /// The code is the toolkit's (CUB, Thrust, cooperative groups), inlined into the kernel maybe.
  bool is_of_toolkit = false;

  /// Whether it is worth a look, but no mistake by itself: all write the same; or code of the
  /// toolkit does with its own registers and shared memory what it makes no use of, or reads and
  /// writes one range from several blocks (Thrust's algorithms in place, whose blocks tell each
  /// other how far they have come).
  bool is_remark() const {
    const bool is_own =
        defect == Defect::unset || defect == Defect::race || defect == Defect::block_race;
    return defect == Defect::equal_writes || (is_of_toolkit && is_own);
  }
};

class Findings {
 public:
  /// The program must outlive them.
  explicit Findings(const Program& program);

  /// Counts that many more. `describe` gives the message, and is asked only where it is needed.
  template <class Describe>
  void add(Defect defect, std::uint32_t instruction, Span span, const Describe& describe,
           std::uint64_t times = 1) {
    std::uint32_t& number = number_of(defect, instruction);
    if (number == none) number = create(defect, instruction);
    Finding& finding = all_[number];
    finding.times += times;
    if (finding.times > times && span <= finding.span) return;
    finding.span = span;
    finding.message = describe();
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

  const Program& program_;
  std::vector<std::uint32_t> numbers_;  ///< by instruction and defect
  std::vector<Finding> all_;
};

}  // namespace warpmeter::model::check
