#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A machine without a CUDA toolkit: ./dev makes one of PyPI's wheels, builds the program with it, and the program finds
# it when it runs. Where this machine has a toolkit, empty folders are mounted over it, for this test alone (as root).
#
#   tests/toolkit_test.sh
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

if [ "${1:-}" != hidden ]; then
  exec unshare --mount "$0" hidden
fi

work=$(mktemp -d)
mkdir "$work/empty"
for folder in /usr/local/cuda*; do
  if [ -d "$folder" ] && [ ! -L "$folder" ]; then mount --bind "$work/empty" "$folder"; fi
done
unset CUDA_HOME CUDA_PATH CUDACXX CUDAToolkit_ROOT LIBRARY_PATH LD_LIBRARY_PATH
export PATH=/usr/sbin:/usr/bin:/sbin:/bin

fail() {
  printf 'toolkit_test.sh: %s\n' "$*" >&2
  exit 1
}

! command -v nvcc >/dev/null || fail "there is an nvcc in /usr/bin"
./dev build bare
program=$PWD/build/bare/warpmeter
grep -q "$PWD/build/toolkit" build/bare/CMakeCache.txt || fail "it was not built with the toolkit of the wheels"
cd "$work"
cat >square.cu <<'CU'
#include <cooperative_groups.h>
#include <cstdio>
__global__ void square(float* values) {
  const unsigned i = cooperative_groups::this_grid().thread_rank();
  values[i] *= values[i];
}
int main() {
  float* values;
  cudaMallocManaged(&values, 256 * sizeof(float));
  for (int i = 0; i < 256; ++i) values[i] = i;
  square<<<2, 128>>>(values);
  cudaDeviceSynchronize();
  printf("%g\n", values[200]);
  cudaFree(values);
}
CU
"$OLDPWD/build/toolkit/bin/nvcc" -lineinfo -o square square.cu
[ "$("$program" profile -b model -m gld_efficiency,gst_efficiency ./square 2>log)" = 40000 ] ||
  fail "a program answers otherwise: $(cat log)"
"$program" query --format csv "select value from results where metric = 'gst_efficiency'" | grep -x 100 >/dev/null ||
  fail "the stores of square are not counted"
"$program" run square.cu >kernels || fail "NVRTC does not compile"
grep -q square kernels || fail "run names no kernel: $(cat kernels)"
"$program" run transpose -n 64 -b model -q >/dev/null || fail "the catalogue does not run"
rm -rf square square.cu kernels log warpmeter.db*
printf '1 passed, 0 failed\n'
