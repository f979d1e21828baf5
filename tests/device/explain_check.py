# SPDX-License-Identifier: MIT
"""Checks of explain_check.sh."""

import json
import pathlib
import sqlite3
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).parent.parent / "reports" / "explain"
EXPECTED = json.loads((HERE / "expected.json").read_text())
FILES = sorted({entry["file"] for entry in EXPECTED})
SLOWER = 1.01  # the longest time of a rewritten kernel, in times of the original's
LEAST_FASTER = 0.9  # the least share of the rewritten kernels
ROUNDS = 3  # the least of their medians is a kernel's time
program, work = sys.argv[1], pathlib.Path(sys.argv[2])
failed = 0


def check(holds, what):
    global failed
    failed += not holds
    print(f"{'ok  ' if holds else 'FAIL'}  {what}", flush=True)


def run(database, *words):
    """One run of every family: its launches by (family, variant)."""
    for file in FILES:
        done = subprocess.run([program, "run", str(HERE / file), "--db", work / database, "-q", *words],
                              capture_output=True, text=True)
        if done.returncode != 0:
            print(f"{file}: exit {done.returncode}: {done.stderr.strip()[:300]}", flush=True)


def rows(database, sql):
    connection = sqlite3.connect(work / database)
    connection.row_factory = sqlite3.Row
    with connection:
        return connection.execute(sql).fetchall()


def by_variant(entry, variant=None):
    return entry["file"].removesuffix(".yaml"), variant or entry["variant"]


begin = time.perf_counter()
run("model.db", "-b", "model", "--compiler", "nvcc")  # the code that is timed: NVRTC's may differ
model_s = time.perf_counter() - begin
begin = time.perf_counter()
run("gpu.db", "-b", "cupti")
for _ in range(ROUNDS - 1):
    run("gpu.db", "-b", "cupti", "--timing-only")
gpu_s = time.perf_counter() - begin

# Counts: what the model calls exact.
LAUNCHED = "SELECT l.family, l.variant, r.metric, r.value, r.grade FROM results r JOIN launches l USING (launch_id)"
measured = {(r["family"], r["variant"], r["metric"]): r["value"] for r in rows("gpu.db", LAUNCHED)
            if r["value"] is not None and r["grade"] == "measured"}
compared, differing = 0, []
for r in rows("model.db", LAUNCHED):
    key = (r["family"], r["variant"], r["metric"])
    if r["grade"] == "exact" and r["value"] is not None and key in measured:
        compared += 1
        if abs(measured[key] - r["value"]) > 1e-9 * max(1, abs(r["value"])):
            differing.append(f"{'/'.join(key)}: {measured[key]} on the GPU, {r['value']}")
for text in differing[:20]:
    print("      " + text)
check(not differing, f"{compared} exact values of the model, {len(differing)} differ from the hardware's")

# Predictions: against the hardware's counts of the rewritten kernels.
PREDICTED = ("SELECT l.family, l.variant, p.name, p.finding_rank, p.remedy_rank, p.counter, p.predicted "
             "FROM predictions p JOIN launches l USING (launch_id) WHERE p.finding_rank = 1 ORDER BY p.remedy_rank")
predicted = {}
for r in rows("model.db", PREDICTED):
    remedies = predicted.setdefault((r["family"], r["variant"]), {})
    rank, counters = remedies.setdefault(r["name"], (r["remedy_rank"], {}))
    if rank == r["remedy_rank"]:
        counters[r["counter"]] = r["predicted"]
kernels, values, wrong = 0, 0, []
pairs = []
for entry in EXPECTED:
    remedies = [(entry.get("remedy"), entry.get("rewritten"))]
    remedies += [(other["remedy"], other.get("rewritten")) for other in entry.get("alternatives", [])]
    for remedy, rewritten in remedies:
        if not rewritten:
            continue
        pairs.append((by_variant(entry), by_variant(entry, rewritten)))
        _, counters = predicted.get(by_variant(entry), {}).get(remedy, (0, {}))
        counters = {c: v for c, v in counters.items() if (*by_variant(entry, rewritten), c) in measured}
        kernels += bool(counters)
        for counter, value in counters.items():
            values += 1
            got = measured[(*by_variant(entry, rewritten), counter)]
            if got != value:
                wrong.append(f"{rewritten}: {counter} {got} on the GPU, predicted {value}")
for text in wrong:
    print("      " + text)
check(not wrong and kernels >= 25, f"{kernels} rewritten kernels, {values} counters predicted, {len(wrong)} differ on the GPU")

# Times.
times = {}
for r in rows("gpu.db", "SELECT l.family, l.variant, t.median_ns FROM timings t JOIN launches l USING (launch_id)"):
    key = (r["family"], r["variant"])
    times[key] = min(times.get(key, 1e18), r["median_ns"])
timed = [(a, b) for a, b in pairs if a in times and b in times]
slower = [(a, b) for a, b in timed if times[b] > SLOWER * times[a]]
faster = [(a, b) for a, b in timed if times[b] < times[a] / SLOWER]
for a, b in slower:
    print(f"      {'/'.join(b)}: {times[b] / 1e3:.2f} µs, {'/'.join(a)}: {times[a] / 1e3:.2f} µs")
check(len(slower) <= (1 - LEAST_FASTER) * len(timed),
      f"{len(timed)} rewritten kernels timed: {len(faster)} faster by more than 1 %, "
      f"{len(timed) - len(faster) - len(slower)} within 1 %, {len(slower)} slower")
print(f"      model {model_s:.1f} s, GPU {gpu_s:.1f} s")
sys.exit(1 if failed else 0)
