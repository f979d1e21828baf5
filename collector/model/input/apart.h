// SPDX-License-Identifier: MIT
// Work in a process of its own. A compiler in a library takes its time, handles the signals that
// come to the program, and cannot be stopped: in a process of its own it can.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace warpmeter::model {

/// The answer of `work`, which sees all that this process has at the moment and changes nothing of
/// it. nullopt: the process ended without an answer. Throws Interrupted where a signal has asked
/// this program to end.
std::optional<std::string> work_apart(const std::function<std::string()>& work);

}  // namespace warpmeter::model
