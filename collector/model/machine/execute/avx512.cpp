// SPDX-License-Identifier: MIT
// See unit.h.
#define WARPMETER_ISA avx512
#include "collector/model/machine/execute/unit.h"
