// SPDX-License-Identifier: MIT
// The signals that this library handles for itself. The program's handlers for them, before or
// later (sigaction, signal), are kept, answered as if they stood, and called for what is not ours.
#pragma once

#include <signal.h>

namespace warpmeter::runtime {

using SignalHandler = void (*)(int, siginfo_t*, void*);

/// SIGSEGV or SIGTRAP, once each.
void handle_signal(int signal, SignalHandler handler);
/// True if it still comes to that handler first: a program may go past the C library.
bool is_handled(int signal, SignalHandler handler);
/// From such a handler: it is the program's.
void pass_on(int signal, siginfo_t* info, void* context);

}  // namespace warpmeter::runtime
