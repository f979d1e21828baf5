#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The wheel of a tree that is built: made, installed into a fresh environment where no compiler is on PATH, tested there.
#
#   python/tests/wheel_test.sh BUILD PYTHON
set -euo pipefail
build=$(readlink -f "$1")
python=$2
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
work=$(mktemp -d)
trap 'wait; /bin/rm -rf "$work"' EXIT

fail() {
  printf 'wheel_test.sh: %s\n' "$*" >&2
  exit 1
}

[ -e build/python/fetched ] || fail "scikit-build-core is not here: run ./dev install-dependencies"
# pandas, pytest, nbclient, ipykernel and cryptography are the system's.
"$python" -m venv --system-site-packages "$work/venv"
# Debug symbols would be most of the wheel.
mkdir "$work/built"
for file in warpmeter libwarpmeter.so libwarpmeter_inject.so libwarpmeter_runtime.so; do
  strip -o "$work/built/$file" "$build/$file"
done
PYTHONPATH=$PWD/build/python "$work/venv/bin/python" -m pip wheel . --quiet --no-deps --no-build-isolation --no-index \
  --disable-pip-version-check -w "$work" --config-settings cmake.source-dir=python --config-settings build-dir="$work/cmake" \
  --config-settings "cmake.define.WARPMETER_BUILT=$work/built" --config-settings build.targets=all
wheels=("$work"/warpmeter-*.whl)
[ ${#wheels[@]} -eq 1 ] || fail "pip made ${wheels[*]}"
# It needs nothing but the libraries that every system of its C library has.
if [ -e build/python/auditwheel ]; then
  shown=$(PYTHONPATH=$PWD/build/python "$work/venv/bin/python" -m auditwheel show "${wheels[0]}" 2>&1 | tr '\n' ' ')
  [[ $shown == *'constrains the platform tag to "manylinux_2_'* ]] || fail "the wheel is not for manylinux: $shown"
else
  printf 'skipped: auditwheel is not here: ./dev install-dependencies fetches it\n'
fi
"$work/venv/bin/python" -m pip install --quiet --no-deps --no-index --disable-pip-version-check "${wheels[0]}"

repository=$PWD
cd "$work"
nvcc=$(command -v nvcc || true)
export CUDA_HOME=${CUDA_HOME:-${nvcc%/bin/nvcc}} # for NVRTC
system=$(command -v "$python")
export PATH=$work/venv/bin
# The packages' bytecode is kept: without it each import of Numba takes 2.6 s instead of 1.0.
unset PYTHONDONTWRITEBYTECODE
for compiler in cc gcc g++ clang nvcc; do
  ! command -v "$compiler" >/dev/null || fail "$compiler is on PATH"
done
version=$(python -c 'import warpmeter; print(warpmeter.version())')
[ "$(warpmeter --version)" = "$version" ] || fail "the module is $version, the program $(warpmeter --version)"

# CuPy and Numba have an environment of their own: the system's packages are too old for them. It is tested beside the rest,
# which takes as long.
test_frameworks() {
  if [ ! -e "$repository/build/frameworks/fetched" ]; then
    printf 'wheel_test.sh: CuPy and Numba are not here, their tests are skipped: ./dev install-dependencies fetches them\n'
    return
  fi
  "$system" -m venv --without-pip "$work/frameworks"
  local file packages
  packages=$(echo "$work"/frameworks/lib/python*/site-packages)
  for file in "$repository"/build/frameworks/*; do /bin/ln -s "$file" "$packages"; done
  python -m pip --python "$work/frameworks" install --quiet --no-deps --no-index --disable-pip-version-check "${wheels[0]}"
  PATH=$work/frameworks/bin CUPY_CACHE_DIR=$work/cupy python -B "$repository/tests/frameworks/frameworks_test.py"
}
test_frameworks >"$work/frameworks.log" 2>&1 &
frameworks=$!

python -m mypy --config-file "$repository/pyproject.toml" --cache-dir "$work/mypy" -p warpmeter
PYTHONDONTWRITEBYTECODE=1 python -m pytest -q -p no:cacheprovider -c "$repository/pyproject.toml" --doctest-modules "$repository/python/tests" \
  --ignore-glob "$repository/python/tests/test_mcp*.py" --pyargs warpmeter
# Without the SDK the server says what to install, as other parts do that the machine lacks.
status=0
said=$(warpmeter mcp --folder . 2>&1 </dev/null) || status=$?
[[ $status -eq 4 && $said == *"pip install 'mcp>=2'"* ]] || fail "mcp without its SDK: $status, $said"
if [ -e "$repository/build/mcp/fetched" ]; then
  PYTHONPATH=$repository/build/mcp python -B -m pytest -q -p no:cacheprovider -c "$repository/pyproject.toml" \
    "$repository"/python/tests/test_mcp*.py
else
  printf 'skipped: the SDK of the Model Context Protocol is not here: run ./dev install-dependencies\n'
fi

status=0
wait $frameworks || status=$?
printf '%s\n' "$(<"$work/frameworks.log")"
exit $status
