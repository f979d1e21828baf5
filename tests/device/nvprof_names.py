# SPDX-License-Identifier: MIT
"""Compares warpmeter's answers to nvprof's names with Nsight Compute's; see nvprof_names.sh."""

import collections
import csv
import datetime
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import time

from ncu import AS_IT_IS, number
from nvprof_mapping import ROWS

RUNS = 3  # each tool runs up to that often where the tools differ: the spread of its values is its own
TOLERANCE = 0.05  # the largest gap between the ranges of the tools, for figures of time and caches
HALF_DIGIT = 0.005001  # ncu prints two decimals
HERE = pathlib.Path(__file__).resolve().parent
GROUPS = HERE / "nvprof_groups.json"  # names that each tool reads in one pass, on GH100
NAMES = json.loads((HERE.parents[1] / "schema/nvprof_names.json").read_text(encoding="utf-8"))
FORMS = {row["name"]: row["form"] for row in NAMES["metrics"]}
CHOICE = ["-k", "regex:^[^q]"]  # all kernels but `quiet`, which settles the L2 cache
ALONE = "nothing"  # the empty kernel

# A launch that is repeated finds other caches than its first run, and each tool restores memory in its own way. Names that
# depend on time and caches are therefore asked for in groups of one pass. A name that takes several by itself is read in as
# many runs of the program. The rest depends on the program alone and may be repeated.
VARIES = re.compile(r"cycle|per_second|pct_of_peak|duration|active|hit|miss|dram|lts__|xbar|stalled|conflict|lsu_wavefronts"
                    r"|issue_|inst_issued|eligible|writeback")


def depends_on_time(row):
    return any(VARIES.search(metric) and (not metric.startswith("smsp__sass") or "peak" in metric) for metric in row.metrics())


def run(command, may_fail=False):
    """How it ended; None where it may fail and does."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0 and may_fail:
        print(f"{command[0]}: {(done.stdout + done.stderr).strip()[-300:]}")
        return None
    if done.returncode != 0:
        sys.exit(f"nvprof_names: {' '.join(command)[:400]} ended with {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done


# ---- one run of each tool: the most passes of a kernel, and kernel → name → value; None is no number

def of_warpmeter(program, kernels, rows, work, replay):
    database = f"{work}/run.db"
    if os.path.exists(database):
        os.unlink(database)
    done = run([program, "profile", "-b", "cupti", "--replay", replay, *CHOICE, "-m", ",".join(row.name for row in rows),
                "--db", database, kernels], may_fail=rows[0].is_of_link())
    if done is None:
        return 0, {}
    text = run([program, "query", "--db", database, "--format", "csv",
                "SELECT variant, metric, value FROM results ORDER BY launch_id"]).stdout
    values = collections.defaultdict(dict)
    for row in csv.DictReader(io.StringIO(text)):
        values[row["variant"]][row["metric"]] = number(row["value"])
    passes = re.findall(r"counters? in (\d+) (?:pass|run)", done.stderr)
    return max(map(int, passes), default=0), {kernel: {row.name: found.get(row.name) for row in rows}
                                              for kernel, found in values.items()}


def of_ncu(kernels, rows, work, replay):
    log = f"{work}/ncu.csv"
    pathlib.Path(log).unlink(missing_ok=True)
    metrics = sorted({metric for row in rows for metric in row.metrics()})
    command = ["ncu", *AS_IT_IS, *CHOICE, "--replay-mode", replay, "--log-file", log, "--metrics", ",".join(metrics), kernels]
    if run(command, may_fail=rows[0].is_of_link()) is None:
        return 0, {}  # a virtual machine may hide the counters of links from ncu
    text = pathlib.Path(log).read_text(encoding="utf-8", errors="replace")
    values = {}
    for row in csv.DictReader(line for line in text.splitlines() if line.startswith('"')):
        if row.get("ID"):  # the row of units has none
            found = {metric: number(row.get(metric)) for metric in metrics}
            values[row["Kernel Name"].partition("(")[0]] = {r.name: r.value(found) for r in rows}
    return max(map(int, re.findall(r"- (\d+) pass", text)), default=0), values


# ---- comparison

def is_near(ours, theirs, least, rounding):
    """Several runs of each: between their ranges lies no more than `least` of the larger value."""
    slack = max(least * max(map(abs, ours + theirs)), rounding)
    return min(ours) - slack <= max(theirs) and min(theirs) - slack <= max(ours)


class Verdict:
    def __init__(self, row):
        self.row, self.kernels, self.equal, self.near, self.other = row, 0, 0, 0, []
        self.not_zero = 0

    def is_count(self):
        return FORMS.get(self.row.name, "count") == "count"

    def add(self, kernel, ours, theirs):
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
        else:
            self.other.append([kernel, ours, theirs])

    def agrees(self, ours, theirs):
        is_fixed = self.is_count() and not depends_on_time(self.row)
        return is_near(ours, theirs, 1e-9 if is_fixed else TOLERANCE, HALF_DIGIT * self.row.factor * len(self.row.metrics()))

    def agreed(self):
        return self.equal + self.near

    def record(self):
        entry = {"kernels": self.kernels, "not_zero": self.not_zero, "equal": self.equal, "near": self.near}
        return entry | ({"other": self.other} if self.other else {})


# ---- groups

class Group:
    """Names that each tool is asked for at once."""

    def __init__(self, rows, replay="kernel"):
        self.rows, self.replay = rows, replay
        self.runs = {"warpmeter": [], "ncu": []}

    def measure(self, program, kernels, work):
        begin = time.monotonic()
        passes = []
        for tool, of in (("warpmeter", lambda *how: of_warpmeter(program, *how)), ("ncu", of_ncu)):
            most, values = of(kernels, self.rows, work, self.replay)
            passes.append(f"{tool} {most}")
            self.runs[tool].append(values)
        print(f"{len(self.rows):3} names, {self.replay} replay, passes: {', '.join(passes)}; {time.monotonic() - begin:.1f} s: "
              f"{self.rows[0].name}…", flush=True)

    def verdicts(self):
        ours, theirs = self.runs["warpmeter"], self.runs["ncu"]
        found = []
        for row in self.rows:
            def of(runs, kernel, name=row.name):
                return [values.get(kernel, {}).get(name) for values in runs]

            verdict = Verdict(row)
            for kernel in sorted((set(ours[0]) | set(theirs[0])) - {ALONE}):
                verdict.add(kernel, of(ours, kernel), of(theirs, kernel))
            found.append(verdict)
        return found

    def differs(self):
        return any(verdict.other for verdict in self.verdicts())


def groups(rows):
    """Those of one pass; what depends on the program alone; links; what takes several passes by itself."""
    by_name = {row.name: row for row in rows if depends_on_time(row) and not row.is_of_link()}
    found = [Group([by_name.pop(name) for name in names if name in by_name])
             for names in json.loads(GROUPS.read_text(encoding="utf-8"))]
    found.append(Group([row for row in rows if not depends_on_time(row) and not row.is_of_link()]))
    found.append(Group([row for row in rows if row.is_of_link()]))
    found.append(Group(list(by_name.values()), "application"))  # takes the longest
    return [group for group in found if group.rows]


def write_groups(program):
    """Each name goes into the first group that still takes one pass with it, for both tools' counters."""
    def is_one_pass(rows):
        ours, theirs = [row.name for row in rows], sorted({metric for row in rows for metric in row.metrics()})
        return all(re.search(r"^GH100 +\d+ +1 ", run([program, "profile", "-m", ",".join(names), "--list-passes"]).stdout, re.M)
                   for names in (ours, theirs))

    found = []
    for row in ROWS:
        if row.is_of_link() or not depends_on_time(row) or not is_one_pass([row]):
            continue
        home = next((group for group in found if is_one_pass([*group, row])), None)
        if home is None:
            found.append([row])
        else:
            home.append(row)
    lines = ",\n".join(json.dumps([row.name for row in group]) for group in found)
    GROUPS.write_text(f"[{lines}]\n", encoding="utf-8")
    print(f"{sum(map(len, found))} names in {len(found)} groups of one pass")


