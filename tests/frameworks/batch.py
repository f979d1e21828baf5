# SPDX-License-Identifier: MIT
"""Runs scripts of one kind in one process, each inside an NVTX range of its name. One line a script: `NAME right`, or
its error.

    batch.py cupy|numba|triton FOLDER [NAME...]

The scripts lie in FOLDER while they run. Numba's ranges are CuPy's. Where the environment has RECORD=FILE, the launches of Triton's kernels are
written there (triton_recorder.py).
"""
import contextlib
import io
import os
import pathlib
import runpy
import sys
import traceback

from programs import programs


def nvtx(kind):
    """The functions that open and close a range."""
    if kind == "triton":
        from torch.cuda import nvtx as ranges
        return ranges.range_push, ranges.range_pop
    from cupy.cuda import nvtx as ranges
    return ranges.RangePush, ranges.RangePop


def undo(kind):
    """Settings that a script made in its framework."""
    if kind == "cupy":
        import cupy
        cupy.cuda.set_allocator(cupy.get_default_memory_pool().malloc)


def run(path):
    """The script's error, else an empty text."""
    output = io.StringIO()
    try:
        with contextlib.redirect_stdout(output):
            runpy.run_path(str(path), run_name="__main__")
    except (Exception, SystemExit):
        return traceback.format_exc()
    return "" if output.getvalue().endswith("right\n") else f"it printed {output.getvalue()[-200:]}"


def main():
    kind, folder, *names = sys.argv[1:]
    folder, all_programs = pathlib.Path(folder), programs(kind)
    folder.mkdir(parents=True, exist_ok=True)
    recorder = None
    if kind == "triton" and os.environ.get("RECORD"):
        import triton_recorder
        recorder = triton_recorder.Recorder()
    push, pop = nvtx(kind)
    wrong = 0
    for name in names or all_programs:
        path = folder / f"{name}.py"
        path.write_text(all_programs[name])
        if recorder:
            recorder.begin(name)
        push(name)
        error = run(path)
        pop()
        undo(kind)
        print(name, f"wrong\n{error}" if error else "right", flush=True)
        wrong += bool(error)
    if recorder:
        recorder.write(os.environ["RECORD"])
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
