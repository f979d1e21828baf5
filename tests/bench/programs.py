#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Limits of programs without a GPU: how much longer their start takes (a static runtime, a shared one, the driver's
API), that a counted launch is as fast as the same kernel under `run -b model`, and the memory that they take beside
what they allocate, for programs of different kinds.

    tests/bench/programs.py BUILD

BUILD holds an optimised warpmeter; nvcc compiles programs.cu and programs_driver.cpp. Everything runs on one core.
Times are of the processor, with the wall's beside those of a start: other work on the machine lengthens the latter.
Exit code: 1 when something misses its goal."""
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

TURNS = 7
MOST_START = 0.2  # seconds
MOST_MEMORY = (1.1, 100)  # times the program's own, and megabytes more
MOST_SLOWER = 1.1
SIZE = 1024  # one second: what surrounds the launch is small beside it
KINDS = "many", "large", "managed", "pitched", "streams"
METRIC = "shared_load_transactions_per_request"
HERE = os.path.dirname(os.path.abspath(__file__))


def cost(command):
    """Seconds of the wall and of the processor, and what it printed."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    run = subprocess.run(["taskset", "-c", "0", *command], check=True, capture_output=True, text=True)
    passed, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    return passed, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, run.stdout


def build(folder):
    source = os.path.join(HERE, "programs.cu")
    paths = [os.path.join(folder, name) for name in ("static", "shared", "driver")]
    subprocess.run(["nvcc", "-O2", "-std=c++17", "-o", paths[0], source], check=True)
    subprocess.run(["nvcc", "-O2", "-std=c++17", "-cudart", "shared", "-o", paths[1], source], check=True)
    driver = os.path.join(HERE, "programs_driver.cpp")
    subprocess.run(["nvcc", "-O2", "-std=c++17", "-cudart", "none", "-o", paths[2], driver, "-lcuda"], check=True)
    return paths


def measure_start(profile, paths):
    """The times of the fastest of some turns, without options and with a metric, beside a program that does
    nothing."""
    met = True
    print("| start of a program | uncounted: wall, processor (s) | counted: wall, processor (s) |\n|---|---:|---:|")
    alone = [min(column) for column in zip(*(cost(["/bin/true"])[:2] for _ in range(TURNS)))]
    for path in paths:
        cells = []
        for options in ([], ["-m", METRIC]):
            turns = [cost([*profile, *options, path])[:2] for _ in range(TURNS)]
            wall, processor = (min(column) - least for column, least in zip(zip(*turns), alone))
            met &= wall <= MOST_START
            cells.append(f"{wall:.3f}, {processor:.3f}")
        print(f"| {os.path.basename(path)} | {cells[0]} | {cells[1]} |")
    return met


def measure_speed(warpmeter, profile, database, path):
    """A counted launch in the program, and the same kernel by itself; both in turn. The least of each counts: other
    work on the machine adds to all, and what is by itself is a small difference of two of them."""
    square = f"f32[{SIZE * SIZE}]"
    launch = ["--grid", f"{SIZE // 16},{SIZE // 16}", "--block", "16,16", "--arg", f"{square}=1", "--arg", f"{square}=1",
              "--arg", square, "--arg", f"i32={SIZE}"]
    spec = [warpmeter, "model", os.path.join(HERE, "programs.cu"), "--compiler", "nvcc", "-k", "gemm", *launch, "-m", METRIC,
            "--threads", "1", "-q", "--db", database]
    tiny = [word.replace(f"{SIZE // 16},{SIZE // 16}", "1,1") for word in spec]
    inside, whole, rest = [], [], []
    for _ in range(TURNS):
        printed = cost([*profile, "-m", METRIC, path, "gemm", str(SIZE), "2"])[2]
        inside.extend(float(ms) for ms in re.findall(r"ms ([\d.]+)", printed))
        whole.append(cost(spec)[1] * 1000)
        rest.append(cost(tiny)[1] * 1000)
    ours, theirs = min(inside), min(whole) - min(rest)
    print(f"\na product of {SIZE} by {SIZE}, counted: {ours:.0f} ms in a program, {theirs:.0f} ms by itself")
    return ours <= MOST_SLOWER * theirs


def measure_memory(profile, path):
    met = True
    print("\n| memory | allocated (MB) | uncounted (MB) | counted (MB) |\n|---|---:|---:|---:|")
    for kind in KINDS:
        used = []
        for options in ([], ["-m", METRIC]):
            own, most = map(int, re.search(r"bytes (\d+) most (\d+)", cost([*profile, *options, path, kind])[2]).groups())
            used.append(most / 1024)
        own /= 1 << 20
        met &= own > 0 and all(one <= MOST_MEMORY[0] * own + MOST_MEMORY[1] for one in used)
        print(f"| {kind} | {own:.0f} | {used[0]:.0f} | {used[1]:.0f} |")
    return met


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    (folder,) = sys.argv[1:]
    warpmeter = os.path.abspath(os.path.join(folder, "warpmeter"))
    with tempfile.TemporaryDirectory() as work:
        paths, database = build(work), os.path.join(work, "programs.db")
        profile = [warpmeter, "profile", "-b", "model", "-q", "--db", database]
        met = [measure_start(profile, paths), measure_speed(warpmeter, profile, database, paths[0]),
               measure_memory(profile, paths[0])]
    for what, is_met in zip(("start", "speed", "memory"), met):
        print(f"{what}: {'met' if is_met else 'missed'}")
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
