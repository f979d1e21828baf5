#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the model's instruction counts of public programs to a GPU's.

    tests/public/instructions.py record FOLDER FILE                 on a GPU: each program twice, under CUPTI
    tests/public/instructions.py record FOLDER FILE --backend model      without one: once, on the model
    tests/public/instructions.py compare GPU_FILE MODEL_FILE

FOLDER holds the programs as programs.py wants them, built for the GPU's own code and with the lines that the model reads
it by: `nvcc -lineinfo -gencode arch=compute_90,code=[sm_90,compute_90]`. FILE is a CSV: a row for each of a program's
first launches. A cell is a number or, where the model does not call it exact, its grade and the reason. A program that
FILE holds is not run again: a recording can be made in parts (--within).
compare pairs launches of the same kernel, grid and block in their order. It leaves out those that the GPU counted
differently the second time. Exit code 0, or 1 when an exact value differs.
"""

import argparse
import collections
import csv
import io
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import counting
import programs

with open(programs.ROOT / "tests/golden/h200_instruction_counts.csv", encoding="utf-8") as golden:
    METRICS = ["inst_executed", "thread_instructions", *next(csv.reader(golden))[1:]]
HEAD = ["program", "code", "run", "launch", "kernel", "grid", "block"]
TWICE = '"$@" < "$0"; "$@" < "$0"'  # in one session: a start of warpmeter on a GPU takes a second


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    modes = parser.add_subparsers(dest="mode", required=True)
    record = modes.add_parser("record")
    record.add_argument("folder", type=pathlib.Path, help="the built programs: OWNER/NAME/PROGRAM")
    record.add_argument("file", type=pathlib.Path)
    record.add_argument("--backend", choices=("cupti", "model"), default="cupti")
    record.add_argument("--build", type=pathlib.Path, default=programs.ROOT / "build/release", help="where warpmeter is")
    record.add_argument("--timeout", type=float, default=10, metavar="SECONDS", help="for a program")
    record.add_argument("--within", type=float, default=0, metavar="SECONDS", help="begin no program after that")
    compare = modes.add_parser("compare")
    compare.add_argument("gpu", type=pathlib.Path)
    compare.add_argument("model", type=pathlib.Path)
    return parser.parse_args()


def cell(row):
    number = re.sub(r"\.0$", "", row["value"] or "")
    if row["grade"] in ("measured", "exact") and number:
        return number
    return f"{row['grade']} {number}".strip() + f": {row['reason']}"


def launches_of(warpmeter, database):
    """[(kernel, grid, block, cells)] in the order of launches. One without figures has its reason in each cell."""
    done = subprocess.run(
        [str(warpmeter), "query", "--db", database, "--format", "csv",
         "SELECT l.launch_id, l.kernel, l.grid, l.block, l.outcome, l.reason AS why, r.metric, r.value, r.grade, r.reason"
         " FROM launches l LEFT JOIN results r USING (launch_id) ORDER BY l.launch_id"],
        capture_output=True, text=True, check=False)
    launches = {}
    for row in csv.DictReader(io.StringIO(done.stdout)):
        launch = launches.setdefault(row["launch_id"], (row["kernel"], row["grid"], row["block"],
                                                        [f"{row['outcome']}: {row['why']}"] * len(METRICS)))
        if row["metric"] in METRICS:
            launch[3][METRICS.index(row["metric"])] = cell(row)
    return list(launches.values())


def counted(options, program):
    """The launches of each time that the program ran, and what is to say."""
    times = 1 if options.backend == "model" else 2
    with tempfile.TemporaryDirectory() as work:
        database, given = f"{work}/counts.db", f"{work}/input"
        pathlib.Path(given).write_bytes(program.input.encode().decode("unicode_escape").encode())
        shell = ["sh", "-c", TWICE, given] if times == 2 else []
        code, _, err, seconds = programs.run(
            [str(options.build / "warpmeter"), "profile", "-b", options.backend, "-q", "--db", database, "-m",
             ",".join(METRICS), "-c", str(counting.LAUNCHES), "--", *shell,
             *programs.command_of(options.folder, program)],
            program, options.folder, options.timeout * times)
        launches = launches_of(options.build / "warpmeter", database)
    said = "cut off" if code is None else f"exit {code}" + (f" {err.strip()[-150:]}" if code else "")
    if code is None or len(launches) % times:
        return [], f"{said}, {len(launches)} launches", seconds
    each = len(launches) // times
    return [launches[:each], launches[each:]][:times], said, seconds


def record(options):
    options.folder, options.build = options.folder.resolve(), options.build.resolve()
    known = {row["program"] for row in rows_of(options.file)} if options.file.exists() else set()
    begin = time.monotonic()
    with open(options.file, "a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        if not known:
            writer.writerow(HEAD + METRICS)
        for program in programs.table(programs.HERE / "programs.csv"):
            name, path = programs.name_of(program), programs.path_of(options.folder, program)
            if name in known or not path.is_file():
                continue
            if options.within and time.monotonic() - begin > options.within:
                print(f"{options.within:.0f} s are over: call it again for the rest")
                return
            runs, said, seconds = counted(options, program)
            print(f"{len(runs[0]) if runs else 0:3} launches, {said}, {seconds:.1f} s, {name}", flush=True)
            code = counting.device_code(path)
            writer.writerows([name, code, i, j, *launch, *cells] for i, launches in enumerate(runs, 1)
                             for j, (*launch, cells) in enumerate(launches, 1))
            if not any(runs):
                writer.writerow([name, code, 0, 0, said])  # nothing to compare
            file.flush()


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def by_program(path):
    """Program → run → its launches."""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in rows_of(path):
        found[row["program"]][row["run"]].append(row)
    return found


def kind(row):
    return row["code"], row["kernel"], row["grid"], row["block"]


def number(text):
    """None for a cell that says why it has none."""
    return round(float(text), 6) if re.fullmatch(r"[\d.]+(e[+-]?\d+)?", text) else None


def reason(text):
    """Why a cell has no exact value, without what it says of one place alone."""
    return re.sub(r" \(line \d+ of the PTX\)|: kernel '.*", "", text.split(": ", 1)[-1])


def compared(name, gpu, model, total, reasons):
    """Adds a program's launches to the totals, and says each difference."""
    theirs = collections.defaultdict(collections.deque)
    for first, second in zip(gpu["1"], gpu["2"]):
        same = all(first[column] == second[column] for column in HEAD[4:] + METRICS)
        theirs[kind(first)].append(first if same else None)
    for launch in model["1"]:
        total["launches"] += 1
        why = {metric: reason(launch[metric]) for metric in METRICS if number(launch[metric]) is None}
        reasons["any value"].update(why.values())
        reasons["inst_executed"].update([why["inst_executed"]] if "inst_executed" in why else [])
        if not theirs[kind(launch)]:
            total["launches that the GPU did not count"] += 1
            print(f"not counted on the GPU: {name} {launch['kernel']} {launch['grid']} {launch['block']}")
            continue
        other = theirs[kind(launch)].popleft()
        if other is None:
            total["launches that the GPU counts differently each time"] += 1
            print(f"varies on the GPU: {name} {launch['kernel']}")
            continue
        total["launches compared"] += 1
        for metric in METRICS:
            mine, recorded = number(launch[metric]), number(other[metric])
            if mine is None or recorded is None:
                total["values not exact" if mine is None else "values that the GPU lacks"] += 1
                continue
            total["values exact and " + ("equal" if mine == recorded else "different")] += 1
            if mine != recorded:
                print(f"DIFFERENT {metric} {launch[metric]}, GPU {other[metric]}: {name} {launch['kernel']}")


def compare(options):
    gpu, model = by_program(options.gpu), by_program(options.model)
    total, reasons = collections.Counter(), collections.defaultdict(collections.Counter)
    for name, runs in model.items():
        total.update({"programs": 1, "programs with launches": bool(runs["1"])})
        compared(name, gpu[name], runs, total, reasons)
    for what, times in total.items():
        print(f"{times:9,} {what}")
    share = 100 - 100 * reasons["inst_executed"].total() / max(total["launches"], 1)
    print(f"inst_executed is exact for {share:.1f} % of the launches of the model.")
    for what, counts in reasons.items():
        print(f"{what} that is not exact:", *(f"{times:9,} {why}" for why, times in counts.most_common()), sep="\n")
    return 1 if total["values exact and different"] else 0


if __name__ == "__main__":
    given = arguments()
    sys.exit(compare(given) if given.mode == "compare" else record(given))
