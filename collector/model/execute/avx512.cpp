// See unit.inc.
#define WARPMETER_ISA avx512
#include "collector/model/execute/unit.inc"
