# SPDX-License-Identifier: MIT
"""Counts of the launches of this folder's scripts, and their comparison.

    counts.py record WARPMETER cupti|model PYTHON cupy|numba|triton FILE [NAME...]
    counts.py public WARPMETER cupti|model PYTHON FOLDER FILE [--at-once N] [--seconds N] [--launches N] [REPOSITORY|SCRIPT...]
    counts.py compare HARDWARE MODEL [--paired]

`record` runs the scripts in one process (batch.py) and writes a row a launch into the CSV file FILE. A value that is
neither `exact` nor `measured` has a `~` before it; an empty one is unavailable. `public` does so with the scripts of public.csv
(FOLDER as for public.py), each a process, with PyTorch's operators on the CPU. On a GPU they are one session and take turns. Each
counts its first --launches. They run in the order of the arguments. How each ended is in FILE.jsonl; those that ended by
themselves are left out the next time.
`compare` says how many `exact` values of the file MODEL are those of the file HARDWARE: exit code 1 when one differs. With
--paired launches are compared that both have: the n-th of a script's kernel with its grid and block. The rest is told by number,
and scripts of another --arch are left out.
"""
import argparse
import collections
import csv
import io
import json
import lzma
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "device"))
import outcomes  # noqa: E402
from programs import programs  # noqa: E402
from public import rows  # noqa: E402
from todays_kernels import COUNTERS  # noqa: E402

METRICS = [*COUNTERS, "warp_instructions", "thread_instructions"]
# Most public scripts use none of the rest.
PUBLIC_METRICS = [name for name in METRICS if not name.startswith(("distributed_", "surface_", "texture_"))
                  and not name.endswith(("_bytes", "_moved"))]
TRITON_SCRIPTS = "/tmp/frameworks"  # one place on every machine, for the PTX names the file
LATE = 15  # seconds that a session may end late: then all its processes are ended
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


def finished(path):
    """Names of the scripts that ended by themselves; the others' lines are removed."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    lines = [line for line in lines if json.loads(line)["code"] != "late"]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return {json.loads(line)["program"] for line in lines}


def session(arguments, folder, names, options, seconds):
    """Runs them and returns the launches of those that ended by themselves."""
    database, outcome = f"{folder}/session.db", pathlib.Path(f"{arguments.file}.jsonl")
    process = subprocess.Popen(
        [arguments.warpmeter, "profile", "-b", arguments.backend, "-q", "-m", ",".join(PUBLIC_METRICS), "-c", str(arguments.launches),
         "--db", database, *options, sys.executable, str(HERE / "outcomes.py"), "record", str(outcome), arguments.python,
         arguments.folder, "--ranges", "--at-once", str(arguments.at_once), "--seconds", str(seconds),
         *(word for name in names for word in ("--only", name))],
        env=os.environ | ({"TURN": f"{folder}/turn"} if arguments.backend == "cupti" else {}), start_new_session=True)
    try:
        process.wait(seconds + LATE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    launches = launches_of(arguments.warpmeter, database) if os.path.exists(database) else []
    pathlib.Path(database).unlink(missing_ok=True)
    ended = finished(outcome)
    return [launch for launch in launches if launch["script"] in ended]


def public(*words):
    parser = argparse.ArgumentParser(prog="counts.py public")
    for name in ("warpmeter", "backend", "python", "folder", "file"):
        parser.add_argument(name)
    parser.add_argument("chosen", nargs="*")
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1e6)
    parser.add_argument("--launches", type=int, default=1000)
    arguments = parser.parse_intermixed_args(words)
    end = time.monotonic() + arguments.seconds
    ended = finished(pathlib.Path(f"{arguments.file}.jsonl"))
    chosen = arguments.chosen or list(dict.fromkeys(row["repository"] for row in rows("", [])))
    left = [(name, options) for name, _, _, options, _ in outcomes.jobs(arguments.folder, chosen) if name not in ended]
    sessions = [([name for name, _ in left], [])] if arguments.backend == "cupti" else [([name], options) for name, options in left]
    launches = []
    if os.path.exists(arguments.file):
        with open(arguments.file, newline="", encoding="utf-8") as file:
            launches = list(csv.DictReader(file))
    with tempfile.TemporaryDirectory() as folder:
        for names, options in sessions:
            if names and time.monotonic() < end:
                launches += session(arguments, folder, names, options, end - time.monotonic())
                write(arguments.file, launches)
    print(f"{len({launch['script'] for launch in launches})} scripts, {len(launches)} launches")
    return 0 if launches else 1


def by_script(path):
    scripts = {}
    with (lzma.open if str(path).endswith(".xz") else open)(path, "rt", newline="", encoding="utf-8") as file:
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


def numbered(launches):
    """By kernel, grid, block, and how many of these were before."""
    seen, found = collections.Counter(), {}
    for row in launches:
        key = unnumbered(row["kernel"]), row["grid"], row["block"]
        found[*key, seen[key]] = row
        seen[key] += 1
    return found


def paired(hardware_path, model_path):
    hardware, model, found = by_script(hardware_path), by_script(model_path), Comparison()
    other = {f"{row['repository']} {row['script']}" for row in rows("", []) if "--arch" in row["options"]}
    both, alone = 0, []
    for script in sorted((hardware.keys() | model.keys()) - other):
        theirs, ours = numbered(hardware.get(script, [])), numbered(model.get(script, []))
        shared = [key for key in theirs if key in ours]
        for key in shared:
            found.add(script, theirs[key], ours[key])
        both += len(shared)
        if len(shared) < max(len(theirs), len(ours)):
            alone.append(f"{script}: {len(theirs) - len(shared)} launches on hardware only, {len(ours) - len(shared)} on the model only")
    print(*alone, f"{both} launches on both", sep="\n")
    return found


def compare(hardware_path, model_path, *options):
    found = paired(hardware_path, model_path) if "--paired" in options else compared(hardware_path, model_path)
    print(*found.differences, sep="\n")
    print(f"{found.equal} of {found.compared} `exact` values equal; {found.others_equal} of {found.others} others")
    return 0 if found.compared and not found.differences else 1


if __name__ == "__main__":
    sys.exit({"record": record, "public": public, "compare": compare}[sys.argv[1]](*sys.argv[2:]))
