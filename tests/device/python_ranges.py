# SPDX-License-Identifier: MIT
"""The checks of tests/device/python.sh: python_ranges.py WARPMETER FOLDER"""
import math
import pathlib
import subprocess
import sys
import time

from cuda import Cuda, Tile, threads

import warpmeter as wm

LOADS, STORES, SECTORS = ("shared_load_transactions_per_request", "shared_store_transactions_per_request",
                          "gst_transactions")
STRIDES = [1, 2, 3, 8, 17, 32]
RANGES = 200

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


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    by_profile = profiled(program, folder)  # a range keeps the counters from then on
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
    begin = time.perf_counter()
    for _ in range(RANGES):
        with wm.measure(database=folder / "a.db"):
            tile(1)
    print(f"       {(time.perf_counter() - begin) / RANGES * 1e3:.2f} ms a range of one launch, {RANGES} ranges")
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
