#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every metric and event of nvprof on 28 kernels (29 with a second GPU), from warpmeter and from Nsight Compute with NVIDIA's formulas, in
# the same call. Counts of the program are equal. Figures of time and caches are read in one pass, by up to three runs of each tool:
# between the two ranges lie at most 5 %.
#
#   tests/device/nvprof_names.sh [BUILD] [RECORD] [SECONDS]
#   tests/device/nvprof_names.py --groups WARPMETER      writes nvprof_groups.json anew
#
# RECORD is a JSON file to write: by name, how many kernels agree, with device, driver and date; docs/nvprof.md shows
# tests/golden/nvprof_names.json. The values of all runs lie beside it (….values.json). After SECONDS (200) nothing is run again.
. "$(dirname "$(readlink -f "$0")")/prologue.sh"
choose_build "${1:-}" warpmeter
record=${2:-$work/record.json}
need_gpu
need_tools ncu
if [ ! -x "$build/nvprof_kernels" ]; then
  need_tools nvcc
  nvcc -std=c++17 -arch=native -o "$work/nvprof_kernels" "$here/facts/nvprof_kernels.cu"
fi
program=$build/nvprof_kernels
[ -x "$program" ] || program=$work/nvprof_kernels
python3 "$here/nvprof_names.py" "$build/warpmeter" "$program" "$work" "$record" "${3:-200}"
