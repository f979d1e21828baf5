# SPDX-License-Identifier: MIT
"""Runs a Python program in an NVTX range, which tells its launches from those of other processes. Other threads are in it too.

    in_range.py RANGE SCRIPT [ARGUMENT...]
    in_range.py RANGE -m MODULE [ARGUMENT...]

Random numbers without a seed of the program's own are the same each time. Where the environment has RECORD_IN=FOLDER, the first
launch of each code of Triton's that takes no more than 32 KiB of memory is written there (triton_recorder.py). Where it has
TURN=FILE, the program waits until only two others run: processes hand a GPU's counters over in 0.3 s.
"""
import contextlib
import fcntl
import importlib.machinery
import importlib.util
import os
import random
import re
import runpy
import sys
import time

import numpy

TURN = None


def module_of_cupy():
    """CuPy's, without what CuPy imports: Numba's tests import a `cuda` of their own."""
    folder = importlib.util.find_spec("cupy_backends").submodule_search_locations[0]
    path = f"{folder}/cuda/libs/nvtx{importlib.machinery.EXTENSION_SUFFIXES[0]}"
    spec = importlib.util.spec_from_file_location("cupy_backends.cuda.libs.nvtx", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def start(name):
    if os.environ["RANGES_BY"] == "torch":
        from torch.cuda import nvtx
        nvtx.range_start(name)
    else:
        module_of_cupy().RangeStart(name, 0)


def import_slow_modules():
    for module in ("pytest", *(("triton", "transformers") if os.environ["RANGES_BY"] == "torch" else ("llvmlite.binding",))):
        with contextlib.suppress(ImportError):
            importlib.import_module(module)


def take_turn(path, at_once=3):
    """Until the process ends: the result has to live as long. Modules that take long are imported before."""
    import_slow_modules()
    files = [open(f"{path}.{number}", "w", encoding="utf-8") for number in range(at_once)]
    while True:
        for file in files:
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return file
        time.sleep(0.02)


def main():
    name, *words = sys.argv[1:]
    random.seed(1)
    numpy.random.seed(1)
    start(name)
    recorder = None
    if os.environ["RANGES_BY"] == "torch" and os.environ.get("RECORD_IN"):
        import triton_recorder
        recorder = triton_recorder.Recorder(once=True, most_bytes=32 << 10)
        recorder.begin(name)
    if os.environ.get("TURN"):
        global TURN
        TURN = take_turn(os.environ["TURN"])
    try:
        run(words)
    finally:
        if recorder:
            recorder.write(f"{os.environ['RECORD_IN']}/{re.sub('[^A-Za-z0-9]+', '_', name)}.json.xz")


def run(words):
    if words[0] == "-m":
        sys.path[0] = os.getcwd()
        sys.argv = words[1:]
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(words[0]))
        sys.argv = words
        runpy.run_path(words[0], run_name="__main__")


if __name__ == "__main__":
    main()
