#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# How often `compare` is wrong on this machine's GPU, and how often it finds what is there.
#
#   A/A    one build measured in many processes, each compared with the three after it: the share of rows
#          called faster or slower has to be at most 1 %
#   power  vector_add at a size of about 20 µs against one that takes 3 % longer, each time two processes: it
#          has to be called slower in at least 95 % of the trials
#
#   tests/device/aa_power.sh [BUILD]      BUILD: where warpmeter is; build/release or build/gpu when not given
#   SESSIONS=25 TRIALS=40 tests/device/aa_power.sh
#
# Exit code: 0 when both hold, 1 when one does not, 4 without a GPU. Needs python3, no package.
. "$(dirname "$(readlink -f "$0")")/prologue.sh"
choose_build "${1:-}" warpmeter
cd "$root"
python3 tests/device/aa_power.py "$build/warpmeter" "$work" "${SESSIONS:-25}" "${TRIALS:-40}"
