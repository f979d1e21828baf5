# SPDX-License-Identifier: MIT
"""The cost of `warpmeter profile`, beside Nsight Compute; see costs.sh."""

import os
import re
import statistics
import subprocess
import sys
import time

warpmeter, work = sys.argv[1:3]
SASS = "smsp__sass_"
WAVEFRONTS, REQUESTS = (SASS + "l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", SASS + "inst_executed_op_shared_ld.sum")
ONE_PASS, TWO_PASSES = f"{WAVEFRONTS},{REQUESTS}", f"{WAVEFRONTS},{REQUESTS},gpu__time_duration.sum"
RUNS, FEW = 7, 6
AIMS = {"summary": 100, "counters": 250, ONE_PASS: 0.2, TWO_PASSES: 0.4, "@all": 15}  # milliseconds beyond the program's


def run(command):
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, cwd=work, timeout=200, check=False)
    if done.returncode != 0:
        sys.exit(f"costs: {' '.join(command)[:200]} ended with {done.returncode}: {done.stderr[-600:]}")
    return (time.perf_counter() - begin) * 1e3, done.stdout


def profile(*options):
    database = os.path.join(work, "costs.db")
    if os.path.exists(database):
        os.unlink(database)
    return [warpmeter, "profile", "-b", "cupti", "-q", "--db", database, *options]


def of_ncu(metrics):
    return ["ncu", "--csv", "--clock-control", "none", "--cache-control", "none", "--metrics", metrics]


def starts(*prefixes):
    """Milliseconds of a program of one launch behind each prefix: the median of runs in turns, since a card's first uses and
    its later ones take unlike times. The first turn warms up."""
    turns = [[run([*prefix(), "./launches", "1"])[0] for prefix in prefixes] for _ in range(RUNS + 1)][1:]
    return [statistics.median(times) for times in zip(*turns)]


def loop(prefix, launches):
    """Milliseconds of the program's loop, as it measures them itself; the best of three."""
    return min(float(re.findall(r"^[0-9]+\.[0-9]{6}$", run([*prefix, "./launches", str(launches)])[1], re.M)[0]) * 1e3
               for _ in range(3))


def launch(prefix, many):
    return (loop(prefix, many) - loop(prefix, FEW)) / (many - FEW)


def row(what, ours, theirs, aim):
    met = "" if aim is None else "met" if ours <= aim else "not met"
    print(f"| {what:44} | {ours:9.2f} | {theirs:>9} | {'' if aim is None else aim:>6} | {met:8} |", flush=True)


alone, summary, counters, theirs = starts(list, profile, lambda: profile("-m", ONE_PASS), lambda: of_ncu(ONE_PASS))
print(f"A program of one launch takes {alone:.0f} ms.\n")
print(f"| {'milliseconds beyond the program':44} | warpmeter | {'ncu':>9} | {'aim':>6} | {'':8} |\n|{'-' * 46}|----------:|----------:|-------:|{'-' * 10}|")
row("start, summary", summary - alone, "", AIMS["summary"])
row("start, counters of one pass", counters - alone, f"{theirs - alone:.0f}", AIMS["counters"])
bare = launch([], 1006)
for what, metrics, many, ncu in (("one more launch, one pass", ONE_PASS, 206, True), ("two passes", TWO_PASSES, 206, True),
                                 ("@default", "@default", 106, False), ("@all", "@all", 16, False)):
    theirs = f"{launch(of_ncu(metrics), 16) - bare:.2f}" if ncu else ""
    row(what, launch(profile("-m", metrics), many) - bare, theirs, AIMS.get(metrics))
