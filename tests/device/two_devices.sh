#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Several GPUs of one host: `run -d all` beside one device, what `compare --by device` says of them and whether three more
# runs confirm it, and a part that is killed. One line a check, a count at the end.
#
#   tests/device/two_devices.sh [BUILD]      BUILD: where warpmeter is; build/release or build/gpu when not given
#
# Exit code: 0 when all hold, 1 when one does not, 4 with fewer than two GPUs. Needs python3, no package.
. "$(dirname "$(readlink -f "$0")")/prologue.sh"
choose_build "${1:-}" warpmeter
need_tools python3
need_gpu
[ "$(nvidia-smi -L | wc -l)" -ge 2 ] || { echo "two_devices: there are fewer than two GPUs" >&2; exit 4; }
cd "$root"
python3 tests/device/two_devices.py "$build" "$work"
