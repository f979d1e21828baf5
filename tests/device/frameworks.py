# SPDX-License-Identifier: MIT
"""Scripts of Python's frameworks under `warpmeter profile`, beside themselves and Nsight Compute; see frameworks.sh."""

import collections
import csv
import io
import os
import pathlib
import re
import subprocess
import sys
import time

from ncu import by_ncu
from processes import run_whole

HERE = pathlib.Path(__file__).resolve().parent / "frameworks"
LAUNCHES = 100  # that many first ones are compared
UNCOMPARED = 0.1  # at most that share of ours is not in ncu's list or lacks a value
VARYING = 0.5  # at most that share differs between two runs of ncu: nobody can say what is right
SLOWER = 3  # at most that many times the script's own time
SASS = "smsp__sass_"
METRICS = [SASS + name + ".sum" for name in (
    "l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld", "l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st",
    "l1tex_t_sectors_pipe_lsu_mem_global_op_ld", "l1tex_t_sectors_pipe_lsu_mem_global_op_st",
    "inst_executed_op_global_ld", "inst_executed_op_global_st", "inst_executed_op_shared_ld", "inst_executed_op_shared_st")]
# For the counts alone. XLA's autotuner launches a kernel that waits for the host, which Nsight Compute holds: the script would
# never end. Triton's tries each variant as often as time allows, of which a counted launch takes more: it keeps what it found.
VARIABLES = {"jax": {"XLA_FLAGS": "--xla_gpu_autotune_level=0"}, "triton": {"TRITON_CACHE_AUTOTUNING": "1"}}

failures = checks = 0


def check(name, ok, detail=""):
    global failures, checks
    checks += 1
    failures += not ok
    print(f"{'ok    ' if ok else 'FAILED'} {name}{': ' if detail else ''}{detail}", flush=True)


def timed(command, limit, **variables):
    """Seconds, and what the process left; None if it did not end."""
    begin = time.perf_counter()
    code, *written = run_whole(command, limit, env={**os.environ, **variables})
    done = None if code is None else subprocess.CompletedProcess(command, code, *written)
    return time.perf_counter() - begin, done


def query(database, sql):
    _, done = timed([warpmeter, "query", "--db", database, "--format", "csv", sql], 60)
    return list(csv.DictReader(io.StringIO(done.stdout)))


def profile(database, command, limit, *options, **variables):
    if os.path.exists(database):
        os.unlink(database)
    return timed([warpmeter, "profile", "-b", "cupti", "-q", "--db", database, *options, "--", *command], limit, **variables)


def demangled(names):
    """Names of entries, each with the name in its source. ncu prints these, warpmeter stores the entry's."""
    names = sorted(set(names))
    plain = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True).stdout
    return dict(zip(names, plain.split("\n")))


def counted(database, command, **variables):
    """The first launches in order: the kernel, its values, its grid and block, and why it has no values."""
    _, done = profile(database, command, 120, "-m", ",".join(METRICS), "-c", str(LAUNCHES), **variables)
    if done is None or done.returncode != 0:
        return []
    rows = query(database, "SELECT l.launch_id, l.kernel, l.grid, l.block, r.metric, r.value, r.reason FROM results r JOIN launches l"
                           " USING (launch_id) ORDER BY l.launch_id")
    plain = demangled(row["kernel"] for row in rows)
    launches = {}
    for row in rows:
        if row["metric"] in METRICS:
            launch = launches.setdefault(row["launch_id"], (plain[row["kernel"]], {}, f"{row['grid']} {row['block']}", set()))
            launch[1][row["metric"]] = float(row["value"]) if row["value"] else None
            launch[3].add(row["reason"])
    return list(launches.values())


def bare(kernel):
    """The name without what it returns, its namespaces and its parameters."""
    text = re.sub(r"\(anonymous namespace\)::|<unnamed>::|^void ", "", kernel)
    return re.split(r"[<(]", text)[0].split("::")[-1].split()[-1]


def by_occurrence(launches):
    """The launches by kernel name, shape and occurrence: an additional launch shifts only those of its own name and shape. A
    tuner tries each variant as often as time allows."""
    before = collections.Counter()
    found = {}
    for launch in launches:
        kind = f"{bare(launch[0])} {launch[2]}"
        found[kind, before[kind]] = launch
        before[kind] += 1
    return found


