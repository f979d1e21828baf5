// SPDX-License-Identifier: MIT
// The process is NVIDIA's ptxas, which the program has started: Triton does. The machine code that
// it writes is kept with the PTX that it was given (made_code.h).
#pragma once

namespace warpmeter::runtime {

/// As the process begins.
void look_at_arguments(int count, char** arguments);
/// As it ends, its files are written.
void keep_assembled();

}  // namespace warpmeter::runtime
