#!/usr/bin/env bash
# Families that files describe, on this machine's GPU: the catalogue's six as files against the built-in ones,
# kernels of others against Nsight Compute, a sweep of 128 configurations, a save under --watch, a kernel that reads
# outside its memory and one that hangs among good ones. One line a check, a count at the end.
#
#   tests/device/own_kernels.sh [BUILD]      BUILD: where warpmeter and launcher are; build/gpu when not given
#
# The others' kernels: git clone https://github.com/siboehm/SGEMM_CUDA and https://github.com/karpathy/llm.c into
# build/third_party. Exit code: 0 when all hold, 1 when one does not, 2 when not built, 4 without a GPU.
. "$(dirname "$(readlink -f "$0")")/prologue.sh"
choose_build "${1:-}" warpmeter launcher
cd "$root"
export XDG_CACHE_HOME=$work/cache
python3 tests/device/own_kernels.py "$build" "$work"
