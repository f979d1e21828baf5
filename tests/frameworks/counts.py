# SPDX-License-Identifier: MIT
"""Counts of the launches of this folder's scripts, and their comparison.

    counts.py record WARPMETER cupti|model PYTHON cupy|numba|triton FILE [NAME...]
    counts.py compare HARDWARE MODEL

`record` runs the scripts in one process (batch.py) and writes a row a launch into the CSV file FILE. A value that is
neither `exact` nor `measured` has a `~` before it; an empty one is unavailable. `compare` says how many `exact` values of
the file MODEL are those of the file HARDWARE: exit code 1 when one differs.
"""
import csv
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "device"))
from programs import programs  # noqa: E402
from todays_kernels import COUNTERS  # noqa: E402

METRICS = [*COUNTERS, "warp_instructions", "thread_instructions"]
TRITON_SCRIPTS = "/tmp/frameworks"  # one place on every machine, for the PTX names the file
TIMED = {"o_autotune"}  # how often it launches depends on time
QUERY = """SELECT l.launch_id, l.nvtx_range, l.kernel, l.grid, l.block, l.outcome, r.metric, r.value, r.grade
           FROM launches l LEFT JOIN results r USING (launch_id) ORDER BY l.launch_id"""


def shown(value, grade):
    if value == "" or grade == "unavailable":
        return ""
    return f"{'' if grade in ('measured', 'exact') else '~'}{int(float(value))}"


def launches_of(warpmeter, database):
    """Rows of the CSV file. A launch outside of the scripts has an empty `script`."""
    done = subprocess.run([warpmeter, "query", "--db", database, "--format", "csv", " ".join(QUERY.split())],
                          stdout=subprocess.PIPE, text=True, check=True)
    launches = {}
    for row in csv.DictReader(io.StringIO(done.stdout)):
        launch = launches.setdefault(row["launch_id"], {
            "script": row["nvtx_range"], "kernel": row["kernel"], "grid": row["grid"], "block": row["block"],
            "outcome": row["outcome"]})
        if row["metric"] in METRICS:
            launch[row["metric"]] = shown(row["value"], row["grade"])
    return list(launches.values())


def write(path, launches):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["script", "kernel", "grid", "block", "outcome", *METRICS], restval="",
                                lineterminator="\n")
        writer.writeheader()
        writer.writerows(launches)


def record(warpmeter, backend, python, kind, path, *names):
    names = names or [name for name in programs(kind) if name not in TIMED]
    with tempfile.TemporaryDirectory() as folder:
        database = os.environ.get("DATABASE") or f"{folder}/counts.db"
        done = subprocess.run(
            [warpmeter, "profile", "-b", backend, "-q", "-m", ",".join(METRICS), "--db", database,
             python, str(HERE / "batch.py"), kind, TRITON_SCRIPTS if kind == "triton" else f"{folder}/scripts", *names],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, env={**os.environ, "PYTHONWARNINGS": "ignore"})
        lines = done.stdout.splitlines()
        right = [line for line in lines if re.fullmatch(r"\w+ right", line)]
        print("\n".join(line for line in lines if line not in right))
        launches = launches_of(warpmeter, database)
    write(path, launches)
    values = sum(launch.get(metric, "") != "" for launch in launches for metric in METRICS)
    print(f"{kind}: {len(right)} scripts right, {len(launches)} launches, {values} values")
    return 0 if launches else 1


def by_script(path):
    scripts = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            scripts.setdefault(row["script"], []).append(row)
    return scripts


class Comparison:
    """`equal`, `others_equal`: how many `exact` and other values are the hardware's, of `compared` and `others`."""

    def __init__(self):
        self.compared = self.equal = self.others = self.others_equal = 0
        self.differences = []

    def add(self, script, theirs, ours):
        for metric in METRICS:
            expected, value = theirs.get(metric, ""), ours.get(metric, "")
            if "" in (expected, value) or expected.startswith("~"):
                continue  # hardware does not know which memory a generic access led to
            if value.startswith("~"):
                self.others += 1
                self.others_equal += value[1:] == expected
                continue
            self.compared += 1
            self.equal += value == expected
            if value != expected:
                self.differences.append(f"{script}, {ours['kernel']}: {metric} is {expected} on hardware, {value} on the model")


def unnumbered(kernel):
    """Numba numbers its functions and records in the order in which a process compiles them."""
    return re.sub(r"(?<=B)[0-9]+v[0-9]+|(?<=RecordILi)[0-9]+|(?<=RecordIdLi)[0-9]+", "", kernel)


def compared(hardware_path, model_path, scripts=()):
    """`scripts`: those that are compared; all that the hardware ran without names."""
    hardware, model, found = by_script(hardware_path), by_script(model_path), Comparison()
    for script in scripts or hardware:
        launches, ours = hardware.get(script, []), model.get(script, [])
        names = [[(unnumbered(row["kernel"]), row["grid"], row["block"]) for row in rows] for rows in (launches, ours)]
        if names[0] != names[1]:
            found.differences.append(f"{script}: {len(launches)} launches on hardware, {len(ours)} on the model, not the same")
            continue
        for theirs, mine in zip(launches, ours):
            found.add(script, theirs, mine)
    return found


def compare(hardware_path, model_path):
    found = compared(hardware_path, model_path)
    print(*found.differences, sep="\n")
    print(f"{found.equal} of {found.compared} `exact` values equal; {found.others_equal} of {found.others} others")
    return 0 if found.compared and not found.differences else 1


if __name__ == "__main__":
    sys.exit({"record": record, "compare": compare}[sys.argv[1]](*sys.argv[2:]))
