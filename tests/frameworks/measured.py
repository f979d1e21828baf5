# SPDX-License-Identifier: MIT
"""Runs Python programs one after the other in this process, each within wm.measure() or without it.

    python3 measured.py PROGRAMS FOLDER [METRIC,...]

PROGRAMS: a file, a JSON list of [working folder, words behind the interpreter]. FOLDER/ended.json gets the error of each, empty
where it ended well; FOLDER/NUMBER.db what was measured, if metrics are given. Random numbers are in_range.py's. Where the
environment has TURN=FILE, the process waits until no other has that file: a GPU's counters belong to one process.
"""
import contextlib
import io
import json
import os
import pathlib
import random
import sys
import traceback

import in_range
import numpy
from batch import undo


@contextlib.contextmanager
def measuring(database, metrics):
    import warpmeter as wm

    try:
        with wm.measure(metrics=metrics, database=database):
            yield
    except wm.WarpmeterError as error:
        if "no kernel was launched" not in str(error):
            raise


def run(where, words, within):
    """The program's error, else an empty text."""
    os.chdir(where)
    random.seed(1)
    numpy.random.seed(1)
    output, paths = io.StringIO(), list(sys.path)
    try:
        with contextlib.redirect_stdout(output), within:
            in_range.run(words)
    except SystemExit as end:
        if end.code not in (None, 0):
            return f"ends with {end.code}: {output.getvalue()[-600:]}"
    except Exception:  # pylint: disable=broad-exception-caught
        return traceback.format_exc()[-600:]
    finally:
        sys.path[:] = paths
        if "cupy" in sys.modules:
            undo("cupy")
    return ""


def main():
    programs, folder, *metrics = sys.argv[1:]
    folder = pathlib.Path(folder)
    in_range.import_slow_modules()
    turn = in_range.take_turn(os.environ["TURN"], at_once=1) if "TURN" in os.environ else None
    ended = []
    for number, (where, words) in enumerate(json.loads(pathlib.Path(programs).read_text(encoding="utf-8"))):
        within = measuring(folder / f"{number}.db", metrics[0].split(",")) if metrics else contextlib.nullcontext()
        ended.append(run(where, words, within))
        (folder / "ended.json").write_text(json.dumps(ended), encoding="utf-8")
    sys.stdout.flush()
    del turn
    os._exit(0)  # a framework may wait for what a program left


if __name__ == "__main__":
    main()
