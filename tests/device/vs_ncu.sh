#!/usr/bin/env bash
# What one more profiled launch costs: warpmeter against Nsight Compute's command line, side by side, with the
# same metrics on the same kernel, and whether both read the same values.
#
#   tests/device/vs_ncu.sh [BUILD] [FAMILY VARIANT SIZE]      build/gpu, reduction interleaved 65536
#
# The cost of a launch is the wall time of a run with many launches less that of one with few, over the
# difference: starting up counts for neither. ncu is given fewer launches, since it takes its time. In both of its
# modes the clocks are left alone (--clock-control none), which only makes it faster: "default" is ncu as it comes
# but for that, "fastest" adds application replay and no cache control.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."

build=${1:-build/gpu}
family=${2:-reduction} variant=${3:-interleaved} size=${4:-65536}
for program in warpmeter launcher; do
  [ -x "$build/$program" ] || { echo "vs_ncu.sh: no $program in $build: run cmake --preset gpu, then cmake --build --preset gpu" >&2; exit 2; }
done
command -v ncu >/dev/null || { echo "vs_ncu.sh: ncu is not on PATH: install Nsight Compute" >&2; exit 2; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 tests/device/vs_ncu.py "$build" "$work" "$family" "$variant" "$size"
