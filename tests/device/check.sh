#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Measures everything on this machine's GPU and holds it to what was measured before: every variant verified,
# every row of tests/golden/h200_seed_kernels.csv met to the last count. One line a check, a count at the end.
#
#   tests/device/check.sh [BUILD]      BUILD: where warpmeter is; build/release or build/gpu when not given
#
# Exit code: 0 when all hold, 1 when one does not, 4 without a GPU. Needs python3, no package.
. "$(dirname "$(readlink -f "$0")")/prologue.sh"
choose_build "${1:-}" warpmeter
cd "$root"
export WARPMETER_DB=$work/check.db

"$build/warpmeter" doctor || true
status=0
"$build/warpmeter" run --backend cupti --no-progress >"$work/run.txt" || status=$?
[ $status -ne 4 ] || exit 4
"$build/warpmeter" query --format csv launches >"$work/launches.csv"
"$build/warpmeter" query --format csv results >"$work/results.csv"
tests=0
if [ -x "$build/device_test" ]; then
  "$build/device_test" >"$work/device_test.txt" 2>&1 || { tests=$?; cat "$work/device_test.txt"; }
fi
python3 tests/device/check.py "$work" "$status" "$tests" "$build/warpmeter"
