// SPDX-License-Identifier: MIT
// Programs that this process starts. The library comes into them by LD_PRELOAD; where it does not,
// or finds no way in, warpmeter is told, for of such a program it hears nothing else.
#pragma once

namespace warpmeter::runtime {

/// Keeps where warpmeter listens: the environment may be emptied.
void remember_listener();

/// Before this process becomes another user or moves to another root, from where it may no longer
/// reach warpmeter.
void look_at_leaving() noexcept;

/// Before a file is executed with an environment. `becomes_it`: by the process that calls, which
/// may be a fork of this one.
void look_at_start(const char* file, char* const* environment, bool becomes_it) noexcept;
/// The same of a file that is looked for in PATH where its name has no slash.
void look_at_start_by_name(const char* name, char* const* environment, bool becomes_it) noexcept;

}  // namespace warpmeter::runtime
