# SPDX-License-Identifier: MIT
"""The checks of tests/device/python.sh: python_ranges.py WARPMETER FOLDER [METRIC...]

With metrics it only looks at what a range of them takes: all ranges of a process have those of the first."""
import math
import pathlib
import statistics
import subprocess
import sys
import time

from cuda import Cuda, Tile, threads

import warpmeter as wm

LOADS, STORES, SECTORS = ("shared_load_transactions_per_request", "shared_store_transactions_per_request",
                          "gst_transactions")
STRIDES = [1, 2, 3, 8, 17, 32]
RANGES = 200
ONE_PASS = ["shared_load_wavefronts"]
MOST_MS = 1  # beyond its launch, of a range of one pass

failed = 0


def check(name, found, expected):
    global failed
    holds = found == expected
    failed += not holds
    print(f"{'ok    ' if holds else 'FAILED'} {name}" + ("" if holds else f": {found}, expected {expected}"))


def launch_all(tile):
    return [tile(stride) for stride in STRIDES]


def profiled(program, folder):
    """The same launches, as `warpmeter profile` counts them."""
    code = "import sys; sys.argv = ['', '', '']\nfrom python_ranges import *\nlaunch_all(Tile(Cuda()))"
    database = folder / "profiled.db"
    subprocess.run([program, "profile", "-m", "@default", "--db", database, sys.executable, "-B", "-c", code], check=True,
                   cwd=pathlib.Path(__file__).parent, stderr=subprocess.DEVNULL)
    rows = subprocess.run([program, "query", "--format", "csv", "--db", database,
                           f"SELECT {LOADS}, {STORES}, {SECTORS} FROM comparison ORDER BY launch_id"], check=True,
                          capture_output=True, text=True).stdout.splitlines()[1:]
    return [tuple(float(value) for value in row.split(",")) for row in rows]


def time_ranges(folder, metrics):
    tile = Tile(Cuda())
    times = []
    for _ in range(RANGES):
        begin = time.perf_counter()
        with wm.measure(metrics=metrics, database=folder / "times.db"):
            tile(1)
        times.append((time.perf_counter() - begin) * 1e3)
    alone = []
    for _ in range(RANGES):
        begin = time.perf_counter()
        tile(1)
        alone.append((time.perf_counter() - begin) * 1e3)
    beyond = statistics.median(times) - statistics.median(alone)
    holds = metrics != ONE_PASS or beyond <= MOST_MS
    print(f"{'ok    ' if holds else 'FAILED'} {beyond:.2f} ms a range beyond its launch, "
          f"the first {times[0]:.0f} ms: {' '.join(metrics)}", flush=True)
    return 0 if holds else 1


def main():
    global failed
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    if sys.argv[3:]:
        return time_ranges(folder, sys.argv[3:])
    # First, since a range keeps the counters from then on, and other processes wait for them.
    for metrics in (ONE_PASS, [LOADS, STORES, SECTORS], ["@default"]):
        done = subprocess.run([sys.executable, "-B", __file__, program, folder, *metrics], check=False)
        failed += done.returncode != 0
    by_profile = profiled(program, folder)
    tile = Tile(Cuda())
    alone = launch_all(tile)
    check("results without a range", alone, [list(range(threads))] * len(STRIDES))
    with wm.measure(database=folder / "a.db") as m:
        within = launch_all(tile)
    check("results within a range", within, alone)
    launch_all(tile)
    counts = list(zip(m.values(LOADS), m.values(STORES), m.values(SECTORS)))
    by_hand = [(math.gcd(32, stride), math.gcd(32, stride), 4.0) for stride in STRIDES]
    check("counts by hand", counts, by_hand)
    check("counts of warpmeter profile", by_profile, counts)
    with wm.measure(database=folder / "a.db") as again:
        tile(8)
    check("a second range", (again.values(LOADS), again.rows[0]["variant"]), ([8.0], "tile"))
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
