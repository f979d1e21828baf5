#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Puts the kernels of tests/collector/model/check (with planted mistakes, and correct ones) under compute-sanitizer's four
# tools on this machine's GPU, and under `warpmeter model --check`: who finds what. Each kernel is launched once with the
# fill iota, or with another with which its mistake happens. A few minutes on 16 cores.
#
#   tests/device/sanitizer_check.sh [BUILD [FOLDER]]   BUILD: where warpmeter and corpus_launcher are; build/gpu when not given
#                                                      FOLDER: gets sanitizer_check.md, the table, and sanitizer_check.log,
#                                                      what each tool said; the current one when not given
#
# These errors count as found: for memcheck, initcheck and synccheck an error in their "ERROR SUMMARY" besides
# "Program hit …", which only says that a call failed; for racecheck an error or a warning in its "RACECHECK SUMMARY"
# (hazards that it calls information, such as writes of equal values, do not count). Wherever in the kernel it is: of
# the tools neither the line nor the kind is held to the marks. The answers of warpmeter are right if there is at
# least one marked line with its kind, and nothing beside the marks. Anything in a correct kernel is a false alarm;
# warpmeter's remark "equal writes" counts for nothing. Kernels that would never end on hardware are "not run"; one
# that hangs there is ended by the launcher after 30 s, by this script after 60.
#
# Exit code: 0 when warpmeter finds every mistake and reports no correct kernel, 1 when not, 2 when not built, 4 without a
# GPU. Needs compute-sanitizer and python3, no package.
. "$(dirname "$(readlink -f "$0")")/prologue.sh"
choose_build "${1:-}" warpmeter corpus_launcher
folder=${2:-.}
PATH=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin
need_tools compute-sanitizer python3
need_gpu
mkdir -p "$folder"
python3 "$here/sanitizer_check.py" "$root" "$build" "$folder"
