// See unit.inc.
#define WARPMETER_ISA baseline
#include "collector/model/machine/execute/unit.inc"
