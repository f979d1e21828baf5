// See unit.inc.
#define WARPMETER_ISA avx512
#include "collector/model/machine/execute/unit.inc"
