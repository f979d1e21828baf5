// See unit.inc.
#define WARPMETER_ISA baseline
#include "collector/model/execute/unit.inc"
