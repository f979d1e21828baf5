#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Profiles programs whose kernels wait for the host, for another stream, process or GPU, or allocate on the device's
# heap. Each runs alone, with the summary and with counters: it has to print the same, end with the same code, and
# take no longer than three times as long and ten seconds; a launch that is not measured has a reason, and the launches
# after it are measured. One line a check, a count at the end.
#
#   tests/device/waits.sh [BUILD [PROGRAM...]]
#
# BUILD: where warpmeter is; build/release or build/gpu when not given. PROGRAM: some of tests/device/waits, without the
# extension; all when none is given. jax needs JAX, and ddp PyTorch and two GPUs; each is left out without them.
#
# Exit code: 0 when all hold, 1 when one does not, 4 without a GPU. Needs nvcc and python3.
. "$(dirname "$(readlink -f "$0")")/prologue.sh"
choose_build "${1:-}" warpmeter
need_tools nvcc python3
need_gpu
compilers=()
for source in "$here"/waits/*.cu; do
  nvcc -O2 -arch=native -o "$work/$(basename "$source" .cu)" "$source" -lcuda &
  compilers+=($!)
done
for compiler in "${compilers[@]}"; do wait "$compiler"; done
cp "$here"/waits/*.py "$work"
python3 "$here/waits.py" "$build" "$work" "${@:2}"
