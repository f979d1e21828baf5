#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Families that files describe, on this machine's GPU: the catalogue's six as files against the built-in ones,
# the same as cubins, kernels of others against Nsight Compute, a sweep of 128 configurations, a save under --watch, a
# kernel that reads outside its memory and one that hangs among good ones. One line a check, a count at the end.
#
#   tests/device/own_kernels.sh [BUILD [PART…]]      BUILD: where warpmeter and launcher are; build/gpu when not given
#
# PART: broken counts_of_the_model watching sweep others machine_code catalogue_as_files; all when none is given. Only
# others needs launcher; machine_code needs the injected library beside warpmeter (for --lines), and nvcc.
#
# The others' kernels: git clone https://github.com/siboehm/SGEMM_CUDA and https://github.com/karpathy/llm.c into
# build/third_party. Exit code: 0 when all hold, 1 when one does not, 2 when not built, 4 without a GPU.
. "$(dirname "$(readlink -f "$0")")/prologue.sh"
programs=(warpmeter)
case " ${*:2} " in
  "  " | *" others "*) programs+=(launcher) ;;
esac
choose_build "${1:-}" "${programs[@]}"
cd "$root"
export XDG_CACHE_HOME=$work/cache
python3 tests/device/own_kernels.py "$build" "$work" "${@:2}"
