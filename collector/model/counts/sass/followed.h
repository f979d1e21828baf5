// SPDX-License-Identifier: MIT
// The values in one loop that follow from what it loads. A register that is written anew from other
// values follows no more: compilers load into the registers of the address.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "collector/model/counts/sass/step.h"

namespace warpmeter::model::sass {

class Followed {
 public:
  Followed(const std::vector<Step>& steps, std::size_t first, std::size_t last)
      : steps_(steps), first_(first), last_(last), before_(last - first + 1) {}

  /// True if such a value decides whether the loop goes on. `is_polled` says what it follows from.
  bool decides(const std::function<bool(const Step&)>& is_polled);

 private:
  struct Values {
    std::bitset<256> registers;
    std::bitset<8> predicates;
  };

  bool has_register(std::uint64_t number) const {
    return number != no_register && values_.registers[number];
  }
  bool has_predicate(std::uint64_t number) const {
    return (number & 7) != 7 && values_.predicates[number & 7];
  }
  /// True of a branch or call to outside of the loop, whose target is known.
  bool goes_outside(const Step& step) const;
  /// True if what begins there ends the kernel before it returns: compilers call what lies behind
  /// a loop instead of branching to it.
  bool ends_kernel(std::uint64_t at) const;
  bool leads_out(const Step& step) const;
  /// A way out of the loop without a condition: a branch around it has the condition.
  bool has_way_out() const;
  bool depends(const Step& step) const;
  void set_result(const Step& step, bool follows);
  void set_predicates(const Step& step, bool follow);
  void forget_result(const Step& step);
  void follow(const Step& step);
  /// The registers that a function of this section may write, with those that it calls; all of
  /// them where one is elsewhere.
  std::bitset<256> written_by(std::int64_t function) const;
  /// Hands what follows behind a step on to the next ones.
  void hand_on(std::size_t at);
  void join(std::size_t to);

  const std::vector<Step>& steps_;
  const std::size_t first_, last_;
  std::vector<Values> before_;   ///< the values in front of each step
  Values values_;                ///< those at the step that is looked at
  bool through_shared_ = false;  ///< one of the values was stored there
  bool through_local_ = false;   ///< likewise
  bool parts_ = false;           ///< lanes or rounds part within the loop
  bool is_found_ = false, has_grown_ = false;
};

}  // namespace warpmeter::model::sass
