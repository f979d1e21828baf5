#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The cost of measuring to a Python script, in one table: warpmeter's ranges, nsight-python (where it is installed) and ncu on the
# same kernel and metric: milliseconds a launch, and of the whole script, beyond its own. Then scripts of Triton, CuPy and
# Numba, measured in-process: their counts are ncu's.
#
#   tests/device/python_costs.sh [BUILD [PART…]]      PART: costs triton cupy numba; all when none is given
#
# Exit code: 0 when all counts are right, 1 when one is not, 4 without a GPU. Needs ncu, and python3 with those frameworks.
. "$(dirname "$(readlink -f "$0")")/prologue.sh"
choose_build "${1:-}" warpmeter
need_tools python3 ncu
need_gpu
provide_module
parts=("${@:2}")
[ ${#parts[@]} -gt 0 ] || parts=(costs triton cupy numba)
failed=0
for part in "${parts[@]}"; do
  case $part in
    costs) python3 -B "$here/python_costs.py" "$build/warpmeter" "$work" || failed=1 ;;
    *) python3 -B "$here/python_frameworks.py" "$part" "$work" || failed=1 ;;
  esac
done
exit $failed
