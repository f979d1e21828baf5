#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The cost of one more profiled launch: warpmeter against Nsight Compute's command line, side by side, with the
# same metrics on the same kernel, and whether both read the same values.
#
#   tests/device/vs_ncu.sh [BUILD] [FAMILY VARIANT SIZE]      build/gpu, reduction interleaved 65536
#
# The cost of a launch is the wall time of a run with many launches less that of one with few, over the
# difference: starting up counts for neither. ncu is given fewer launches, since it takes its time. In both of its
# modes the clocks are left alone (--clock-control none), which only makes it faster: "default" is ncu as it comes
# but for that, "fastest" adds application replay and no cache control.
. "$(dirname "$(readlink -f "$0")")/prologue.sh"
choose_build "${1:-}" warpmeter launcher
family=${2:-reduction} variant=${3:-interleaved} size=${4:-65536}
need_tools ncu
cd "$root"
python3 tests/device/vs_ncu.py "$build" "$work" "$family" "$variant" "$size"
