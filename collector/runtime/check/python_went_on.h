// SPDX-License-Identifier: MIT
// A call that the model refuses returns an error, and frameworks of Python raise an exception. A
// few of their calls do not: CuPy drops what CUB returns, and its sum is then 0. The script may end
// well with wrong results.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "collector/runtime/check/caller.h"

namespace warpmeter::runtime {

struct RefusedCall {
  std::string sentence;
  std::optional<HostPlace> place;  ///< the script's line
  bool warns = false;              ///< Python warns of it there
  /// True if its caller raises exceptions: the error is not what the script is given.
  bool may_raise = false;
};

/// For a call that is about to return an error to this thread's Python code. `went_on` is called if
/// the script goes on in the same line without an exception; by the main thread, once the call has
/// returned.
void watch(const RefusedCall& call, std::function<void()> went_on);

}  // namespace warpmeter::runtime
