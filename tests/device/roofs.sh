#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The roofs of this card beside the best public figures, and the catalogue's roofline points beside ncu's.
#
#   tests/device/roofs.sh [BUILD]      BUILD: where warpmeter is; build/release or build/gpu when not given
#
#   peaks    `doctor --peaks`: each at least 97 % of the best figure that somebody published for this chip
#   points   operations and bytes of L1 as `run -m @limits` counts them and as ncu's roofline sections do: equal. Bytes of
#            device memory: printed beside ncu's, as they depend on what the caches hold
#
# Exit code: 0 when both hold, 1 when one does not, 4 without a GPU. Needs python3, no package, and ncu.
. "$(dirname "$(readlink -f "$0")")/prologue.sh"
choose_build "${1:-}" warpmeter
need_gpu
need_tools ncu
cd "$root"
python3 tests/device/roofs.py "$build/warpmeter" "$work"
