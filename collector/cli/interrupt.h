// SPDX-License-Identifier: MIT
// Ctrl-C. The first one asks the command to end in order and keep what is finished; the second one
// ends it at once (base/endings.h). SIGTERM and SIGHUP are heard the same way, and may be the
// second one. A compiler that runs for the command is ended by the first.
#pragma once

#include <string_view>

namespace warpmeter::cli {

/// From now on the signals set a flag instead of ending the program, once; `message` is then said.
/// A signal that was ignored when the program started (nohup) stays ignored.
void catch_interrupts(
    std::string_view message =
        "\nwarpmeter: stopping; finished launches are kept (Ctrl-C again stops at once)\n");

/// Has the user asked to end? Safe to ask from any thread.
bool interrupted();

/// Ends the program by the signal that came, so that a shell sees it (130 for Ctrl-C) and stops a
/// loop around it. Returns when there was none.
void end_by_interrupt();

}  // namespace warpmeter::cli
