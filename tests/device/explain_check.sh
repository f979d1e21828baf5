#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The promises of `explain` on this machine's GPU: the kernels of tests/reports/explain and their rewritten forms,
# counted and timed. It checks that the hardware counts what the model predicted, that the rewritten ones are faster,
# and that exact counts are the hardware's. One line a check, a count at the end.
#
#   tests/device/explain_check.sh [BUILD]      BUILD: where warpmeter is; build/release or build/gpu when not given
#
# Exit code: 0 when all hold, 1 when one does not, 2 when not built, 4 without a GPU.
. "$(dirname "$(readlink -f "$0")")/prologue.sh"
choose_build "${1:-}" warpmeter
need_gpu
cd "$root"
export XDG_CACHE_HOME=$work/cache
python3 tests/device/explain_check.py "$build/warpmeter" "$work"
