#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Warp instructions a second of `warpmeter run matmul/naive -b model` as a whole process (parsing,
verification and the database included), beside those of a yardstick that prints its own.

    tests/bench/whole_process.py build/gpu/warpmeter YARDSTICK [ARG…]

Both run in turn, pinned to one core; the medians of five are compared.
"""
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

SIZE = 512
GOAL = 0.8


def run_warpmeter(program, folder):
    database = os.path.join(folder, "bench.db")
    begin = time.perf_counter()
    subprocess.run([program, "run", "matmul/naive", "-b", "model", "-n", str(SIZE), "--threads", "1",
                    "-q", "--db", database], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin, database


def warp_instructions(program, folder):
    """The numbers of one launch: as many for every run."""
    database = os.path.join(folder, "count.db")
    subprocess.run([program, "run", "matmul/naive", "-b", "model", "-n", str(SIZE), "-q", "-m",
                    "warp_instructions", "--db", database], check=True, stdout=subprocess.DEVNULL)
    answer = subprocess.run([program, "query", "--db", database, "--format", "csv",
                             "SELECT value FROM results WHERE metric = 'warp_instructions'"],
                            check=True, capture_output=True, text=True).stdout
    return float(answer.split()[-1])


def run_yardstick(command):
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    print("yardstick:", text.strip(), file=sys.stderr)
    found = re.search(r"([0-9.]+(?:e[+-]?[0-9]+)?)\s*(M|G)?\s*warp", text)
    if not found:
        sys.exit(f"{command[0]} prints no warp instructions a second")
    return float(found[1]) * {"M": 1e6, "G": 1e9, None: 1}[found[2]]


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    program, yardstick = os.path.abspath(sys.argv[1]), sys.argv[2:]
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as folder:
        count = warp_instructions(program, folder)
        for _ in range(5):
            seconds, database = run_warpmeter(program, folder)
            os.remove(database)
            ours.append(count / seconds)
            theirs.append(run_yardstick(yardstick))
    mine, other = statistics.median(ours), statistics.median(theirs)
    print(f"whole process {mine / 1e6:.1f} M warp instructions/s, yardstick {other / 1e6:.1f} M: "
          f"{mine / other:.2f} x (goal {GOAL} x)")


if __name__ == "__main__":
    main()