def judge(ours, first, again):
    """Do our counts equal those of two runs of ncu? Returns the answer and its details."""
    theirs, theirs_again = by_occurrence(first), by_occurrence(again)
    equal = other = varying = lacking = missing = incomplete = 0
    differing = []
    not_compared = set()
    for key, (kernel, values, _, _) in by_occurrence(ours).items():
        if key not in theirs or key not in theirs_again:
            lacking += 1
            not_compared.add(f"{key[0][-90:]}: ncu lacks it")
            continue
        if theirs[key] != theirs_again[key]:
            varying += 1
            not_compared.add(f"{key[0][-90:]}: differs between ncu's runs")
            continue
        unmeasured = [metric for metric in METRICS if values.get(metric) is None]
        missing += len(unmeasured)
        incomplete += bool(unmeasured)
        for metric in METRICS:
            if metric in unmeasured:
                continue
            expected = theirs[key][1][metric]
            if values[metric] == expected:
                equal += 1
            else:
                other += 1
                differing.append(f"\n         {kernel[:70]}, its launch {key[1] + 1}, {metric}: {values[metric]:g}, ncu {expected}")
    reasons = sorted({reason for _, values, _, why in ours for reason in why if None in values.values()} - {""})
    is_right = equal > 0 and other == 0 and lacking + incomplete <= UNCOMPARED * len(ours) and varying <= VARYING * len(ours)
    return is_right, (
        f"{len(ours)} launches, ncu {len(first)} and {len(again)}: {equal} values equal, {other} not, {missing} not measured"
        f" (in {incomplete} launches); ncu lacks {lacking} launches (both: at most {UNCOMPARED:.0%} of ours), and has {varying}"
        f" differently in its two runs{''.join(differing[:6])}"
        + "".join(f"\n         {line}" for line in [*sorted(not_compared)[:6], *reasons[:6]]))


def compare(name, command, **variables):
    if variables:
        timed(command, 200, **variables)  # fills caches that are theirs
    ours = counted(f"{work}/{name}_counts.db", command, **variables)
    environment = {**os.environ, **variables}
    try:
        runs = [by_ncu(command, METRICS, f"{work}/{name}.csv", 150, "-c", str(LAUNCHES),
                       "--graph-profiling", "node", env=environment) for _ in range(2)]
    except subprocess.TimeoutExpired:
        return check(f"{name}: ncu ends", False)
    check(f"{name}: counts are ncu's", *judge(ours, *runs))


def check_script(path):
    name, command = path.stem, [sys.executable, str(path)]
    framework = name.split("_")[0]
    timed(command, 200)  # fills the framework's caches of compiled kernels
    alone_s, alone = timed(command, 200)
    if alone is None or alone.returncode != 0:
        return check(f"{name}: alone", False, alone.stderr[-300:] if alone else "does not end")
    for what, options in {"summary": [], "@default": ["-m", "@default"]}.items():
        database = f"{work}/{name}_{what}.db"
        seconds, done = profile(database, command, SLOWER * alone_s + 30, *options)
        same = done is not None and (done.stdout, done.returncode) == (alone.stdout, alone.returncode)
        launches = query(database, "SELECT count(*) AS n FROM launches")[0]["n"] if done else "no"
        check(f"{name}, {what}: the same, at most {SLOWER} times the time", same and seconds <= SLOWER * alone_s,
              f"{launches} launches, {seconds:.1f} s, alone {alone_s:.1f} s" +
              ("" if same or done is None else f": {done.returncode} {done.stdout[-200:]!r} {done.stderr[-300:]!r}"))
    compare(name, command, **VARIABLES.get(framework, {}))


if __name__ == "__main__":
    warpmeter, work = sys.argv[1:3]
    for script in sorted(HERE.glob("*.py")):
        chosen = sys.argv[3:]
        if not chosen or script.stem in chosen:
            check_script(script)
    print(f"{checks - failures} of {checks} hold")
    sys.exit(1 if failures else 0)
