#!/usr/bin/env python3
"""How much faster the model runs kernels whose accesses nobody counts.

    tests/bench/uncounted.py BUILD

BUILD holds an optimised warpmeter; nvcc compiles the kernels of uncounted.cu. They run on one core without a GPU,
under `profile` with a metric and without one in turn, five times; the table has the medians. Exit code: 1 when
the results differ, or the median of the ratios is below the goal."""
import os
import statistics
import subprocess
import sys
import tempfile

TURNS = 5
SCALE = 3
GOAL = 1.5


def measured(warpmeter, program, database, options):
    """Milliseconds by kernel, and what it wrote: hashes of the results."""
    command = ["taskset", "-c", "0", warpmeter, "profile", "-b", "model", "--db", database, *options]
    run = subprocess.run([*command, program, str(SCALE)], check=True, capture_output=True, text=True)
    lines = [line.split() for line in run.stderr.splitlines() + run.stdout.splitlines()]
    times = {line[1]: float(line[2]) for line in lines if len(line) == 3 and line[0] == "time"}
    return times, [line for line in lines if len(line) == 2 and line[0] in times]


def main():
    (build,) = sys.argv[1:]
    warpmeter = os.path.join(build, "warpmeter")
    with tempfile.TemporaryDirectory() as folder:
        program, database = os.path.join(folder, "uncounted"), os.path.join(folder, "uncounted.db")
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "uncounted.cu")
        subprocess.run(["nvcc", "-O2", "-std=c++17", "-o", program, source], check=True)
        counted, uncounted, results = [], [], []
        for _ in range(TURNS):
            for options, runs in ((["-m", "shared_load_transactions_per_request"], counted), ([], uncounted)):
                times, hashes = measured(warpmeter, program, database, options)
                runs.append(times)
                results.append(hashes)
    ratios = []
    print("| kernel | counted (ms) | uncounted (ms) | ratio |")
    print("|---|---:|---:|---:|")
    for kernel in counted[0]:
        slow = statistics.median(times[kernel] for times in counted)
        fast = statistics.median(times[kernel] for times in uncounted)
        ratios.append(slow / fast)
        print(f"| {kernel} | {slow:.0f} | {fast:.0f} | {slow / fast:.2f} |")
    ratio = statistics.median(ratios)
    print(f"\nmedian {ratio:.2f}, least {min(ratios):.2f}; goal: a median of {GOAL}")
    same = all(hashes == results[0] for hashes in results) and len(results[0]) == len(ratios)
    if not same:
        print("the results differ")
    return 0 if same and ratio >= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
