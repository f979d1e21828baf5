#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The model's speed beside a yardstick: a stripped loop without parser, checks or masks.

    tests/bench/model_speed.py BUILD YARDSTICK.cpp [UNIT]

BUILD holds an optimised model_bench and warpmeter; the yardstick is compiled here. UNIT is avx2 or avx512, by
default the best that this processor has. Machines differ and are noisy, so the programs run in turn, each
pinned, five times; the table has the medians. The yardstick runs twice side by side as well: what two cores of
the machine give programs that share nothing. Exit code: 1 when a goal is missed."""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

TURNS = 5


def output(command, cores="0"):
    return subprocess.run(["taskset", "-c", cores, *command], check=True, capture_output=True, text=True).stdout


def yardstick(program, mode, cores=("0",)):
    """Millions of warp instructions a second, of one process on each of the cores together."""
    commands = [["taskset", "-c", core, program, str(mode)] for core in cores]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for command in commands]
    return sum(float(process.communicate()[0].split(":")[1].split()[0]) for process in processes)


def model(bench, name, cores="0"):
    text = output([bench, f"--benchmark_filter=^{name}/real_time$", "--benchmark_format=json"], cores)
    return json.loads(text)["benchmarks"][0]["warp_instructions"] / 1e6


def whole_process(program, selection):
    """Seconds, and millions of warp instructions a second where one kernel ran on one thread."""
    with tempfile.TemporaryDirectory() as folder:
        database = os.path.join(folder, "speed.db")
        begin = time.monotonic()
        output([program, "run", "-b", "model", "--db", database, *selection], "0,1")
        return time.monotonic() - begin


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    build, source, *chosen = sys.argv[1:]
    bench, program = os.path.join(build, "model_bench"), os.path.join(build, "warpmeter")
    names = output([bench, "--benchmark_list_tests"]).split()
    unit = chosen[0] if chosen else [name.split("/")[1] for name in names if "/2_threads" in name][-1]
    with tempfile.TemporaryDirectory() as folder:
        stripped = os.path.join(folder, "yardstick")
        subprocess.run(["g++", "-O3", "-march=native", "-o", stripped, source], check=True)
        ratios_met = True
        print("| loop | model (M/s) | yardstick (M/s) | ratio | two cores (M/s) | to one | yardstick twice |")
        print("|---|---:|---:|---:|---:|---:|---:|")
        for mode, variant in enumerate(["naive", "tiled_16"]):
            one, two, floor, twice = [], [], [], []
            for _ in range(TURNS):
                floor.append(yardstick(stripped, mode))
                one.append(model(bench, f"matmul_{variant}/{unit}"))
                two.append(model(bench, f"matmul_{variant}/{unit}/2_threads", "0,1"))
                twice.append(yardstick(stripped, mode, ("0", "1")))
            a, b, c, d = (statistics.median(figures) for figures in (one, floor, two, twice))
            print(f"| {variant}, {unit} | {a:.0f} | {b:.0f} | {a / b:.2f} | {c:.0f} | {c / a:.2f} | {d / b:.2f} |")
            ratios_met &= a >= b and c >= 1.8 * a
    catalogue = statistics.median(whole_process(program, []) for _ in range(3))
    print(f"\nthe whole catalogue at default sizes, two cores: {catalogue:.1f} s")
    sys.exit(0 if ratios_met and catalogue < 10 else 1)


if __name__ == "__main__":
    main()
