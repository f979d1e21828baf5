# SPDX-License-Identifier: MIT
"""The counts of a program's launches: from Nsight Compute, from warpmeter, as they are recorded, and compared."""

import collections
import csv
import hashlib
import io
import json
import os
import pathlib
import re
import struct
import subprocess

CATALOGUE = pathlib.Path(__file__).resolve().parents[2] / "schema/catalogue.json"
LAUNCHES = 10  # the first of a program are counted; ncu takes a tenth of a second for each pass of one
# values: in the order of the counters, or by their names; all None when the launch ended in an error
Launch = collections.namedtuple("Launch", "kernel grid block values")


def counters():
    """Name → Nsight Compute's names, whose sum it is: loads by cp.async are counted apart. Every count of accesses that
    the model counts as hardware does, but for those of ldmatrix and stmatrix, which no program of the table has: nvcc's
    default is PTX for sm_75."""
    counted = re.compile(r"(shared|global)_(load|store|atomic|reduction)_(wavefronts|sectors|requests|bytes)$")
    return {counter["name"]: [name for name in (counter.get("perfworks"), *counter.get("also", [])) if name]
            for counter in json.loads(CATALOGUE.read_text(encoding="utf-8"))["counters"]
            if counted.match(counter["name"])}


# ---- Nsight Compute

def ncu(counted, log):
    return ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--kernel-name-base", "mangled",
            "--print-kernel-base", "mangled", "--target-processes", "all", "--graph-profiling", "node",
            "--cache-control", "none", "--clock-control", "none", "--log-file", log, "-c", str(LAUNCHES),
            "--metrics", ",".join(metric for metrics in counted.values() for metric in metrics)]


def number(text):
    text = (text or "").replace(",", "")
    return int(float(text)) if re.match(r"[\d.]+$", text) else None


def total(row, metrics):
    """None where there is no number for one. A chip without the counter of copies has no such column."""
    values = [number(row[metric]) for metric in metrics if metric in row]
    return sum(values) if values and None not in values and metrics[0] in row else None


def of_ncu(log, counted):
    """The output; None for a count that it has no number for."""
    if not os.path.exists(log):
        return []
    with open(log, encoding="utf-8", errors="replace") as file:
        text = "".join(line for line in file if line.startswith('"'))
    launches = []
    for row in csv.DictReader(io.StringIO(text)):
        if not row.get("ID"):
            continue  # the row of units
        grid, block = ("x".join(re.findall(r"\d+", row[column])) for column in ("Grid Size", "Block Size"))
        launches.append(Launch(row["Kernel Name"], grid, block,
                               [total(row, metrics) for metrics in counted.values()]))
    return launches


def device():
    """The place where a recording was made."""
    def first(*command):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.stdout.strip().splitlines()[-1].strip() if done.stdout.strip() else ""
    name, _, driver = first("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader").partition(", ")
    return {"device": name, "driver": driver, "ncu": first("ncu", "--version")}


# ---- warpmeter

def of_warpmeter(program, database, names):
    """As of_ncu, with the launches among the first that ended in an error; a value is (number, grade)."""
    done = subprocess.run(
        [str(program), "query", "--db", database, "--format", "csv",
         "SELECT l.launch_id, l.kernel, l.grid, l.block, r.metric, r.value, r.grade FROM launches l LEFT JOIN results r"
         " USING (launch_id) WHERE r.metric IS NOT NULL OR l.outcome = 'failed' ORDER BY l.launch_id"],
        capture_output=True, text=True, check=False)
    launches = {}
    for row in csv.DictReader(io.StringIO(done.stdout)):
        launch = launches.setdefault(row["launch_id"],
                                     Launch(row["kernel"], row["grid"], row["block"], [None] * len(names)))
        if row["metric"] in names:
            value = int(float(row["value"])) if row["value"] else None
            launch.values[names.index(row["metric"])] = (value, row["grade"])
    return list(launches.values())[:LAUNCHES]


# ---- the recording

def lines_of(path):
    """A recording's programs, each with the counters that its values are of. Parts are joined by writing one behind
    the other: a line that names counters holds for those that follow it."""
    found, names = [], []
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            names = list(entry.get("counters", names))
            if "program" in entry:
                launches = entry["launches"]
                if launches is not None:
                    entry["launches"] = [Launch(kernel, grid, block, dict(zip(names, values)))
                                         for times, kernel, grid, block, values in launches for _ in range(times)]
                found.append(entry)
    return found


def shortened(launches):
    """[times, kernel, grid, block, values] of launches, with those that repeat their predecessor counted."""
    rows = []
    for launch in launches:
        if rows and rows[-1][1:] == list(launch):
            rows[-1][0] += 1
        else:
            rows.append([1, *launch])
    return rows


def device_code(path):
    """A hash of the program's kernels (its section .nv_fatbin): counts are held to a recording of the same ones."""
    data = path.read_bytes()
    if data[:5] != b"\x7fELF\x02":
        return ""
    offset, = struct.unpack_from("<Q", data, 40)
    size, number, names = struct.unpack_from("<HHH", data, 58)
    headers = [struct.unpack_from("<IIQQQQ", data, offset + i * size) for i in range(number)]
    digest = hashlib.sha256()
    for name, _, _, _, start, length in headers:
        at = headers[names][4] + name
        if data[at:data.index(b"\0", at)] == b".nv_fatbin":
            digest.update(data[start:start + length])
    return digest.hexdigest()[:12]


# ---- comparing

class Counts:
    def __init__(self):
        self.exact = self.equal = self.different = self.failed = 0
        self.not_exact = self.not_exact_equal = 0
        self.differences = []

    def differ(self, text):
        self.different += 1
        self.differences.append(text)


def failed(launch):
    values = launch.values.values() if isinstance(launch.values, dict) else launch.values
    return all(value is None for value in values)


def kind(launch):
    """The key that tells launches apart. ncu knows no grid of one that ended in an error."""
    return f"{launch.kernel} in an error" if failed(launch) else f"{launch.kernel} {launch.grid} {launch.block}"


def compared(launches, recorded, names):
    """Every launch beside the recorded one of the same kernel, grid and block, or of the same kernel that ended in an
    error, that came as the same one of these. Without a recording nothing is equal or different."""
    counts = Counts()
    theirs = collections.defaultdict(collections.deque)
    for launch in recorded or []:
        theirs[kind(launch)].append(launch)
    for launch in launches:
        other = theirs[kind(launch)].popleft() if theirs[kind(launch)] else None
        if recorded is not None and other is None:
            counts.differ(f"{kind(launch)}: on the GPU it did not end so that often")
            continue
        if failed(launch):
            counts.failed += 1
            continue
        for name, value in zip(names, launch.values):
            number, grade = value or (None, "unavailable")
            recorded_value = None if other is None else other.values.get(name)
            if grade != "exact":
                counts.not_exact += 1
                counts.not_exact_equal += recorded_value is not None and number == recorded_value
                continue
            counts.exact += 1
            if recorded_value is not None:
                if number == recorded_value:
                    counts.equal += 1
                else:
                    counts.differ(f"{launch.kernel}: {name} {number}, recorded {recorded_value}")
    for launch in (launch for rest in theirs.values() for launch in rest):
        counts.differ(f"{kind(launch)}: only on the GPU it ended so that often")
    return counts
