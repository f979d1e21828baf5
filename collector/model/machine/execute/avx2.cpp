// See unit.inc.
#define WARPMETER_ISA avx2
#include "collector/model/machine/execute/unit.inc"
