#!/usr/bin/env bash
# How long a newcomer and CI wait: makes a fresh clone, times the commands that build in it, and prints them beside
# their limits. Exits 1 when one takes longer.
#
#   tests/bench/minutes.sh [REVISION]       REVISION: HEAD by default. Wants two cores to itself, and 40 minutes.
#
# Nothing that was compiled before helps: ccache is off, and the clone has no build folder. Seconds are those of the
# clock, with as many jobs as there are cores; beside them those that all cores worked, halved: what two cores that do
# nothing else need at least.
set -euo pipefail
source=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)
revision=$(git -C "$source" rev-parse "${1:-HEAD}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CCACHE_DISABLE=1
unset CMAKE_CXX_COMPILER_LAUNCHER
TIMEFORMAT='%R %U %S'
failed=0
table=""

# measure NAME LIMIT COMMAND…: in the clone; its output goes to a log that is shown when it fails.
measure() {
  local name=$1 limit=$2 status=0
  shift 2
  printf '%s …\n' "$name" >&2
  { time "$@" >"$work/log" 2>&1; } 2>"$work/time" || status=$?
  read -r real user system < <(tail -n 1 "$work/time")
  local row
  row=$(awk -v n="$name" -v l="$limit" -v r="$real" -v u="$user" -v s="$system" -v e="$status" 'BEGIN {
    verdict = e != 0 ? "failed with " e : r <= l ? "holds" : "too long"
    printf "%-34s %8.0f %14.0f %8d   %s", n, r, (u + s) / 2, l, verdict }')$'\n'
  table+=$row
  printf '%s' "$row" >&2
  if [ $status -ne 0 ]; then tail -n 40 "$work/log" >&2; fi
  if [ $status -ne 0 ] || awk -v l="$limit" -v r="$real" 'BEGIN { exit r <= l }'; then failed=1; fi
}

fresh() {
  cd "$work"
  rm -rf "$work/clone"
  git clone -q "$source" "$work/clone"
  cd "$work/clone"
  git checkout -q "$revision"
}

fresh
./dev install-dependencies >&2
measure "./dev run" 240 ./dev run
fresh
measure "./dev test" 360 ./dev test
# The file that the machine's every test goes through, as an edit leaves it.
printf '\n' >>"$(git ls-files 'collector/model/*/launch.cpp' | head -n 1)"
measure "./dev test model, one file touched" 60 ./dev test model
fresh
measure ".ci/run" 1200 .ci/run

printf '%-34s %8s %14s %8s\n' "fresh clone, $(nproc) cores" "seconds" "CPU seconds/2" "limit"
printf '%s' "$table"
exit $failed
