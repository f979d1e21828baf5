#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The archive that CPack makes, and an installation: what is in them, and whether it runs from where it was put.
#
#   tests/package_test.sh BUILD      BUILD: a build folder in which everything is built
set -euo pipefail
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

docs=$(cd "$(dirname "$0")/.." && find docs -type f | sed 's|^|share/doc/warpmeter/|')
expected=$(LC_ALL=C sort <<FILES
bin/warpmeter
include/warpmeter.h
include/warpmeter.hpp
lib/libwarpmeter.so
lib/libwarpmeter_inject.so
lib/libwarpmeter_runtime.so
share/bash-completion/completions/warpmeter
share/doc/warpmeter/CHANGELOG.md
share/doc/warpmeter/CONTRIBUTING.md
share/doc/warpmeter/LICENSE
share/doc/warpmeter/README.md
share/fish/vendor_completions.d/warpmeter.fish
share/man/man1/warpmeter.1
share/warpmeter/family.schema.json
share/zsh/site-functions/_warpmeter
$docs
FILES
)

fail() {
  printf 'package_test.sh: %s\n' "$*" >&2
  exit 1
}

# hardened FILE: addresses are looked up at its start and cannot be changed then, its stacks are guarded and hold no code.
hardened() {
  readelf -dW "$1" | grep -E 'BIND_NOW|FLAGS_1.*NOW' >/dev/null || fail "$1 looks addresses up as it runs (no BIND_NOW)"
  readelf -lW "$1" | grep GNU_RELRO >/dev/null || fail "$1 has a table of addresses that can be written (no RELRO)"
  readelf -lW "$1" | grep GNU_STACK | grep ' RW ' >/dev/null || fail "$1 has a stack that can be executed"
  grep -q '^CMAKE_BUILD_TYPE:.*=Release' "$build/CMakeCache.txt" || return 0  # the rest needs an optimiser
  readelf -W --dyn-syms "$1" | grep __stack_chk_fail >/dev/null || fail "$1 has no guards on its stack"
  readelf -W --dyn-syms "$1" | grep -E ' __[a-z]+_chk' >/dev/null || fail "$1 calls no function that checks sizes (_FORTIFY_SOURCE)"
}

# check FOLDER: it holds the files above, no others, and the program in it works.
check() {
  local there
  there=$(cd "$1" && find . -type f | sed 's|^\./||' | LC_ALL=C sort)
  [ "$there" = "$expected" ] || fail "$1 holds
$there
instead of
$expected"
  for file in bin/warpmeter lib/libwarpmeter.so lib/libwarpmeter_inject.so lib/libwarpmeter_runtime.so; do hardened "$1/$file"; done
  "$1/bin/warpmeter" --version | grep -q '^warpmeter ' || fail "$1/bin/warpmeter --version does not answer"
  "$1/bin/warpmeter" --version --licences | grep '^======== libjs-chart.js' >/dev/null || fail "the licences are not printed"
  (cd "$work" && "$1/bin/warpmeter" run vector_add -n 1000 -b model -q) || fail "$1/bin/warpmeter does not measure"
  cmp -s "$1/share/bash-completion/completions/warpmeter" <("$1/bin/warpmeter" completion bash) ||
    fail "the completion of bash is another program's"
  for link in bin/warpmeter-nvprof libexec/warpmeter/nvprof; do
    [ "$(readlink -f "$1/$link")" = "$(readlink -f "$1/bin/warpmeter")" ] || fail "$1/$link is no link to the program"
  done
  grep -q '^#compdef warpmeter' "$1/share/zsh/site-functions/_warpmeter" || fail "zsh cannot find the completion"
  for command in run profile report query; do
    grep -q "^\.SH \"warpmeter $command\"" "$1/share/man/man1/warpmeter.1" || fail "no manual of $command"
  done
}

(cd "$build" && cpack -G TGZ -B "$work/archives" >"$work/cpack.log" 2>&1) || fail "$(cat "$work/cpack.log")"
archives=("$work"/archives/warpmeter-*.tar.gz)
[ ${#archives[@]} -eq 1 ] || fail "cpack made ${archives[*]}"
mkdir "$work/unpacked"
tar -xzf "${archives[0]}" -C "$work/unpacked"
check "$(echo "$work"/unpacked/*)"

cmake --install "$build" --prefix "$work/installed" >/dev/null
check "$work/installed"
