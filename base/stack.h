// SPDX-License-Identifier: MIT
// A stack that is large enough for our own code and for the compilers that it loads, whatever
// `ulimit -s` says. The limit itself stays, for the programs that are started.
#pragma once

#include <functional>

namespace warpmeter {

/// The result of `work`, which runs on a thread with such a stack where this one's may be smaller;
/// threads that it starts have such stacks too. Signals come to that thread.
int with_large_stack(const std::function<int()>& work);

}  // namespace warpmeter
