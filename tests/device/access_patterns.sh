#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Measures single accesses on this machine's GPU: the accesses of tests/golden/access_patterns/sm_90.csv, each by one
# warp, counted by the hardware. Writes the golden file of the device's compute capability beside it. The model's
# counts are `exact` for an architecture that has such a file whose every access the counting rules meet: build anew,
# and they are.
#
#   tests/device/access_patterns.sh [BUILD [FOLDER]]   BUILD: where warpmeter is; build/release or build/gpu when not
#                                                      given. FOLDER: tests/golden/access_patterns when not given
#
# Exit code: 0 when the rules meet every access, 1 when not, 2 when not built, 4 without a GPU or its counters. Needs
# nvcc and python3, no package.
. "$(dirname "$(readlink -f "$0")")/prologue.sh"
choose_build "${1:-}" warpmeter rate_rules
golden=$root/tests/golden/access_patterns
folder=${2:-$golden}
need_tools nvcc python3
nvcc -O3 -std=c++17 -arch=native -o "$work/access_patterns" "$here/access_patterns.cu" 2>"$work/nvcc.txt" ||
  { cat "$work/nvcc.txt" >&2; exit 4; }
arch=$("$work/access_patterns")
"$build/warpmeter" profile -m @shared,@global --db "$work/counts.db" -- "$work/access_patterns" "$golden/sm_90.csv" \
  >"$work/profile.txt" 2>&1 || { cat "$work/profile.txt" >&2; exit 4; }
"$build/warpmeter" query --db "$work/counts.db" --format csv \
  "SELECT launch_id, variant, counter, value FROM counters JOIN launches USING (launch_id) WHERE value IS NOT NULL" >"$work/counts.csv"
mkdir -p "$folder"
python3 "$here/access_patterns.py" "$golden/sm_90.csv" "$work/counts.csv" "$work/sm_$arch.csv"
cp "$work/sm_$arch.csv" "$folder/sm_$arch.csv"
"$build/rate_rules" "$golden/sm_90.csv" "$folder/sm_$arch.csv"
