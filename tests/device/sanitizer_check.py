# SPDX-License-Identifier: MIT
"""Runs every kernel of the corpus under each tool and writes who found what; see sanitizer_check.sh."""

import collections
import concurrent.futures
import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile

from processes import run_whole

TOOLS = ["memcheck", "racecheck", "initcheck", "synccheck"]
AT_ONCE = 8
LIMIT = 60  # seconds a process
FOUND_EXIT = 86  # the exit code of a tool that found something

# The result of a tool for a kernel: FOUND and SILENT count; the others say why there is neither.
FOUND, SILENT = "found", "–"
BESIDE = "beside the mark"  # warpmeter reports what no comment allows
NOT_RUN, NO_END, LAUNCH_FAILS = "not run", "does not end", "launch fails"

source, build, folder = sys.argv[1:4]
launcher = os.path.join(build, "corpus_launcher")
warpmeter = os.path.join(build, "warpmeter")


def run(command, errors=subprocess.STDOUT):
    """Its exit code (None: it did not end) and what it said; `errors`: where standard error goes."""
    return run_whole(command, LIMIT, stderr=errors)[:2]


def wanted_options(tool, known):
    """Those of the options that this release of the tool has."""
    options = {"memcheck": [("--leak-check", "no"), ("--padding", "512")],
               "racecheck": [("--racecheck-report", "all"), ("--print-level", "warn")]}.get(tool, [])
    options = options + [("--show-backtrace", "no"), ("--print-limit", "1000")]
    return [word for option in options if option[0] in known for word in option]


def errors_in(tool, output):
    """How many mistakes the tool's summary names; None: there is no summary."""
    if tool == "racecheck":
        summaries = re.findall(r"RACECHECK SUMMARY: (\d+) hazards? displayed \((\d+) errors?, (\d+) warnings?\)", output)
        return sum(int(errors) + int(warnings) for _, errors, warnings in summaries) if summaries else None
    summaries = re.findall(r"ERROR SUMMARY: (\d+) errors?", output)
    failed_calls = len(re.findall(r"^=+ Program hit ", output, re.MULTILINE))
    return max(sum(map(int, summaries)) - failed_calls, 0) if summaries else None


def under_tool(tool, kernel, known):
    """The verdict, and the log."""
    command = ["compute-sanitizer", "--tool", tool, "--error-exitcode", str(FOUND_EXIT), *wanted_options(tool, known),
               launcher, source, build, kernel["file"], kernel["kernel"], kernel["fill"]]
    code, output = run(command)
    errors = errors_in(tool, output)
    log = f"== {kernel['kernel']} under {tool}: exit code {code}, {errors} errors\n{output}\n"
    if errors:
        return FOUND, log
    if code is None or "the kernel has not ended" in output:
        return NO_END, log
    # The launcher's own sentence: the program under the tool, not the tool, failed.
    if re.search(r"^corpus_launcher: ", output, re.MULTILINE):
        return LAUNCH_FAILS, log
    if errors is None or code not in (0, FOUND_EXIT):
        said = [line.strip("= \t") for line in output.splitlines() if line.strip("= \t")]
        return f"failed ({said[-1][:60] if said else 'without a word'})", log
    return SILENT, log


def by_warpmeter(kernel):
    with tempfile.TemporaryDirectory() as place:
        spec = os.path.join(place, "spec.json")
        with open(spec, "w", encoding="utf-8") as stream:
            json.dump(kernel["spec"], stream)
        with open(os.path.join(place, "errors"), "w+", encoding="utf-8", errors="replace") as errors:
            code, output = run([warpmeter, "model", kernel["ptx"], "--spec", spec, "--check", "--format", "csv", "-q"],
                               errors)
            errors.seek(0)
            log = f"== {kernel['kernel']} under warpmeter: exit code {code}\n{output}{errors.read()}\n"
    if code not in (0, 6):
        return NO_END if code is None else "failed", log
    found = False
    for row in csv.DictReader(io.StringIO(output)):
        place, _, line = row["place"].rpartition(":")
        is_here = os.path.basename(place) == kernel["file"] + ".cu"
        mark = [int(line) if is_here and line.isdigit() else 0, row["finding"]]
        if mark in kernel["required"]:
            found = True
        elif mark not in kernel["allowed"] and mark[1] != "equal writes":
            return f"{BESIDE} ({mark[1]}, line {line})", log
    return FOUND if found else SILENT, log


