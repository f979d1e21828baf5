# SPDX-License-Identifier: MIT
# The first lines of this folder's scripts; each sources it, and it runs nothing itself.
#
#   . "$(dirname "$(readlink -f "$0")")/prologue.sh"
#
# Sets `here` (this folder), `root` (the repository) and `work` (a folder that goes with the script). Paths that a
# person gave are of the folder that the script was called in, so `cd "$root"` comes after choose_build.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
root=$(readlink -f "$here/../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# refuse WORDS [EXIT CODE]
refuse() {
  echo "${0##*/}: $1" >&2
  exit "${2:-2}"
}

# choose_build GIVEN PROGRAM…: `build` becomes the folder that was given, or else the first of build/release and
# build/gpu that has the programs, with its whole path.
choose_build() {
  local given=$1 candidates=("$root/build/release" "$root/build/gpu") candidate program missing
  shift
  [ -z "$given" ] || candidates=("$given")
  for candidate in "${candidates[@]}"; do
    missing=""
    for program in "$@"; do
      [ -x "$candidate/$program" ] || missing=${missing:-$program}
    done
    [ -n "$missing" ] || break
  done
  # shellcheck disable=SC2034  # it is for the script
  [ -n "$missing" ] || build=$(readlink -f "$candidate")
  case $missing in
    "") ;;
    warpmeter | rate_rules) refuse "no $missing in ${given:-build/release or build/gpu}: run ./dev build" ;;
    *) refuse "no $missing in ${given:-build/gpu}: run cmake --preset gpu, then cmake --build --preset gpu" ;;
  esac
}

# need_tools TOOL…
need_tools() {
  local tool
  for tool in "$@"; do
    command -v "$tool" >/dev/null || refuse "$tool is not in PATH"
  done
}

# The Python module of `build`, where python3 finds it.
provide_module() {
  mkdir "$work/warpmeter"
  cp "$root"/python/warpmeter/*.py "$build"/libwarpmeter*.so "$work/warpmeter"
  export PYTHONPATH=$work${PYTHONPATH:+:$PYTHONPATH}
}

need_gpu() {
  nvidia-smi -L >/dev/null 2>&1 || refuse "there is no GPU here" 4
}
