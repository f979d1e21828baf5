#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs public readers of `nvprof -o` on a file that warpmeter wrote, and prints what each found.

    python3 tests/public/nvprof_files.py FOLDER FILE

FOLDER has the readers' repositories at the commits below, as OWNER+NAME; they run unmodified. FILE is the
output of `warpmeter profile --nvprof-out FILE PROGRAM`. A reader that fails makes the exit code 1.
tests/schema/nvprof_export_test.cpp holds the statements that these readers run.
"""
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

READERS = [
    # (repository, commit, folder in it, command; {} is the file, how the output is summed up)
    ("ezyang/nvprof2json", "14d7b35089", ".", ["nvprof2json.py", "{}"], "json"),
    ("joapolarbear/nvprof2json", "4d1678f774", ".", ["nvprof2json.py", "--filename", "{}"], "json"),
    ("rossumai/nvprof-tools", "50a64bd078", ".", ["-m", "nvprof", "info", "{}"], "lines"),
    ("rossumai/nvprof-tools", "50a64bd078", ".", ["-m", "nvprof", "slice", "{}", "-s", "0", "-e", "1"], "lines"),
    ("NVIDIA/PyProf", "218dcc183b", "pyprof", ["-m", "parse", "{}"], "lines"),
    ("cwpearson/openvprof", "76bb600c4d", "scripts", ["openvprof.py", "summary", "{}"], "lines"),
    ("torch.autograd.profiler.load_nvprof", "installed", None,
     ["-c", "import sys, torch; [print(e.name, len(e.kernels)) for e in "
      "torch.autograd.profiler.load_nvprof(sys.argv[1])]", "{}"], "lines"),
]


def rows(file):
    """The number of rows of each table that has some."""
    with sqlite3.connect(file) as database:
        names = [name for name, in database.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'CUPTI_*'")]
        counts = {name[20:]: database.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in names}
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items()) if count)


def summed_up(output, form):
    if form == "json":
        events = json.loads(output)
        return f"{len(events)} events, {len({event['name'] for event in events})} names"
    lines = output.strip().splitlines()
    return f"{len(lines)} lines: {lines[-1][:80] if lines else ''}"


def main():
    folder, file = sys.argv[1:]
    print(f"| tables of {os.path.basename(file)} | {rows(file)} |\n|---|---|")
    failed = False
    for repository, commit, inner, command, form in READERS:
        where = os.path.join(folder, repository.replace("/", "+"), inner) if inner else "."
        if inner and not os.path.isdir(where):
            continue
        with tempfile.TemporaryDirectory() as copies:  # some write into the file
            copy = shutil.copy(file, os.path.join(copies, "file.nvvp"))
            ran = subprocess.run([sys.executable] + [copy if word == "{}" else word for word in command],
                                 cwd=where, capture_output=True, text=True, check=False)
        failed |= ran.returncode != 0
        found = summed_up(ran.stdout, form) if ran.returncode == 0 else ran.stderr.strip().splitlines()[-1][:200]
        print(f"| {repository} {commit}, {' '.join(command[:3])} | {found} |")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