def kinds_of(kernel):
    return ", ".join(sorted({kind for _, kind in kernel["required"]})) or "none"


def write_table(kernels, verdicts):
    columns = ["warpmeter", *TOOLS]
    lines = [f"| kernel | mistake | {' | '.join(columns)} |", "|" + "---|" * (len(columns) + 2)]
    for kernel in kernels:
        cells = []
        for column in columns:
            verdict = verdicts[kernel["kernel"], column]
            is_alarm = not kernel["planted"] and (verdict == FOUND or verdict.startswith(BESIDE))
            cells.append(verdict.replace(FOUND, "false alarm").replace(BESIDE, "false alarm") if is_alarm else verdict)
        lines.append(f"| {kernel['kernel']} | {kinds_of(kernel)} | {' | '.join(cells)} |".replace("<", "\\<"))
    with open(os.path.join(folder, "sanitizer_check.md"), "w", encoding="utf-8") as stream:
        stream.write("\n".join(lines) + "\n\n" + "\n".join(summary(kernels, verdicts)) + "\n")


def summary(kernels, verdicts):
    """A line a column: found of the planted ones, false alarms of the correct ones, and what stayed open."""
    planted = [kernel["kernel"] for kernel in kernels if kernel["planted"]]
    correct = [kernel["kernel"] for kernel in kernels if not kernel["planted"]]
    lines = ["| who | found of planted | false alarms of correct | without an answer |", "|---|---:|---:|---|"]

    def line(name, found, alarms, others):
        said = ", ".join(f"{count} {what}" for what, count in sorted(others.items())) or "–"
        lines.append(f"| {name} | {found} of {len(planted)} | {alarms} of {len(correct)} | {said} |")

    for column in ["warpmeter", *TOOLS]:
        of = {name: verdicts[name, column] for name in planted + correct}
        alarms = sum(of[name] == FOUND or of[name].startswith(BESIDE) for name in correct)
        others = collections.Counter(of[name].split(" (")[0] for name in of if of[name] not in (FOUND, SILENT)
                                     and not (name in correct and of[name].startswith(BESIDE)))
        line(column, sum(of[name] == FOUND for name in planted), alarms, others)
    by_any = [any(verdicts[name, tool] == FOUND for tool in TOOLS) for name in planted]
    alarms = [any(verdicts[name, tool] == FOUND for tool in TOOLS) for name in correct]
    line("the four tools together", sum(by_any), sum(alarms), {})
    return lines


def main():
    listed = subprocess.run([launcher, source, build, "--list"], capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        sys.exit(f"sanitizer_check.py: {listed.stderr.strip()}")
    kernels = json.loads(listed.stdout)
    known = subprocess.run(["compute-sanitizer", "--help"], capture_output=True, text=True, check=False).stdout
    verdicts, logs = {}, {}
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        jobs = {pool.submit(by_warpmeter, kernel): (kernel["kernel"], "warpmeter") for kernel in kernels}
        # Those that may hang first, so that nobody waits for them at the end.
        for kernel in sorted(kernels, key=lambda kernel: not kernel["may_hang"]):
            for tool in TOOLS:
                key = (kernel["kernel"], tool)
                if kernel["model_only"]:
                    verdicts[key] = NOT_RUN
                else:
                    jobs[pool.submit(under_tool, tool, kernel, known)] = key
        for done, job in enumerate(concurrent.futures.as_completed(jobs), 1):
            verdicts[jobs[job]], logs[jobs[job]] = job.result()
            if done % 100 == 0:
                print(f"{done} of {len(jobs)} runs", flush=True)
    with open(os.path.join(folder, "sanitizer_check.log"), "w", encoding="utf-8") as stream:
        stream.writelines(logs[key] for key in sorted(logs))
    write_table(kernels, verdicts)
    wrong = [kernel["kernel"] for kernel in kernels
             if verdicts[kernel["kernel"], "warpmeter"] != (FOUND if kernel["planted"] else SILENT)]
    for name in wrong:
        print(f"warpmeter: {name}: {verdicts[name, 'warpmeter'].replace(SILENT, 'missed')}")
    print("\n".join(summary(kernels, verdicts)))
    return 1 if wrong else 0


sys.exit(main())
