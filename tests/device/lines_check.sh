#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Measures the accesses by source line of the whole catalogue on this machine's GPU (`run --lines`) and on the model,
# and holds one to the other: requests and transactions of every line that the model calls exact; how many ideals are
# equal as well is told. Then the same of programs that know nothing of warpmeter (`profile --lines`), and what --lines
# costs. Before that: what the warps of six launches wait for, beside Nsight Compute's samples. One line a check, a count
# at the end.
#
#   tests/device/lines_check.sh [BUILD [PROGRAM...]]
#
# BUILD: where warpmeter is; build/release or build/gpu when not given. PROGRAM: compiled programs to profile as well;
# without one they are compiled from programs/ where nvcc is in PATH.
#
# Exit code: 0 when all hold, 1 when one does not, 4 without a GPU. Needs python3, no package.
. "$(dirname "$(readlink -f "$0")")/prologue.sh"
choose_build "${1:-}" warpmeter
need_tools python3 ncu
need_gpu
programs=("${@:2}")
if [ ${#programs[@]} -eq 0 ] && command -v nvcc >/dev/null; then
  arch=sm_$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d .)  # with PTX, for the model
  for name in shared_square launches in_place streams; do
    nvcc -O2 -lineinfo -arch="$arch" -o "$work/$name" "$here/programs/$name.cu" -lcuda &
    programs+=("$work/$name")
  done
  nvcc -O2 -arch="$arch" -o "$work/without_lines" "$here/programs/shared_square.cu" -lcuda &
  programs+=("$work/without_lines")
  wait
fi
cd "$root"
python3 tests/device/lines_check.py "$build" "$work" "${programs[@]}"
