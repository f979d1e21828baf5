#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The cost of counting public programs without a GPU: the processor's seconds of each, uncounted and counted.

    tests/bench/public_cost.py FOLDER BUILD [--earlier BUILD] [--only TEXT] [--every N] [--timeout SECONDS]

FOLDER holds the programs as tests/public/programs.py wants them, BUILD an optimised warpmeter, --earlier one to compare
counted runs with. Each program runs under `profile` without a metric, with one, and with one by the earlier warpmeter.
The program's own work on the host is part of all of them. The table has those that take half a second
uncounted, or five seconds counted; the worst ratios first. Exit code: 1 when one counts in more than 8 times the
uncounted time."""

import argparse
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/public"))
import programs  # noqa: E402

METRIC = "shared_load_transactions_per_request"
MOST_RATIO = 8
LONG_UNCOUNTED, LONG_COUNTED = 0.5, 5


def seconds(warpmeter, program, folder, timeout, *options):
    """The processor's seconds of warpmeter and the program; None when it was cut off."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as work:
        command = [warpmeter, "profile", "-b", "model", "-q", "--db", f"{work}/w.db", *options, "--",
                   *programs.command_of(folder.resolve(), program)]
        if programs.run(command, program, folder.resolve(), timeout)[0] is None:
            return None
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def text_of(value):
    return "cut off" if value is None else f"{value:.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--earlier", type=pathlib.Path)
    parser.add_argument("--only", default="", metavar="TEXT", help="programs whose repository and name hold it")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every N-th program")
    parser.add_argument("--timeout", type=float, default=40, metavar="SECONDS")
    options = parser.parse_args()
    chosen = [program for program in programs.table(programs.HERE / "programs.csv")
              if options.only in programs.name_of(program) and programs.path_of(options.folder, program).is_file()]
    rows = []
    for program in chosen[::options.every]:
        def cost(build, *words, program=program):
            return seconds(str(build.resolve() / "warpmeter"), program, options.folder, options.timeout, *words)

        uncounted, counted = cost(options.build), cost(options.build, "-m", METRIC)
        if (uncounted or LONG_UNCOUNTED) < LONG_UNCOUNTED and (counted or LONG_COUNTED) < LONG_COUNTED:
            continue
        earlier = cost(options.earlier, "-m", METRIC) if options.earlier else None
        rows.append((programs.name_of(program), uncounted, counted, earlier))
        shown = rows[-1][1:] if options.earlier else rows[-1][1:3]
        print("  ".join([*map(text_of, shown), rows[-1][0]]), file=sys.stderr, flush=True)
    both = [(counted / uncounted, name) for name, uncounted, counted, _ in rows if uncounted and counted]
    print(f"{len(chosen[::options.every])} programs, {len(rows)} of them long; cut off after {options.timeout:g} s: "
          f"{sum(row[1] is None for row in rows)} uncounted, {sum(row[2] is None for row in rows)} counted"
          + (f", {sum(row[3] is None for row in rows)} counted by the earlier warpmeter" if options.earlier else ""))
    gains = [earlier / counted for _, _, counted, earlier in rows if counted and earlier]
    if gains:
        print(f"the earlier warpmeter's time to ours: median {statistics.median(gains):.2f}, least {min(gains):.2f}")
    for ratio, name in sorted(both, reverse=True)[:10]:
        print(f"{ratio:6.2f} times the uncounted time: {name}")
    return 1 if both and max(both)[0] > MOST_RATIO else 0


if __name__ == "__main__":
    sys.exit(main())
