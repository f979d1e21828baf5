// SPDX-License-Identifier: MIT
// See unit.h.
#define WARPMETER_ISA baseline
#include "collector/model/machine/execute/unit.h"
