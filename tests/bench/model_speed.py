#!/usr/bin/env python3
"""The model's speed beside a yardstick: a stripped loop without parser, checks or masks.

    tests/bench/model_speed.py BUILD YARDSTICK.cpp

BUILD holds an optimised model_bench and warpmeter; the yardstick is compiled here. Machines differ and are
noisy, so the programs run in turn, each pinned, five times; the table has the medians. Exit code: 1 when a
goal is missed."""
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


def yardstick(program, mode):
    """Millions of warp instructions a second."""
    return float(output([program, str(mode)]).split(":")[1].split()[0])


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
    build, source = sys.argv[1:]
    bench, program = os.path.join(build, "model_bench"), os.path.join(build, "warpmeter")
    names = output([bench, "--benchmark_list_tests"]).split()
    unit = [name for name in names if name.endswith("/two_threads/real_time")][0].split("/")[1]
    with tempfile.TemporaryDirectory() as folder:
        stripped = os.path.join(folder, "yardstick")
        subprocess.run(["g++", "-O3", "-march=native", "-o", stripped, source], check=True)
        ratios_met = True
        print("| loop | model (M/s) | yardstick (M/s) | ratio | two cores (M/s) | ratio to one |")
        print("|---|---:|---:|---:|---:|---:|")
        for mode, variant in enumerate(["naive", "tiled_16"]):
            one, two, floor = [], [], []
            for _ in range(TURNS):
                floor.append(yardstick(stripped, mode))
                one.append(model(bench, f"matmul_{variant}/{unit}"))
                two.append(model(bench, f"matmul_{variant}/{unit}/two_threads", "0,1"))
            a, b, c = (statistics.median(figures) for figures in (one, floor, two))
            print(f"| {variant}, {unit} | {a:.0f} | {b:.0f} | {a / b:.2f} | {c:.0f} | {c / a:.2f} |")
            ratios_met &= a >= b and c >= 1.8 * a
    catalogue = statistics.median(whole_process(program, []) for _ in range(3))
    print(f"\nthe whole catalogue at default sizes, two cores: {catalogue:.1f} s")
    sys.exit(0 if ratios_met and catalogue < 10 else 1)


if __name__ == "__main__":
    main()
