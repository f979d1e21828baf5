#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Compares the outputs of tests/runtime's programs on this machine's GPU with tests/runtime/expected, and the bits of
# tests/golden/rounded_expressions. Prints a line for each program that differs, whose output it leaves in FOLDER, and a count.
#
#   tests/device/printed.sh [FOLDER]      FOLDER: for programs and outputs; a temporary one when not given
#
# The differences that there have to be are named in tests/runtime/expected/README.md. Exit code: 0 without others, else 1.
# Needs nvcc, g++ and python3, no package.
. "$(dirname "$(readlink -f "$0")")/prologue.sh"
need_tools nvcc g++ python3
need_gpu
folder=${1:-$work}
mkdir -p "$folder"
python3 -B "$here/printed.py" "$(readlink -f "$folder")"
