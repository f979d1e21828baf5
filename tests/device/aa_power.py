# SPDX-License-Identifier: MIT
"""Measures the false alarms and the power of `warpmeter compare` for aa_power.sh."""

import csv
import io
import sqlite3
import statistics
import subprocess
import sys

PROGRAM, WORK, SESSIONS, TRIALS = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
WANTED_NS, SLOW_DOWN = 20_000, 1.03
ADD = "vector_add/block_256"


def warpmeter(*words):
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True)
    if done.returncode != 0:
        sys.stderr.write(done.stderr)
        sys.exit(4 if done.returncode == 4 else 1)
    return done.stdout


def measure(database, *words):
    warpmeter("run", *words, "--db", database, "--timing-only", "-b", "cupti", "-q", "--no-progress")


def times(database, *words):
    rows = csv.DictReader(io.StringIO(warpmeter("compare", *words, "--db", database, "--format", "csv")))
    return [row for row in rows if row["metric"] == "duration"]


def false_alarms():
    """Every session against the three after it."""
    database = f"{WORK}/aa.db"
    for _ in range(SESSIONS):
        measure(database)
    verdicts = []
    for base in range(1, SESSIONS + 1):
        for contender in range(base + 1, min(base + 3, SESSIONS) + 1):
            verdicts += times(database, str(base), str(contender))
    alarms = [row for row in verdicts if row["verdict"] in ("faster", "slower")]
    for row in alarms:
        print(f"  {row['family']}/{row['variant']} {row['size']}: {row['verdict']}, ratio {float(row['ratio']):.3f}")
    share = 100 * len(alarms) / len(verdicts)
    same = 100 * sum(row["verdict"] == "same" for row in verdicts) / len(verdicts)
    print(f"A/A    {len(alarms)} of {len(verdicts)} rows called faster or slower: {share:.2f} % (at most 1 %); "
          f"{same:.0f} % same, the rest unclear; {SESSIONS} sessions")
    return share <= 1


def medians(database, sizes):
    """The median of each size over several sessions."""
    listed = ",".join(map(str, sizes))
    for _ in range(6):
        measure(database, ADD, "-n", listed)
    rows = csv.DictReader(io.StringIO(warpmeter(
        "query", "SELECT size, median_ns FROM timings JOIN launches USING (run_id, launch_id)",
        "--db", database, "--format", "csv")))
    of_size = {}
    for row in rows:
        of_size.setdefault(int(row["size"]), []).append(float(row["median_ns"]))
    return {size: statistics.median(values) for size, values in of_size.items()}


def power():
    """Sessions of a size of 20 µs, each against a session of a size that takes 3 % longer."""
    known = medians(f"{WORK}/sizes.db", [3_400_000 + 50_000 * i for i in range(32)])
    base = min(known, key=lambda size: abs(known[size] - WANTED_NS))
    slower = min(known, key=lambda size: abs(known[size] / known[base] - SLOW_DOWN))
    truth = 100 * (known[slower] / known[base] - 1)
    database = f"{WORK}/power.db"
    for _ in range(TRIALS):
        measure(database, ADD, "-n", str(base))
        measure(database, ADD, "-n", str(slower))
    # To compare, the slower one has to pass for the other: only the name of its size is changed, not its times.
    with sqlite3.connect(database) as connection:
        grid = connection.execute("SELECT grid_x FROM t_launch WHERE size = ?", (base,)).fetchone()[0]
        connection.execute("UPDATE t_launch SET size = ?, grid_x = ?", (base, grid))
    connection.close()
    found = sum(times(database, str(2 * i + 1), str(2 * i + 2))[0]["verdict"] == "slower" for i in range(TRIALS))
    share = 100 * found / TRIALS
    print(f"power  a slow-down of {truth:.1f} % of {known[base] / 1000:.1f} µs found in {found} of {TRIALS} trials: "
          f"{share:.0f} % (at least 95 %)")
    return share >= 95


quiet = false_alarms()
strong = power()
sys.exit(0 if quiet and strong else 1)
