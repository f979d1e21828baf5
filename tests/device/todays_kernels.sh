#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every counter of what moves data on today's GPUs (cp.async, TMA, distributed shared memory, ldmatrix, stmatrix,
# wgmma, textures, surfaces, local and constant memory) from warpmeter (twice) and from Nsight Compute:
# todays_kernels.cu, Triton, cuBLAS and cuDNN where Python has PyTorch, and the programs that are given.
#
#   tests/device/todays_kernels.sh [BUILD] [RECORD] [PROGRAM…]
#
# RECORD is a JSON file to write: both tools' values by program and launch. PROGRAM is a command in one word, such as
# an example of CUTLASS: "./48_hopper_warp_specialized_gemm --m=512 --n=512 --k=512 --iterations=0".
. "$(dirname "$(readlink -f "$0")")/prologue.sh"
choose_build "${1:-}" warpmeter
record=${2:-$work/record.json}
need_gpu
need_tools ncu
kernels=$build/todays_kernels
if [ ! -x "$kernels" ]; then
  need_tools nvcc
  kernels=$work/todays_kernels
  nvcc -std=c++17 -arch=sm_90a -I"$root" -o "$kernels" "$here/todays_kernels.cu"
fi
programs=("$kernels" "${@:3}")
if python3 -c "import torch, triton" 2>/dev/null; then
  programs+=("python3 $here/todays_libraries.py")
else
  echo "${0##*/}: without PyTorch and Triton" >&2
fi
python3 "$here/todays_kernels.py" "$build/warpmeter" "$work" "$record" "${programs[@]}"
