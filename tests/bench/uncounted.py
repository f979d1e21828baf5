#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The cost of programs without a GPU: how much faster kernels run whose accesses nobody counts;
the processor's time that a start takes, and a launch of next to nothing; memory beside the program's own.

    tests/bench/uncounted.py BUILD

BUILD holds an optimised warpmeter; nvcc compiles the kernels of uncounted.cu. They run on one core without a GPU,
under `profile` with a metric and without one in turn, five times; the table has the medians. Exit code: 1 when
the results differ, or something misses its goal."""
import os
import resource
import statistics
import subprocess
import sys
import tempfile

TURNS = 5
SCALE = 3
GOAL = 1.5
MOST_RATIO = 8
MOST_START = 0.2  # seconds
MOST_MEMORY = (1.1, 100)  # times the program's own, and megabytes more
MEGABYTES = 1, 1024


def measured(warpmeter, program, database, options):
    """Milliseconds by kernel, and what it wrote: hashes of the results."""
    command = ["taskset", "-c", "0", warpmeter, "profile", "-b", "model", "--db", database, *options]
    run = subprocess.run([*command, program, str(SCALE)], check=True, capture_output=True, text=True)
    lines = [line.split() for line in run.stderr.splitlines() + run.stdout.splitlines()]
    times = {line[1]: float(line[2]) for line in lines if len(line) == 3 and line[0] == "time"}
    return times, [line for line in lines if len(line) == 2 and line[0] in times]


def cost(command):
    """Seconds of the processor, of the whole process and those that it waits for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run(command, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, run


def memory_of(warpmeter, database, options, program, megabytes):
    """Megabytes of the program under `profile`, at most."""
    command = [program, "tiny", str(megabytes << 20), "1", "1"]
    shell = [warpmeter, "profile", "-b", "model", "--db", database, *options, "/usr/bin/env", "time", "-f", "most %M", *command]
    run = subprocess.run(shell, check=True, capture_output=True, text=True)
    return next(int(line.split()[1]) / 1024 for line in run.stderr.splitlines() if line.startswith("most "))


def measure_program(warpmeter, program, database):
    """Prints what a program costs beside its kernels. True if all goals are met."""
    counting = ["-m", "shared_load_transactions_per_request"]
    met = True
    alone = min(cost([program, "tiny", "4096", "1", "1"])[0] for _ in range(TURNS))
    print("\n| a program | uncounted | counted |\n|---|---:|---:|")
    starts, launches, threads = [], [], []
    for options in ([], counting):
        profile = [warpmeter, "profile", "-b", "model", "--db", database, *options, program, "tiny"]
        start = min(cost([*profile, "4096", "1", "1"])[0] for _ in range(TURNS)) - alone
        met &= start <= MOST_START
        starts.append(f"{start:.3f}")
        for count, of, results in ((20000, 1, launches), (5000, 4, threads)):
            seconds, run = cost([*profile, "4096", str(count), str(of)])
            met &= run.returncode == 0
            results.append(f"{(seconds - start) / count / of * 1e6:.1f}")
    print(f"| start: seconds of the processor more | {' | '.join(starts)} |")
    print(f"| a launch of one warp: microseconds of it | {' | '.join(launches)} |")
    print(f"| the same from four threads | {' | '.join(threads)} |")
    for megabytes in MEGABYTES:
        used = [memory_of(warpmeter, database, options, program, megabytes) for options in ([], counting)]
        met &= all(megabytes <= one <= MOST_MEMORY[0] * megabytes + MOST_MEMORY[1] for one in used)
        print(f"| memory with {megabytes} MB allocated: MB | {used[0]:.0f} | {used[1]:.0f} |")
    return met


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
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
        met = measure_program(warpmeter, program, database)
    ratios = []
    print("\n| kernel | counted (ms) | uncounted (ms) | ratio |")
    print("|---|---:|---:|---:|")
    for kernel in counted[0]:
        slow = statistics.median(times[kernel] for times in counted)
        fast = statistics.median(times[kernel] for times in uncounted)
        ratios.append(slow / fast)
        print(f"| {kernel} | {slow:.0f} | {fast:.0f} | {slow / fast:.2f} |")
    ratio = statistics.median(ratios)
    print(f"\nmedian {ratio:.2f}, most {max(ratios):.2f}; goals: a median of {GOAL}, at most {MOST_RATIO}")
    same = all(hashes == results[0] for hashes in results) and len(results[0]) == len(ratios)
    if not same:
        print("the results differ")
    return 0 if same and met and ratio >= GOAL and max(ratios) <= MOST_RATIO else 1


if __name__ == "__main__":
    sys.exit(main())
