#!/usr/bin/env bash
# Profiles programs that know nothing of warpmeter and holds every count to ncu's on the same binary; then
# measures what profiling costs. One line a check, a count at the end.
#
#   tests/device/profile_check.sh [BUILD [PART...]]
#
# BUILD: where warpmeter is; build/release or build/gpu when not given. PART: a program, or compare_graph, pytorch,
# filters, replays, timing, endings, other_profiler, summary, overhead, costs; all when none is given.
#
# Exit code: 0 when all hold, 1 when one does not, 4 without a GPU. Needs nvcc, ncu and python3, no package.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")

build=${1:-}
for candidate in "$build" "$here/../../build/release" "$here/../../build/gpu"; do
  if [ -n "$candidate" ] && [ -x "$candidate/warpmeter" ]; then build=$candidate && break; fi
done
[ -x "$build/warpmeter" ] || { echo "profile_check.sh: no warpmeter in '${build:-build/release}': run ./dev build" >&2; exit 2; }
for tool in nvcc ncu python3; do
  command -v $tool >/dev/null || { echo "profile_check.sh: $tool is not in PATH" >&2; exit 2; }
done
nvidia-smi -L >/dev/null 2>&1 || { echo "profile_check.sh: there is no GPU here" >&2; exit 4; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for source in "$here"/programs/*.cu; do
  name=$(basename "$source" .cu)
  nvcc -O2 -arch=native -o "$work/$name" "$source" -lcuda &
done
nvcc -O2 -arch=native --cudart shared -o "$work/shared_square_dynamic" "$here/programs/shared_square.cu" &
wait
cp "$here"/programs/*.py "$work"
python3 "$here/profile_check.py" "$(readlink -f "$build")" "$work" "${@:2}"
