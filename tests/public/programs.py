#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs public CUDA programs without a GPU and holds what they print, and each count, to what a GPU gave.

    tests/public/programs.py FOLDER [--build BUILD]      without a GPU, against the recording
    tests/public/programs.py FOLDER --record FILE        on a GPU, under Nsight Compute: writes a recording

FOLDER holds the programs as they were built: OWNER/NAME/PROGRAM for each row of programs.csv, which names the public
repository, its commit and the source (PROGRAM is without `.cu`), with nvcc's defaults. Each runs in its own folder, so
what it reads has to lie where the repository has it. A program that is not in FOLDER is left out, and said.

A line a program, a table at the end. Exit code 0, or 1 when something differs (or does not end) that programs.csv does
not name with its reason, 2 for a wrong call, 4 for --record without a GPU. Needs python3; --record also ncu.
"""

import argparse
import collections
import concurrent.futures
import csv
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import counting
import output

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
NOTHING_LAUNCHED = 3  # warpmeter's exit code for a program that ended well
Program = collections.namedtuple("Program", "repository commit program arguments input differs reason")


def refuse(text, code=2):
    print(f"programs.py: {text}", file=sys.stderr)
    sys.exit(code)


def table(path):
    with open(path, encoding="utf-8", newline="") as file:
        return [Program(**row) for row in csv.DictReader(file)]


def name_of(program):
    return f"{program.repository} {program.program}" + (f" {program.arguments}" if program.arguments else "")


def path_of(folder, program):
    return folder / program.repository / program.program.removesuffix(".cu")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="the built programs: OWNER/NAME/PROGRAM")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="where warpmeter is")
    parser.add_argument("--record", type=pathlib.Path, metavar="FILE", help="add what this GPU gives to FILE")
    parser.add_argument("--recorded", type=pathlib.Path, default=HERE / "recorded.jsonl", metavar="FILE")
    parser.add_argument("--table", type=pathlib.Path, default=HERE / "programs.csv", metavar="FILE")
    parser.add_argument("--only", default="", metavar="TEXT", help="programs whose repository and name hold it")
    parser.add_argument("--part", default="1/1", metavar="I/N", help="the I-th of N parts of the table")
    parser.add_argument("--jobs", type=int, default=1, help="programs at a time (ncu always runs one)")
    parser.add_argument("--timeout", type=float, default=60, metavar="SECONDS", help="for a program")
    parser.add_argument("--within", type=float, default=0, metavar="SECONDS",
                        help="begin no program after that; 0: no such limit")
    return parser.parse_args()


def run(command, program, folder, timeout):
    """(exit code or None when it was ended after `timeout`, standard output, standard error, seconds)."""
    begin = time.monotonic()
    child = subprocess.Popen(command, cwd=path_of(folder, program).parent, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    try:
        out, err = child.communicate(program.input.encode().decode("unicode_escape").encode(), timeout)
        code = child.returncode
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)  # the program too, not only who watches it
        out, err = child.communicate()
        code = None
    text = [stream.decode("utf-8", "surrogateescape") for stream in (out, err)]
    return code, *text, time.monotonic() - begin


def command_of(folder, program):
    return [str(path_of(folder, program)), *program.arguments.split()]


# ---- on a GPU

def record(options, programs, counters):
    if not shutil.which("nvidia-smi") or subprocess.run(["nvidia-smi", "-L"], capture_output=True, check=False).returncode:
        refuse("there is no GPU here", 4)
    if not shutil.which("ncu"):
        refuse("ncu is not in PATH")
    begin = time.monotonic()
    known = {line["program"] for line in counting.lines_of(options.record)}
    programs = [program for program in programs if name_of(program) not in known]

    def alone(program):
        return [run(command_of(options.folder, program), program, options.folder, options.timeout) for _ in range(2)]

    # Alone, many at a time; then counted, one at a time, when nothing else is on the GPU.
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as executor:
        outputs = list(executor.map(alone, programs))
    print(f"{len(programs)} programs run alone, {time.monotonic() - begin:.0f} s", flush=True)
    with open(options.record, "a", encoding="utf-8") as file:
        if not known:
            print(json.dumps({"counters": counters, **counting.device()}), file=file, flush=True)
        for i, (program, (first, second)) in enumerate(zip(programs, outputs)):
            if options.within and time.monotonic() - begin > options.within:
                print(f"{len(programs) - i} programs are left for another call: {options.within:.0f} s are over")
                return 0
            entry = {"program": name_of(program), "code": counting.device_code(path_of(options.folder, program)),
                     "exit": first[0]}
            lines, again = (output.normalised(result[1]) for result in (first, second))
            entry |= output.fingerprint(lines)
            entry["varies"] = lines != again or first[0] != second[0]
            with tempfile.TemporaryDirectory() as work:
                log = os.path.join(work, "log")
                result = run(counting.ncu(counters, log) + command_of(options.folder, program), program,
                             options.folder, options.timeout)
                launches = counting.shortened(counting.of_ncu(log, counters)) if result[0] is not None else None
            entry["launches"] = launches
            print(json.dumps(entry, separators=(",", ":")), file=file, flush=True)
            print(f"{'cut off' if launches is None else sum(times for times, *_ in launches)} launches, "
                  f"exit {first[0]}, {result[3]:.1f} s, {name_of(program)}"
                  + (", prints something else each time" if entry["varies"] else ""), flush=True)
    return 0


# ---- without one

def compare(options, program, counters, recorded):
    """One program on the model: what it printed ("same", "order", …), Counts, seconds, and what to say."""
    with tempfile.TemporaryDirectory() as work:
        database = os.path.join(work, "counts.db")
        code, out, err, seconds = run(
            [str(options.build / "warpmeter"), "profile", "-b", "model", "-q", "--db", database, "-m",
             ",".join(counters), "-c", str(counting.LAUNCHES), "--", *command_of(options.folder, program)],
            program, options.folder, options.timeout)
        launches = counting.of_warpmeter(options.build / "warpmeter", database, counters)
    if code is None:
        return "not ended", counting.Counts(), seconds, []
    if recorded is None:
        counts = counting.compared(launches, None, counters)
        return "not recorded", counts, seconds, [f"exit {code} {err.strip()[-150:]}"] if code else []
    notes = []
    if recorded["code"] != counting.device_code(path_of(options.folder, program)):
        notes.append("its device code is not what was recorded: built otherwise, or from another commit")
    printed, why = output.difference(recorded, output.normalised(out))
    if printed != "same" and recorded["varies"]:
        printed, why = "varies", "the GPU prints something else each time"
    if code == NOTHING_LAUNCHED and not recorded["launches"]:
        code = 0
    if code != recorded["exit"] and (recorded["exit"] == 0 or code == 0):
        printed, why = "output", f"exit {code}, recorded {recorded['exit']}: {err.strip()[-150:]}"
    counts = counting.compared(launches, recorded["launches"], counters)
    return printed, counts, seconds, notes + [why] * (why != "") + counts.differences[:3]


def unexplained(program, printed, counts):
    """The differences that the table does not name."""
    named = program.differs.split("; ")
    found = {printed} - {"same", "not recorded"} | ({"counts"} if counts.different else set())
    return sorted(found - set(named))


def without_gpu(options, programs, recordings, counters):
    if not os.access(options.build / "warpmeter", os.X_OK):
        refuse(f"no warpmeter in {options.build}")
    begin = time.monotonic()
    failed = 0
    summary = collections.defaultdict(collections.Counter)

    def one(program):
        if options.within and time.monotonic() - begin > options.within:
            return None
        return compare(options, program, counters, recordings.get(name_of(program)))

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as executor:
        for program, result in zip(programs, executor.map(one, programs)):
            if result is None:
                summary[program.repository]["left out"] += 1
                continue
            printed, counts, seconds, notes = result
            wrong = unexplained(program, printed, counts)
            failed += bool(wrong)
            of = summary[program.repository]
            of.update({printed: 1, "exact": counts.exact, "equal": counts.equal, "different": counts.different,
                       "not exact": counts.not_exact, "of it equal": counts.not_exact_equal,
                       "in an error": counts.failed})
            print(f"{'FAIL' if wrong else 'ok  '} {printed:12} {counts.exact:4} exact, {counts.equal:4} equal, "
                  f"{counts.different:3} different; {counts.not_exact:3} not exact {seconds:6.1f} s  "
                  f"{name_of(program)}")
            for note in notes:
                print(f"       {note}")
            if program.reason and (printed != "same" or counts.different):
                print(f"       known: {program.reason}")
            sys.stdout.flush()
    print_summary(summary)
    print(f"{failed} of {len(programs)} programs differ" if failed else f"all {len(programs)} programs hold")
    return 1 if failed else 0


def print_summary(summary):
    columns = ["same", "order", "varies", "output", "not ended", "not recorded", "left out",
               "exact", "equal", "different", "not exact", "of it equal", "in an error"]
    columns = [column for column in columns if any(of[column] for of in summary.values())]
    width = max((len(repository) for repository in summary), default=0)
    total = collections.Counter()
    print(f"\n{'repository':{width}} " + " ".join(f"{column:>12}" for column in columns))
    for repository, of in sorted(summary.items()):
        total.update(of)
        print(f"{repository:{width}} " + " ".join(f"{of[column]:12,}" for column in columns))
    print(f"{'together':{width}} " + " ".join(f"{total[column]:12,}" for column in columns))


def main():
    options = arguments()
    options.folder, options.build = options.folder.resolve(), options.build.resolve()
    part, of = (int(number) for number in options.part.split("/"))
    programs = [program for program in table(options.table) if options.only in name_of(program)][part - 1::of]
    here = [program for program in programs if path_of(options.folder, program).is_file()]
    for program in programs:
        if program not in here:
            print(f"not in {options.folder}: {name_of(program)}")
    if not here:
        refuse(f"none of the {len(programs)} programs is in {options.folder}")
    if options.record:
        return record(options, here, counting.counters())
    recordings = {line["program"]: line for line in counting.lines_of(options.recorded)}
    return without_gpu(options, here, recordings, list(counting.counters()))


if __name__ == "__main__":
    sys.exit(main())
