# SPDX-License-Identifier: MIT
"""Compares warpmeter's answers to nvprof's names with Nsight Compute's; see nvprof_names.sh."""

import collections
import csv
import datetime
import io
import json
import os
import pathlib
import subprocess
import sys

from ncu import AS_IT_IS, number
from nvprof_mapping import ROWS

RUNS = 3  # each tool runs that often: the spread of its values is its own
TOLERANCE = 0.05  # the largest gap between the ranges of the tools, for figures of time and caches
HALF_DIGIT = 0.005001  # ncu prints two decimals
NAMES = json.loads((pathlib.Path(__file__).resolve().parents[2] / "schema/nvprof_names.json").read_text(encoding="utf-8"))
FORMS = {row["name"]: row["form"] for row in NAMES["metrics"]}


def run(command, may_fail=False):
    """The standard output; None where it may fail and does."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0 and may_fail:
        print(f"{command[0]}: {(done.stdout + done.stderr).strip()[-300:]}")
        return None
    if done.returncode != 0:
        sys.exit(f"nvprof_names: {' '.join(command)[:400]} ended with {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


# ---- one run of each tool: kernel → name → value; None is no number

def of_warpmeter(program, kernels, rows, database, replay="kernel"):
    if os.path.exists(database):
        os.unlink(database)
    command = [program, "profile", "-b", "cupti", "--replay", replay, "-m", ",".join(row.name for row in rows), "--db", database,
               kernels]
    if run(command, may_fail=rows[0].is_of_link()) is None:
        return {}
    text = run([program, "query", "--db", database, "--format", "csv",
                "SELECT variant, metric, value FROM results ORDER BY launch_id"])
    values = collections.defaultdict(dict)
    for row in csv.DictReader(io.StringIO(text)):
        values[row["variant"]][row["metric"]] = number(row["value"])
    return {kernel: {row.name: found.get(row.name) for row in rows} for kernel, found in values.items()}


def of_ncu(kernels, rows, log, replay="kernel"):
    metrics = sorted({metric for row in rows for metric in row.metrics()})
    command = ["ncu", *AS_IT_IS, "--replay-mode", replay, "--log-file", log, "--metrics", ",".join(metrics), kernels]
    if run(command, may_fail=rows[0].is_of_link()) is None:
        return {}  # a virtual machine may hide the counters of links from ncu
    with open(log, encoding="utf-8", errors="replace") as file:
        lines = [line for line in file if line.startswith('"')]
    values = {}
    for row in csv.DictReader(lines):
        if row.get("ID"):  # the row of units has none
            found = {metric: number(row.get(metric)) for metric in metrics}
            values[row["Kernel Name"].partition("(")[0]] = {r.name: r.value(found) for r in rows}
    return values


# ---- comparison

def is_near(ours, theirs, least, rounding):
    """Several runs of each: between their ranges lies no more than `least` of the larger value."""
    slack = max(least * max(map(abs, ours + theirs)), rounding)
    return min(ours) - slack <= max(theirs) and min(theirs) - slack <= max(ours)


class Verdict:
    def __init__(self, row):
        self.row, self.kernels, self.equal, self.near, self.other = row, 0, 0, 0, []
        self.not_zero = self.whole = 0

    def add(self, kernel, ours, theirs, whole):
        """`whole`: the values of both tools where each pass is a run of the program; empty: not measured."""
        if None in ours and (None in theirs or not any(theirs)):
            return  # a quotient whose denominator is 0, which ncu prints as 0, or a counter that neither has
        self.kernels += 1
        if None in ours or None in theirs:
            self.other.append([kernel, ours, theirs])
            return
        self.not_zero += any(ours + theirs)
        if len(set(ours + theirs)) == 1:
            self.equal += 1
        elif self.agrees(ours, theirs):
            self.near += 1
        elif whole and None not in whole[0] + whole[1] and self.agrees(*whole):
            self.whole += 1
        else:
            self.other.append([kernel, ours, theirs])

    def agrees(self, ours, theirs):
        is_count = FORMS.get(self.row.name, "count") == "count"
        is_fixed = is_count and len(set(theirs)) == len(set(ours)) == 1
        return is_near(ours, theirs, 1e-9 if is_fixed else TOLERANCE, HALF_DIGIT * self.row.factor * len(self.row.metrics()))

    def record(self):
        entry = {"kernels": self.kernels, "not_zero": self.not_zero, "equal": self.equal, "near": self.near}
        entry |= {"whole": self.whole} if self.whole else {}
        return entry | ({"other": self.other} if self.other else {})


def compared(everything, rows):
    """The verdicts by name; those of "whole" are of runs in which no kernel is repeated."""
    verdicts = []
    for part in rows:
        tools = [everything[part][tool] for tool in ("warpmeter", "ncu")]
        whole = [everything.get("whole", {}).get(tool, []) for tool in ("warpmeter", "ncu")]
        for row in rows[part]:
            def of_tool(runs, kernel, name=row.name):
                return [values.get(kernel, {}).get(name) for values in runs]

            verdict = Verdict(row)
            for kernel in sorted(set(tools[0][0]) | set(tools[1][0])):
                again = [of_tool(runs, kernel) for runs in whole] if all(whole) else []
                verdict.add(kernel, *(of_tool(runs, kernel) for runs in tools), again)
            verdicts.append(verdict)
    return verdicts


def in_lines(result):
    """JSON with a line a name."""
    head = {key: value for key, value in result.items() if key != "names"}
    lines = [f'  {json.dumps(name)}: {json.dumps(entry)}' for name, entry in result["names"].items()]
    return json.dumps(head)[:-1] + ',\n "names": {\n' + ",\n".join(lines) + "\n }}\n"


def device():
    fields = run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader", "-i", "0"]).strip().split(", ")
    ncu = [line for line in run(["ncu", "--version"]).splitlines() if line.startswith("Version")]
    return {"device": fields[0], "driver": fields[1], "ncu": ncu[0].split()[1] if ncu else "",
            "date": datetime.date.today().isoformat()}


def write_record(record, everything, verdicts):
    result = device() | {"kernels": len(everything["chip"]["ncu"][0]),
                         "names": {verdict.row.name: verdict.record() for verdict in verdicts}}
    pathlib.Path(record).write_text(in_lines(result), encoding="utf-8")
    pathlib.Path(record).with_suffix(".values.json").write_text(json.dumps(everything), encoding="utf-8")


def main():
    program, kernels, work, record = sys.argv[1:]
    links = [row for row in ROWS if row.is_of_link()]
    others = [row for row in ROWS if not row.is_of_link()]
    parts = {"chip": others, "links": links}
    everything = {}

    def measure(part, rows, replay="kernel", runs=RUNS):
        print(f"{part}: {len(rows)} names", flush=True)
        everything[part] = {
            "warpmeter": [of_warpmeter(program, kernels, rows, f"{work}/{part}{i}.db", replay) for i in range(runs)],
            "ncu": [of_ncu(kernels, rows, f"{work}/{part}{i}.csv", replay) for i in range(runs)]}

    for part, rows in parts.items():
        measure(part, rows)
        tools = everything[part]
        if part == "chip" and set(tools["warpmeter"][0]) != set(tools["ncu"][0]):
            sys.exit(f"nvprof_names: other kernels: {sorted(set(tools['warpmeter'][0]) ^ set(tools['ncu'][0]))}")
    # Before each repetition a tool writes memory anew, which fills caches and leaves lines that DRAM has yet to get. The tools
    # do so in different ways, so what differs is measured where no kernel is repeated.
    verdicts = compared(everything, parts)
    write_record(record, everything, verdicts)  # the rest takes minutes
    differing = [verdict.row for verdict in verdicts if verdict.other and not verdict.row.is_of_link()]
    if differing:
        measure("whole", differing, "application", 1)
    verdicts = compared(everything, parts)
    write_record(record, everything, verdicts)
    for verdict in verdicts:
        for kernel, ours, theirs in verdict.other:
            print(f"{verdict.row.name} of {kernel}: warpmeter {ours}, ncu {theirs}")
    found = [verdict for verdict in verdicts if verdict.kernels]
    whole = sum(verdict.whole for verdict in found)
    agreed = sum(verdict.equal + verdict.near for verdict in found) + whole
    values = sum(verdict.kernels for verdict in found)
    print(f"{len(found)} names on {len(everything['chip']['ncu'][0])} kernels: {agreed} of {values} values agree, "
          f"{sum(verdict.equal for verdict in found)} to the last digit, {whole} only where no kernel is repeated; "
          f"{sum(not verdict.other for verdict in found)} names agree on every kernel")
    return 1 if any(verdict.other for verdict in found) else 0


if __name__ == "__main__":
    sys.exit(main())
