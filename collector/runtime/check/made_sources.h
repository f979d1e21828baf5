// SPDX-License-Identifier: MIT
// Sources that a program gives to NVRTC as texts. CuPy names each by a temporary file. A person
// wants the line of the script that the text stands in, or at least the text, and who made it.
#pragma once

#include "collector/model/machine/program.h"

namespace warpmeter::runtime {

/// Names the files and lines of such sources for a person, before they are reported: those of the
/// script where the text stands literally in it, else "script.py@12.cu" for a text of its line 12.
/// Once for each program: a second call may move its lines again.
void name_sources(model::Program& program);

}  // namespace warpmeter::runtime
