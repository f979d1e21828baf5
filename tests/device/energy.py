# SPDX-License-Identifier: MIT
"""Measures the energy of the same launches again and again, and of twice the work; see energy.sh."""

import csv
import io
import os
import statistics
import subprocess
import sys

RUNS, ONCE, TWICE = 5, 4, 8
MOST_SPREAD, MOST_OFF = 2.0, 5.0  # per cent
SETTINGS = "power.limit,persistence_mode,compute_mode,ecc.mode.current,clocks.max.sm,clocks.max.memory"


def run(command, codes=(0,)):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in codes:
        sys.exit(f"energy: {' '.join(command)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def settings():
    return run(["nvidia-smi", f"--query-gpu={SETTINGS}", "--format=csv,noheader"])


def results(program, database):
    text = run([program, "query", "--db", database, "--format", "csv", "SELECT run_id, variant, size, metric, value, unit, "
                "reason FROM results ORDER BY launch_id"])
    return list(csv.DictReader(io.StringIO(text)))


def main():
    program, work = sys.argv[1:3]
    database = os.path.join(work, "energy.db")
    family = os.path.join(os.path.dirname(os.path.abspath(__file__)), "energy.yaml")
    before = settings()

    def measure(*more, codes=(0,)):
        run([program, "run", *more, "-q", "--db", database], codes)

    for _ in range(RUNS):
        measure(family, "-n", str(ONCE), "-b", "cupti", "--counters-only", "-m", "@energy")
    measure(family, "-n", str(TWICE), "-b", "cupti", "--counters-only", "-m", "@energy,energy_per_byte,flops_per_joule")
    measure("vector_add/block_128", "-n", "1024", "-b", "model", "-m", "energy", codes=(3,))  # nothing could be measured
    rows = results(program, database)
    joules, ok = {}, True
    for row in rows:
        if row["metric"] == "energy" and row["value"]:
            joules.setdefault((row["variant"], int(row["size"])), []).append(float(row["value"]))
            print(f"      {row['variant']} {row['size']}: {float(row['value']):.5f} J, {row['reason']}")
    for variant in ("products", "copies"):
        same, double = joules.get((variant, ONCE), []), joules.get((variant, TWICE), [])
        if len(same) != RUNS or len(double) != 1:
            print(f"FAIL  {variant}: {len(same)} of {RUNS} energies and {len(double)} of twice the work")
            ok = False
            continue
        middle = statistics.median(same)
        spread = 100 * (max(same) - min(same)) / middle
        off = 100 * abs(double[0] / middle / 2 - 1)
        ok = ok and spread <= MOST_SPREAD and off <= MOST_OFF
        print(f"{'ok  ' if spread <= MOST_SPREAD else 'FAIL'}  {variant}: {RUNS} measurements, {spread:.2f} % apart "
              f"(at most {MOST_SPREAD:g} %)")
        print(f"{'ok  ' if off <= MOST_OFF else 'FAIL'}  {variant}: twice the work takes {double[0] / middle:.4f} times the "
              f"energy, {off:.2f} % off (at most {MOST_OFF:g} %)")
    for row in rows:
        if row["size"] == str(TWICE) and row["metric"] != "energy" and not row["metric"].startswith(("dram", "flop_")):
            print(f"      {row['variant']} {row['metric']}: {row['value'] or row['reason']} {row['unit'] or ''}")
    model = [row for row in rows if row["metric"] == "energy" and row["variant"] == "block_128"]
    is_refused = len(model) == 1 and not model[0]["value"] and model[0]["reason"]
    print(f"{'ok  ' if is_refused else 'FAIL'}  the model: {model[0]['reason'] if model else 'no row'}")
    is_same = before == settings()
    print(f"{'ok  ' if is_same else 'FAIL'}  the card's settings are what they were: {before.strip()}")
    return 0 if ok and is_refused and is_same else 1


if __name__ == "__main__":
    sys.exit(main())
