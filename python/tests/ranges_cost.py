# SPDX-License-Identifier: MIT
"""Prints how long the import and a range take on the model, and whether memory and open files grow.

    python python/tests/ranges_cost.py [RANGES]      10,000 when not given; needs the module installed
"""

from __future__ import annotations

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import warpmeter as wm

TIMED_IMPORT = "import time; begin = time.{}(); import warpmeter; print((time.{}() - begin) * 1e3)"


def import_ms(clock: str = "perf_counter") -> float:
    """The median of 11 interpreters; `process_time` is the processor's alone."""
    command = [sys.executable, "-c", TIMED_IMPORT.format(clock, clock)]
    return statistics.median(float(subprocess.check_output(command)) for _ in range(11))


def memory_kb() -> int:
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def main() -> None:
    ranges = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    print(f"import: {import_ms():.0f} ms")
    wm.use_model()
    from cuda import Cuda, Tile

    tile = Tile(Cuda())
    print(f"{'ranges':>8} {'ms a range':>10} {'memory, kB':>10} {'files':>5}")
    with tempfile.TemporaryDirectory() as folder:
        last, since = 0, time.perf_counter()
        for number in range(1, ranges + 1):
            with wm.measure(["shared_load_transactions_per_request"], database=f"{folder}/a.db"):
                tile(1)
            if number == 10 or number % max(1, ranges // 4) == 0:
                now = time.perf_counter()
                cost = (now - since) * 1e3 / (number - last)
                print(f"{number:8,} {cost:10.2f} {memory_kb():10,} {len(os.listdir('/proc/self/fd')):5}")
                last, since = number, now


if __name__ == "__main__":
    main()
