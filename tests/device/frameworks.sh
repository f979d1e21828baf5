#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Scripts of PyTorch (eager, compiled, captured as a graph), JAX, CuPy and Triton under `warpmeter profile` and `profile -m @default`: they
# have to print the same, end with the same code, and take at most three times as long; counts of the first hundred launches equal
# Nsight Compute's, wherever two runs of it agree. One line a check, a count at the end.
#
#   tests/device/frameworks.sh [BUILD [SCRIPT...]]
#
# BUILD: where warpmeter is; build/release or build/gpu when not given. SCRIPT: some of tests/device/frameworks, without the extension.
#
# Exit code: 0 when all hold, 1 when one does not, 4 without a GPU. Needs ncu, and python3 with the frameworks.
. "$(dirname "$(readlink -f "$0")")/prologue.sh"
choose_build "${1:-}" warpmeter
need_tools c++filt ncu python3
need_gpu
python3 "$here/frameworks.py" "$build/warpmeter" "$work" "${@:2}"
