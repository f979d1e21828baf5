#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The energy of a launch, measured on this card.
#
#   repeated   the same launch measured five times: the largest and the smallest energy are at most 2 % apart
#   doubled    a copy of twice as much memory and a kernel of twice as many products take twice the energy, within 5 %
#   settings   clocks, power limit and persistence are afterwards what they were before
#
#   tests/device/energy.sh [BUILD]      BUILD: where warpmeter is; build/release or build/gpu when not given
#
# Exit code: 0 when all hold, 1 when one does not, 4 without a GPU. Needs python3, no package.
. "$(dirname "$(readlink -f "$0")")/prologue.sh"
choose_build "${1:-}" warpmeter
need_gpu
cd "$root"
python3 tests/device/energy.py "$build/warpmeter" "$work"
