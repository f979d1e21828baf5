#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Prints how long a fresh clone takes, in minutes of the clock and of the processors: ./dev run, ./dev test, .ci/run.
# The compiler's cache is left out, packages are those of this machine.
#
#   tests/bench/minutes.sh [run|test|ci …]     all three when none is given
set -euo pipefail
root=$(dirname "$(dirname "$(dirname "$(readlink -f "$0")")")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CCACHE_DISABLE=1

measured() {
  local name=$1 status=0
  shift
  git clone -q "$root" "$work/$name"
  TIMEFORMAT='%R %U %S'
  { time (cd "$work/$name" && "$@" >"$work/$name.log" 2>&1 </dev/null) || status=$?; } 2>"$work/times"
  awk -v name="$*" -v status=$status '{ printf "%-12s %6.1f min, %6.1f min of processors, exit code %d\n", name, $1 / 60, ($2 + $3) / 60, status }' "$work/times"
  [ $status -eq 0 ] || tail -n 20 "$work/$name.log"
  rm -rf "${work:?}/$name"
}

printf '%s processors, load %s\n' "$(nproc)" "$(cut -d' ' -f1 /proc/loadavg)"
for part in ${@:-run test ci}; do
  case $part in
    run) measured run ./dev run ;;
    test) measured test ./dev test ;;
    ci) measured ci .ci/run ;;
    *) echo "minutes.sh: no part is called $part: run, test or ci" >&2; exit 2 ;;
  esac
done
