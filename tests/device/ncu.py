# SPDX-License-Identifier: MIT
"""Nsight Compute's values of a program's launches, as the checks on a device ask for them."""

import csv
import functools
import importlib
import pathlib
import shlex
import subprocess
import sys

from processes import run_whole

# Clocks and caches as the program has them, and no unit is scaled.
AS_IT_IS = ["--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none", "--cache-control", "none"]


def run(command, seconds, **options):
    """The standard output of a command that has to end well."""
    code, output, errors = run_whole(command, seconds, **options)
    if code is None:
        raise subprocess.TimeoutExpired(command, seconds)
    if code != 0:
        sys.exit(f"{shlex.join(command)[:300]} ended with {code}\n{(output + errors)[-2000:]}")
    return output


def number(text):
    """None for what is no finite number."""
    try:
        value = float((text or "").replace(",", ""))
    except ValueError:
        return None
    return value if abs(value) < float("inf") else None


@functools.cache
def reader_of_reports():
    """Nsight Compute's Python module, from PyPI or beside the tool; None where there is none."""
    for folder in (None, *sorted(pathlib.Path("/opt/nvidia/nsight-compute").glob("*/extras/python"), reverse=True)):
        if folder is not None:
            sys.path.append(str(folder))
        try:
            return importlib.import_module("ncu_report")
        except ImportError:
            pass
    return None


def all_digits(report, metrics):
    """The launches of a report: unrounded values of those metrics that each has."""
    launches = reader_of_reports().load_report(str(report)).range_by_idx(0)
    found = []
    for launch in map(launches.action_by_idx, range(launches.num_actions())):
        values = {name: launch.metric_by_name(name) for name in metrics}
        found.append({name: value.as_double() for name, value in values.items() if value is not None})
    return found


def by_ncu(command, metrics, log, seconds, *options, **others):
    """The launches in order: the kernel, the value of each PerfWorks name, None where there is none, and the grid and block
    as warpmeter writes them ("64x64x1 128x1x1"). Writes `log`."""
    run(["ncu", *AS_IT_IS, "--target-processes", "all", "--log-file", log, "--metrics", ",".join(metrics), *options, *command],
        seconds, **others)
    with open(log, encoding="utf-8", errors="replace") as file:
        rows = csv.DictReader([line for line in file if line.startswith('"')])
        return [(row["Kernel Name"], {metric: number(row.get(metric)) for metric in metrics},
                 " ".join(row[size].strip("() ").replace(", ", "x") for size in ("Grid Size", "Block Size")))
                for row in rows if row.get("ID")]  # the row of units has none
