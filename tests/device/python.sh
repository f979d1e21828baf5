#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Ranges of the Python module on this machine's GPU: the counts that python/tests/cuda.py has by hand, the same counts
# from `warpmeter profile`, results with and without a range, and the time that a range takes. One line a check.
#
#   tests/device/python.sh [BUILD]      BUILD: where warpmeter is; build/release or build/gpu when not given
#
# Exit code: 0 when all hold, 1 when one does not, 4 without a GPU. Needs python3, no package.
. "$(dirname "$(readlink -f "$0")")/prologue.sh"
choose_build "${1:-}" warpmeter
need_tools python3
need_gpu
provide_module
PYTHONPATH=$PYTHONPATH:$root/python/tests python3 -B "$here/python_ranges.py" "$build/warpmeter" "$work"
