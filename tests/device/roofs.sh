#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The roofs of this card beside the best public figures, and roofline points beside ncu's.
#
#   tests/device/roofs.sh [BUILD] [RECORD]      BUILD: where warpmeter is; build/release or build/gpu when not given
#
#   peaks    `doctor --peaks`: each at least 97 % of the best figure that somebody published for this chip
#   points   of the catalogue's kernels, by what ncu's roofline charts count: operations and bytes of L1 are equal. Bytes of L2
#            and device memory are printed beside ncu's: they depend on what the caches hold in each pass (limits.sh
#            compares them in one pass)
#   tensor   operations of the tensor cores of roofs.cu, by warpmeter, by its model, by ncu and by hand: equal
#
# RECORD is a CSV file to write: ncu's operations of tensor cores. Exit code: 0 when all hold, 1 when one does not, 4 without
# a GPU. Needs python3, no package, ncu, and nvcc where the build has no roofs_kernels.
. "$(dirname "$(readlink -f "$0")")/prologue.sh"
choose_build "${1:-}" warpmeter
need_gpu
need_tools ncu
record=${2:-}
[ -z "$record" ] || record=$(readlink -f "$record")
kernels=$build/roofs_kernels
cd "$root"
if [ ! -x "$kernels" ]; then
  need_tools nvcc
  kernels=$work/roofs_kernels
  nvcc -std=c++17 -lineinfo -gencode "arch=compute_90a,code=[sm_90a,compute_90a]" -I. -o "$kernels" "$here/roofs.cu" \
    collector/cupti/peaks/tensor_peaks.cu collector/cupti/peaks/warpgroup_peaks.cu
fi
python3 tests/device/roofs.py "$build/warpmeter" "$work" "$kernels" ${record:+"$record"}
