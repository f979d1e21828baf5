#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# How near the built-in kernels come to what the machine gives: transposes and sums as shares of the bandwidth of
# a copy, products of matrices as shares of cuBLAS. The variants of a family are timed in turns, each sample with a
# flushed cache.
#
#   tests/device/ceilings.sh [BUILD]      BUILD: where warpmeter is; build/release or build/gpu when not given
#
# Prints a table a family and size, then a line an aim. Exit code: 0 when all are reached, 1 when one is not (or cuBLAS
# is not there to compare with), 4 without a GPU. At 4,096 the CPU takes some ten seconds to check each product.
. "$(dirname "$(readlink -f "$0")")/prologue.sh"
choose_build "${1:-}" warpmeter
cd "$root"
export WARPMETER_DB=$work/ceilings.db

measure() {
  local status=0
  "$build/warpmeter" run --backend cupti --timing-only --interleave --no-progress "$@" 2>"$work/errors" || status=$?
  [ $status -eq 0 ] || { cat "$work/errors" >&2; exit $status; }
}
measure transpose -n 4096
measure reduction -n 67108864
measure matmul/registers_64x128 matmul/registers_128x128 matmul/cublas -n 1024,2048,4096

# aim FAMILY SIZE CEILING PER_CENT: the family's best variant against its ceiling.
missed=0
aim() {
  local reached
  reached=$("$build/warpmeter" query --format csv "
    SELECT format('%s  %s/%s at %,d: %.1f %% of %s (aim: %d %%)', iif(share >= $4, 'ok  ', 'FAIL'),
                  family, variant, size, share, '$3', $4) AS reached
    FROM (SELECT v.*, 100 * c.duration_ns / v.duration_ns AS share
          FROM comparison v JOIN comparison c USING (run_id, family, size)
          WHERE v.family = '$1' AND v.size = $2 AND c.variant = '$3'
            AND v.variant NOT LIKE 'copy%' AND v.variant <> 'cublas' AND c.duration_ns > 0)
    ORDER BY share DESC LIMIT 1" | sed 1d | tr -d '"')
  reached=${reached:-FAIL  $1 at $2: $3 was not measured (aim: $4 %)}
  echo "$reached"
  case $reached in FAIL*) missed=1 ;; esac
}
aim transpose 4096 copy 95
aim transpose 4096 copy_float4 95
aim reduction 67108864 copy 90
for size in 1024 2048 4096; do aim matmul $size cublas 80; done
exit $missed
