#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Profiles programs that know nothing of warpmeter and holds every count to ncu's on the same binary; then
# measures what profiling costs. One line a check, a count at the end.
#
#   tests/device/profile_check.sh [BUILD [PART...]]
#
# BUILD: where warpmeter is; build/release or build/gpu when not given. PART: a program, or compare_graph, pytorch,
# filters, replays, timing, endings, other_profiler, summary, trace, start_stop, overhead,
# trace_costs, costs; all when none is given.
#
# Exit code: 0 when all hold, 1 when one does not, 4 without a GPU. Needs nvcc, ncu and python3, no package.
. "$(dirname "$(readlink -f "$0")")/prologue.sh"
choose_build "${1:-}" warpmeter
need_tools nvcc ncu python3
need_gpu
for source in "$here"/programs/*.cu; do
  name=$(basename "$source" .cu)
  nvcc -O2 -arch=native -o "$work/$name" "$source" -lcuda &
done
nvcc -O2 -arch=native --cudart shared -o "$work/shared_square_dynamic" "$here/programs/shared_square.cu" &
wait
cp "$here"/programs/*.py "$work"
python3 "$here/profile_check.py" "$build" "$work" "${@:2}"
