# SPDX-License-Identifier: MIT
"""Compares counters of the kernels of today's GPUs with Nsight Compute's, launch by launch; see todays_kernels.sh."""

import collections
import csv
import io
import json
import os
import pathlib
import shlex
import subprocess
import sys

from ncu import by_ncu, run

SCHEMA = pathlib.Path(__file__).resolve().parents[2] / "schema"
PARTS = [json.loads(path.read_text(encoding="utf-8")) for path in [SCHEMA / "catalogue.json", *sorted(SCHEMA.glob("catalogue/*.json"))]]
CATALOGUE = {counter["name"]: counter for part in PARTS for counter in part["counters"]}
BEGINNINGS = ("shared_", "global_", "async_copy_", "bulk_", "distributed_shared_", "local_", "texture_", "surface_", "constant_")
ENDINGS = ("_requests", "_sectors", "_wavefronts", "_bytes", "_moved")
COUNTERS = [name for name in CATALOGUE if name.startswith(BEGINNINGS) and name.endswith(ENDINGS)
            and (CATALOGUE[name]["perfworks"] or "sum" in CATALOGUE[name])]


def formula(name):
    """The PerfWorks names whose sum, each times its factor, is the counter."""
    counter = CATALOGUE[name]
    if "sum" in counter:
        total = collections.Counter()
        for part, factor in counter["sum"].items():
            total.update({metric: factor * inner for metric, inner in formula(part).items()})
        return dict(total)
    return dict.fromkeys([counter["perfworks"], *counter.get("also", [])], 1)


METRICS = sorted({metric for name in COUNTERS for metric in formula(name)})


def of_warpmeter(program, command, database, seconds):
    """The launches in order: the kernel, and each counter's value, or None."""
    if os.path.exists(database):
        os.unlink(database)
    run([program, "profile", "-b", "cupti", "-q", "-m", ",".join(COUNTERS), "--db", database, *command], seconds)
    text = run([program, "query", "--db", database, "--format", "csv",
                "SELECT launch_id, variant, metric, value FROM results ORDER BY launch_id"], seconds)
    launches = {}
    for row in csv.DictReader(io.StringIO(text)):
        kernel, values = launches.setdefault(row["launch_id"], (row["variant"], {}))
        if row["metric"] in COUNTERS and row["value"] != "":
            values[row["metric"]] = float(row["value"])
    return list(launches.values())


def of_ncu(command, log, seconds):
    launches = []
    for kernel, found in by_ncu(command, METRICS, log, seconds):
        values = {}
        for name in COUNTERS:
            terms = [(factor, found[metric]) for metric, factor in formula(name).items()]
            if all(value is not None for _, value in terms):
                values[name] = sum(factor * value for factor, value in terms)
        launches.append((kernel, values))
    return launches


class Tally:
    def __init__(self):
        self.compared, self.equal, self.not_zero, self.varying, self.other = 0, 0, 0, 0, []

    def add(self, where, ours, theirs):
        """`ours`, `theirs`: of each run."""
        self.compared += 1
        self.not_zero += any(ours + theirs)
        if len(set(ours + theirs)) == 1:
            self.equal += 1
        elif len(set(theirs)) > 1 or len(set(ours)) > 1:
            self.varying += 1
            self.other.append(f"varies from run to run: {where}: warpmeter {ours}, ncu {theirs}")
        else:
            self.other.append(f"DIFFERS: {where}: warpmeter {ours}, ncu {theirs}")


def compare(title, ours, theirs, tallies, failures):
    """`ours`, `theirs`: runs, each a list of launches. The number of launches that can be compared."""
    counts = {len(each) for each in ours + theirs}
    if len(counts) != 1:
        failures.append(f"{title}: warpmeter has {[len(each) for each in ours]} launches, ncu {[len(each) for each in theirs]}")
    for index in range(min(counts)):
        kernel = theirs[0][index][0]
        for name in COUNTERS:
            values = [[each[index][1].get(name) for each in tool] for tool in (ours, theirs)]
            lacks = [None in tool for tool in values]
            if lacks[0] != lacks[1]:
                failures.append(f"{title}, launch {index + 1}, {name}: only {'ncu' if lacks[0] else 'warpmeter'} has it")
            if any(lacks):
                continue
            tallies[name].add(f"{title}, launch {index + 1}, {kernel[:60]}, {name}", *values)
    return min(counts)


def main():
    program, work, record, *programs = sys.argv[1:]
    tallies, kernels, everything, failures = collections.defaultdict(Tally), 0, {}, []
    for command in map(shlex.split, programs):
        title = pathlib.Path(command[-1] if "python" in command[0] else command[0]).name
        try:
            ours = [of_warpmeter(program, command, f"{work}/{i}.db", 60) for i in range(2)]
            theirs = [of_ncu(command, f"{work}/0.csv", 120)]
            if [values for _, values in theirs[0]] != [values for _, values in ours[0]]:
                theirs.append(of_ncu(command, f"{work}/1.csv", 120))  # is it ncu that varies?
        except subprocess.TimeoutExpired as expired:
            failures.append(f"{title}: stopped after {expired.timeout:g} s")
            continue
        launches = compare(title, ours, theirs, tallies, failures)
        print(f"{title}: {launches} launches", flush=True)
        kernels += launches
        everything[title] = {"warpmeter": ours[0], "ncu": theirs[0]}
    pathlib.Path(record).write_text(json.dumps(everything), encoding="utf-8")
    for tally in tallies.values():
        print(*tally.other[:6], sep="\n", end="\n" if tally.other else "")
    print(f"{'counter':48}{'equal':>8}{'compared':>10}{'not zero':>10}{'vary':>6}")
    for name, tally in tallies.items():
        print(f"{name:48}{tally.equal:8}{tally.compared:10}{tally.not_zero:10}{tally.varying:6}")
    total = [sum(getattr(tally, field) for tally in tallies.values()) for field in ("equal", "compared", "varying")]
    print(f"{kernels} launches: {total[0]} of {total[1]} values are equal, {total[2]} vary from run to run")
    print(*(f"FAILED {each}" for each in failures[:40]), sep="\n", end="\n" if failures else "")
    return 0 if not failures and total[1] and sum(total[::2]) == total[1] and kernels >= 60 else 1


if __name__ == "__main__":
    sys.exit(main())
