# SPDX-License-Identifier: MIT
"""Time and memory of the commands that read a run of a million launches: a program of 20 kernels with 3 to 10
counters a launch, as `profile -m` stores it, with and without an earlier run of the same size. The commands that read
all launches are measured for two more programs (make_database.cpp): `differing`, and `timed`. Exits 1 where a command
exceeds its limit.

    million.py WARPMETER MAKE_DATABASE FOLDER [LAUNCHES]

FOLDER keeps the databases for the next call.
"""
import pathlib
import subprocess
import sys

from limits import MEMORY_LIMIT_MB, measured

TIME_LIMIT_S = 3
LAUNCHES = 1_000_000


def databases(make, folder, launches, kind=None):
    """One of a run and one of two runs."""
    for runs in (1, 2):
        path = folder / f"{kind or 'program'}_{runs}_{launches}.db"
        if not path.exists():
            subprocess.run([make, path, str(runs), str(launches), *filter(None, [kind])], check=True)
        yield str(path)


GATE = "shared_load_transactions_per_request <="


def commands_of(kind, one, two):
    """Those that read all launches."""
    for name, words, exit_code in [
        ("report", ["report", "--db", one], 0),
        ("report --brief", ["report", "--brief", "--db", one], 0),
        ("report, two runs", ["report", "--db", two], 0),
        ("compare, two runs", ["compare", "--db", two, "last~1", "last"], 0),
        ("explain", ["explain", "--db", one], 0),
        ("check --gate, broken", ["check", "--db", one, "--gate", GATE + " 0"], 1),
    ]:
        yield f"{kind}: {name}", words, exit_code


def main(program, make, folder, launches=LAUNCHES):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    one, two = databases(make, folder, launches)
    count = ["query", "SELECT variant, count(*) FROM launches GROUP BY variant", "--db", one]
    commands = [
        ("report", ["report", "--db", one], 0),
        ("report --brief", ["report", "--brief", "--db", one], 0),
        ("report --section comparison", ["report", "--section", "comparison", "--db", one], 0),
        ("report --format html", ["report", "--format", "html", "-o", "/dev/null", "--db", one], 0),
        ("report, two runs", ["report", "--db", two], 0),
        ("report --brief, two runs", ["report", "--brief", "--db", two], 0),
        ("compare, two runs", ["compare", "--db", two, "last~1", "last"], 0),
        ("compare without names", ["compare", "--db", two], 0),
        ("explain", ["explain", "--db", one], 0),
        ("check --gate", ["check", "--db", one, "--gate", GATE + " 1000"], 0),
        ("check --gate, broken", ["check", "--db", one, "--gate", GATE + " 0"], 1),
        ("check --baseline", ["check", "--db", two, "--baseline", "last~1"], 3),
        ("list runs", ["list", "runs", "--db", two], 0),
        ("query, launches by variant", count, 0),
        *commands_of("differing", *databases(make, folder, launches, "differing")),
        *commands_of("timed", *databases(make, folder, launches, "timed")),
    ]
    print(f"| {int(launches):,} launches a run          | time (s) | on processors (s) | memory (MB) |")
    print("| -------------------------------- | -------: | ----------------: | ----------: |", flush=True)
    broken = 0
    for name, words, exit_code in commands:
        seconds, processor, memory = measured([program, *words], 1, exit_code)
        broken += seconds > TIME_LIMIT_S or memory > MEMORY_LIMIT_MB
        print(f"| {name:<32} | {seconds:8.2f} | {processor:17.2f} | {memory:11.0f} |", flush=True)
    print(f"The limits are {TIME_LIMIT_S} s and {MEMORY_LIMIT_MB} MB (10⁶ bytes) a command.")
    return 1 if broken else 0


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