def in_lines(result):
    """JSON with a line a name."""
    head = {key: value for key, value in result.items() if key != "names"}
    lines = [f'  {json.dumps(name)}: {json.dumps(entry)}' for name, entry in result["names"].items()]
    return json.dumps(head)[:-1] + ',\n "names": {\n' + ",\n".join(lines) + "\n }}\n"


def device():
    fields = run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader", "-i", "0"]).stdout.strip().split(", ")
    ncu = [line for line in run(["ncu", "--version"]).stdout.splitlines() if line.startswith("Version")]
    return {"device": fields[0], "driver": fields[1], "ncu": ncu[0].split()[1] if ncu else "",
            "date": datetime.date.today().isoformat()}


def write_record(record, measured, verdicts):
    result = device() | {"kernels": len(set(measured[0].runs["ncu"][0]) - {ALONE}),
                         "names": {verdict.row.name: verdict.record() for verdict in verdicts}}
    pathlib.Path(record).write_text(in_lines(result), encoding="utf-8")
    values = [{"replay": group.replay} | group.runs for group in measured]
    pathlib.Path(record).with_suffix(".values.json").write_text(json.dumps(values), encoding="utf-8")


def measure(program, kernels, work, record, seconds):
    """All groups once; those in which something differs again, as long as no more than `seconds` have gone."""
    begin = time.monotonic()
    measured = groups(ROWS)
    order = {row.name: index for index, row in enumerate(ROWS)}
    verdicts = []
    for turn in range(RUNS):
        for group in measured:
            if turn > 0 and (time.monotonic() - begin > seconds or not group.differs()):
                continue
            group.measure(program, kernels, work)
            ours, theirs = (set(group.runs[tool][-1]) for tool in ("warpmeter", "ncu"))
            if ours != theirs and not group.rows[0].is_of_link():
                sys.exit(f"nvprof_names: other kernels: {sorted(ours ^ theirs)}")
        verdicts = sorted((each for group in measured for each in group.verdicts()), key=lambda each: order[each.row.name])
        write_record(record, measured, verdicts)
    return verdicts


def main():
    if sys.argv[1] == "--groups":
        return write_groups(sys.argv[2])
    program, kernels, work, record, seconds = sys.argv[1:]
    verdicts = measure(program, kernels, work, record, float(seconds))
    for verdict in verdicts:
        for kernel, ours, theirs in verdict.other:
            print(f"{verdict.row.name} of {kernel}: warpmeter {ours}, ncu {theirs}")
    found = [verdict for verdict in verdicts if verdict.kernels]
    for verdict in found:
        if verdict.other:
            print(f"{verdict.row.name:40} {verdict.agreed():3} of {verdict.kernels}")
    print(f"{len(found)} names: {sum(verdict.agreed() for verdict in found)} of {sum(verdict.kernels for verdict in found)} values "
          f"agree, {sum(verdict.equal for verdict in found)} to the last digit; "
          f"{sum(not verdict.other for verdict in found)} names agree on every kernel")
    return 1 if any(verdict.other for verdict in found) else 0


if __name__ == "__main__":
    sys.exit(main())
