#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Memory charts and limits of kernels beside `ncu --set full`: ten of the catalogue (limits.cu) and, where Python has PyTorch
# and Triton, some of theirs (limits_libraries.py). Each tool runs twice; ncu once more for what takes one pass by itself.
#
#   tests/device/limits.sh [BUILD] [RECORD]      BUILD: where warpmeter is; build/release or build/gpu when not given
#
#   figures  counts, bytes and rates that both show differ by at most 2 %, or by no more than one tool's own runs
#   limits   what the report names as the limit, beside the largest part of ncu's speed of light
#
# RECORD is a JSON file to write: the values of all runs. Exit code: 0 when all agree, 1 when one does not, 4 without a GPU.
. "$(dirname "$(readlink -f "$0")")/prologue.sh"
choose_build "${1:-}" warpmeter
record=${2:-$work/record.json}
need_gpu
need_tools ncu
kernels=$build/limits_kernels
if [ ! -x "$kernels" ]; then
  need_tools nvcc
  kernels=$work/limits_kernels
  nvcc -std=c++17 -arch=native -lineinfo -I"$root" -o "$kernels" "$here/limits.cu"
fi
programs=("$kernels")
if python3 -c "import torch, triton" 2>/dev/null; then
  programs+=("python3 $here/limits_libraries.py")
else
  echo "${0##*/}: without PyTorch and Triton" >&2
fi
python3 "$here/limits.py" "$build/warpmeter" "$work" "$record" "${programs[@]}"
