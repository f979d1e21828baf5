#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The cost of `warpmeter profile` to a program: its start, and one more launch by the number of passes, beside Nsight Compute in the same run.
#
#   tests/device/costs.sh [BUILD]      BUILD: where warpmeter is; build/release or build/gpu when not given
#
# Needs nvcc, ncu and python3, no package.
. "$(dirname "$(readlink -f "$0")")/prologue.sh"
choose_build "${1:-}" warpmeter
need_tools nvcc ncu python3
need_gpu
nvcc -O2 -arch=native -o "$work/launches" "$here/programs/launches.cu"
python3 "$here/costs.py" "$build/warpmeter" "$work"
