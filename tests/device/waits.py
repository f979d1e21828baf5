# SPDX-License-Identifier: MIT
"""Holds `warpmeter profile` to programs whose kernels wait; see waits.sh."""

import csv
import io
import os
import subprocess
import sys
import time

from processes import run_whole

# Program → its kernels that are not measured, with a part of the reason. All end with three launches of add_one, each
# with 32 requests to load: 8 blocks of 4 warps, an instruction a warp.
LOOP, BUSY, HEAP = "waits in a loop", "may wait for the program", "heap"
PROGRAMS = {
    "host_flag": {"wait_for_host": LOOP, "add_one": BUSY},
    "two_streams": {"wait_for_stream": LOOP, "release": BUSY},
    "two_processes": {"meet": LOOP},
    "two_devices": {},  # meet_devices with two GPUs, see below
    "device_heap": {"push": HEAP, "pop": HEAP},
    "ring": {"pass_on": LOOP},
    "work_queue": {"serve": LOOP},
    "graph_node": {"graph": LOOP},
    "stream_value": {"add_one": BUSY},
    "event_thread": {"add_one": BUSY},
    "later_copy": {"wait_for_copy": LOOP},
    "child": {"wait_for_child": LOOP},
}
MAY_BE_UNMEASURED = {"two_devices": ["meet_devices"]}
SCRIPTS = {"jax_jit": "import jax", "ddp": "import torch; assert torch.cuda.device_count() > 1"}
LAST_LAUNCHES, LAST_VALUE = 3, 32.0

build, work = sys.argv[1:3]
only = sys.argv[3:]
warpmeter = os.path.join(build, "warpmeter")
failures = checks = 0


def check(name, ok, detail=""):
    global failures, checks
    checks += 1
    failures += not ok
    print(f"{'ok    ' if ok else 'FAILED'} {name}{': ' if detail else ''}{detail}", flush=True)


def run(command, limit):
    begin = time.perf_counter()
    code, *written = run_whole(command, limit, cwd=work)
    done = None if code is None else subprocess.CompletedProcess(command, code, *written)
    return time.perf_counter() - begin, done


def results(database):
    """(kernel, value, reason) of each launch's requests to load, in order."""
    _, done = run([warpmeter, "query", "--db", database, "--format", "csv",
                   "SELECT l.variant, r.value, r.reason FROM results r JOIN launches l USING (launch_id)"
                   " WHERE r.metric = 'global_load_requests' ORDER BY l.launch_id"], 60)
    return [tuple(row) for row in csv.reader(io.StringIO(done.stdout))][1:]


def check_counts(name, what, rows, expected):
    unmeasured = {kernel: reason for kernel, value, reason in rows if not value}
    check(f"{name} {what}: reasons", all(unmeasured.values()), "; ".join(sorted(set(unmeasured.values())))[:200])
    known = MAY_BE_UNMEASURED.get(name, [])
    for kernel, part in expected.items():
        found = [reason for other, reason in unmeasured.items() if other.startswith(kernel)]
        if part == HEAP and (what == "one counter" or not found):
            continue  # one pass counts it
        known = [*known, kernel]
        check(f"{name} {what}: {kernel} has its reason", any(part in reason for reason in found), "; ".join(found)[:200])
    others = sorted(kernel for kernel in unmeasured if not kernel.startswith(tuple(known)))
    check(f"{name} {what}: all others are measured", not others,
          "; ".join(f"{kernel}: {unmeasured[kernel]}" for kernel in others)[:300])
    last = [value for kernel, value, _ in rows if kernel == "add_one"][-LAST_LAUNCHES:]
    check(f"{name} {what}: later launches are measured", [float(value or -1) for value in last] == [LAST_VALUE] * 3,
          " ".join(last))


def check_program(name, command, expected):
    alone_s, alone = run(command, 120)
    check(f"{name}: alone", alone is not None and alone.returncode == 0, f"{alone_s:.2f} s")
    if alone is None:
        return
    ways = {"summary": [], "default": ["-m", "@default"], "one counter": ["-m", "global_load_requests"],
            "all": ["-m", "@all"]}
    for what, options in ways.items():
        if what == "all" and name in SCRIPTS:
            continue
        database = os.path.join(work, f"{name}_{what}.db")
        limit = 3 * alone_s + 10
        seconds, done = run([warpmeter, "profile", "-b", "cupti", "-q", "--db", database, *options, "--", *command], limit)
        check(f"{name} {what}: ends", done is not None, f"{seconds:.2f} s, alone {alone_s:.2f} s")
        if done is None:
            continue
        check(f"{name} {what}: the same", (done.stdout, done.returncode) == (alone.stdout, alone.returncode),
              f"{done.returncode} {done.stdout!r} {done.stderr!r}"[:300])
        rows = results(database) if options else []
        if options and expected is not None:
            check_counts(name, what, rows, expected)
        elif options:
            measured = sum(1 for _, value, _ in rows if value)
            check(f"{name} {what}: launches are measured", measured > 0, f"{measured} of {len(rows)}: " + "; ".join(
                sorted({f"{kernel}: {reason}" for kernel, value, reason in rows if not value}))[:600])


for program, not_measured in PROGRAMS.items():
    if not only or program in only:
        check_program(program, ["./" + program], not_measured)
for script, needs in SCRIPTS.items():
    if (not only or script in only) and run([sys.executable, "-c", needs], 120)[1].returncode == 0:
        check_program(script, [sys.executable, script + ".py"], None)
print(f"{checks - failures} of {checks} hold")
sys.exit(1 if failures else 0)
