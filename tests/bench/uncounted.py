#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The cost of programs without a GPU: kernels counted, counted in 5 % of their blocks, uncounted, by an earlier
warpmeter and by PoCL; the processor's time that a start takes, and a launch of next to nothing; memory beside the program's own.

    tests/bench/uncounted.py BUILD [EARLIER]

BUILD holds an optimised warpmeter, EARLIER one to compare counted launches with. nvcc compiles the kernels of
uncounted.cu. They run on one core without a GPU, under `profile` with a metric, with --blocks too, and without one in turn, five times,
and the same kernels by OpenCL on PoCL where it is installed (Debian: pocl-opencl-icd, ocl-icd-opencl-dev); the table
has the medians. Exit code: 1 when results differ, or something misses its goal: a kernel counts in at most 8 times
the uncounted time and no slower than the earlier warpmeter, in the median 3 times as fast; both products of 1,024
3 times as fast as PoCL's."""
import os
import resource
import statistics
import subprocess
import sys
import tempfile

TURNS = 5
SCALE = 3
MOST_RATIO = 8  # the counted time to the uncounted
LEAST_GAIN = 3  # the earlier warpmeter's time, and PoCL's of the products of 1,024, to ours
FASTER_THAN_POCL = "gemm_1024", "gemm_tiled_1024"
ROUNDED = "stencil", "nbody"  # PoCL's results may differ in the last digits
HERE = os.path.dirname(os.path.abspath(__file__))
MOST_START = 0.2  # seconds
MOST_MEMORY = (1.1, 100)  # times the program's own, and megabytes more
MEGABYTES = 1, 1024


def times_of(command, environment=None):
    """Milliseconds by kernel, and what it wrote: hashes of the results."""
    run = subprocess.run(["taskset", "-c", "0", *command], check=True, capture_output=True, text=True, env=environment)
    lines = [line.split() for line in run.stderr.splitlines() + run.stdout.splitlines()]
    times = {line[1]: float(line[2]) for line in lines if len(line) == 3 and line[0] == "time"}
    return times, {line[0]: line[1] for line in lines if len(line) == 2 and line[0] in times}


def profiled(build, program, database, options):
    warpmeter = os.path.join(build, "warpmeter")
    return times_of([warpmeter, "profile", "-b", "model", "--db", database, *options, program, str(SCALE)])


def pocl_program(folder):
    """Nothing where PoCL, or what compiles against it, is not installed."""
    program = os.path.join(folder, "pocl")
    command = ["g++", "-O2", "-std=c++20", "-o", program, os.path.join(HERE, "pocl.cpp"), "-lOpenCL"]
    if subprocess.run(command, capture_output=True).returncode != 0:
        print("PoCL is left out: install pocl-opencl-icd and ocl-icd-opencl-dev")
        return None
    return program


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


def compared(columns):
    """Prints the medians. True if all goals are met."""
    medians = {label: {name: statistics.median(turn[name] for turn in turns) for name in turns[0]}
               for label, turns in columns.items() if turns}
    counted = medians["counted"]
    print("\n| kernel, milliseconds |" + "".join(f" {label} |" for label in medians) + " counted to uncounted |")
    print("|---|" + "---:|" * (len(medians) + 1))
    for kernel, slow in counted.items():
        cells = [f"{times[kernel]:.1f}" if kernel in times else "" for times in medians.values()]
        print(f"| {kernel} | {' | '.join(cells)} | {slow / medians['uncounted'][kernel]:.2f} |")
    most = max(slow / medians["uncounted"][kernel] for kernel, slow in counted.items())
    print(f"\ncounted to uncounted: at most {most:.2f}; goal {MOST_RATIO}")
    met = most <= MOST_RATIO
    if "earlier" in medians:
        gains = {kernel: medians["earlier"][kernel] / slow for kernel, slow in counted.items()}
        middle, worst = statistics.median(gains.values()), min(gains, key=gains.get)
        print(f"the earlier one's time to ours: {middle:.2f} in the median, least {gains[worst]:.2f} ({worst}); "
              f"goals {LEAST_GAIN}, 1")
        met &= middle >= LEAST_GAIN and gains[worst] >= 1
    if "PoCL" in medians:
        for kernel in FASTER_THAN_POCL:
            gain = medians["PoCL"][kernel] / counted[kernel]
            print(f"PoCL's time to ours, {kernel}: {gain:.2f}; goal {LEAST_GAIN}")
            met &= gain >= LEAST_GAIN
    return met


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    build, earlier = sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else None
    columns = {"counted": [], "--blocks 5%": [], "uncounted": [], "earlier": [], "PoCL": []}
    with tempfile.TemporaryDirectory() as folder:
        program, database = os.path.join(folder, "uncounted"), os.path.join(folder, "uncounted.db")
        subprocess.run(["nvcc", "-O2", "-std=c++17", "-o", program, os.path.join(HERE, "uncounted.cu")], check=True)
        other = pocl_program(folder)
        same, expected = True, None
        counting = ["-m", "shared_load_transactions_per_request"]
        for _ in range(TURNS):
            runs = [("counted", profiled(build, program, database, counting)),
                    ("--blocks 5%", profiled(build, program, database, [*counting, "--blocks", "5%"])),
                    ("uncounted", profiled(build, program, database, []))]
            if earlier is not None:
                runs.append(("earlier", profiled(earlier, program, database + "_earlier", counting)))
            if other is not None:
                one_core = dict(os.environ, POCL_MAX_PTHREAD_COUNT="1")
                runs.append(("PoCL", times_of([other, os.path.join(HERE, "pocl.cl"), str(SCALE)], one_core)))
            for label, (times, hashes) in runs:
                columns[label].append(times)
                expected = expected or hashes
                for kernel, value in hashes.items():
                    if value != expected[kernel] and not (label == "PoCL" and kernel in ROUNDED):
                        print(f"{kernel}, {label}: the results differ")
                        same = False
        met = measure_program(os.path.join(build, "warpmeter"), program, database)
    met &= compared(columns)
    return 0 if same and met else 1


if __name__ == "__main__":
    sys.exit(main())
