#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Scripts of tests/frameworks, each with a range of the Python module around the whole of it, and beside it by ncu: the launches have the
# same counts. Where they differ, both measure again: values that vary from run to run are told apart. One line a script.
#
#   tests/device/python_scripts.sh BUILD FOLDER [--only REPOSITORY|SCRIPT]... [--seconds N]      FOLDER as for tests/frameworks/public.py
#
# Exit code: 0 when all hold, 1 when one does not, 4 without a GPU. Needs ncu, and python3 with the frameworks.
. "$(dirname "$(readlink -f "$0")")/prologue.sh"
[ $# -ge 2 ] || refuse "BUILD and FOLDER are needed"
folder=$(readlink -f "$2")
choose_build "$1" warpmeter
need_tools ncu python3
need_gpu
provide_module
python3 -B "$here/python_scripts.py" "$work" "$folder" "${@:3}"
