# SPDX-License-Identifier: MIT
"""Compares what limits a kernel, and the memory chart, with Nsight Compute's full set; see limits.sh."""

import csv
import io
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

from ncu import AS_IT_IS, all_digits, number, reader_of_reports
from nvprof_mapping import ROWS

csv.field_size_limit(1 << 30)  # a full set has fields of many values

HERE = pathlib.Path(__file__).resolve().parent
RUNS = 2
TOLERANCE = 0.02
ROUNDING = 0.0 if reader_of_reports() else 0.005001  # ncu prints two decimals; its reader has all of them
CHOICE = ["regex:^[^q]"]  # all kernels but `quiet`
# Read twice, in one pass each: a launch that is repeated finds other caches.
ONE_PASS = [["dram_read_bytes", "dram_write_bytes", "l2_read_sectors", "l2_write_sectors", "dram_utilization", "l2_utilization",
             "tex_cache_hit_rate", "achieved_occupancy", "sm_efficiency", "ipc", "dram_read_throughput", "dram_write_throughput"],
            ["issue_slot_utilization", "ldst_fu_utilization"],
            ["xu_utilization", "tensor_utilization", "l1_data_pipe_utilization", "l2_input_utilization", "l2_output_utilization"],
            ["alu_utilization", "fma_utilization", "l2_tag_utilization", "l2_data_utilization"]]
L1 = "l1tex__t_{}_pipe_lsu_mem_{}_op_{}.sum"


def of_l1(what, op):
    return " + ".join(L1.format(what, space, op) for space in ("global", "local"))


# Each figure of the memory chart: the counters whose sum warpmeter shows, and ncu's of the same. For shared memory these are
# the figures of its source page, which leave out instructions without an active lane and the pipe's arbitration, as ours do.
CHART = {
    "shared load requests": (["shared_load_requests"], "smsp__sass_inst_executed_op_shared_ld.sum"),
    "shared store requests": (["shared_store_requests"], "smsp__sass_inst_executed_op_shared_st.sum"),
    "shared wavefronts": ([f"shared_{kind}_wavefronts" for kind in
                           ("load", "store", "atomic", "matrix_load", "matrix_store", "wgmma")] + ["async_copy_wavefronts"],
                          "memory_l1_wavefronts_shared"),
    "L1 load requests": (["global_load_requests", "local_load_requests"], of_l1("requests", "ld")),
    "L1 load sectors": (["global_load_sectors", "local_load_sectors"], of_l1("sectors", "ld")),
    "L1 store requests": (["global_store_requests", "local_store_requests"], of_l1("requests", "st")),
    "L1 store sectors": (["global_store_sectors", "local_store_sectors"], of_l1("sectors", "st")),
    "L2 reads": (["l2_read_sectors"], "lts__t_sectors_op_read.sum"),
    "L2 writes": (["l2_write_sectors"], "lts__t_sectors_op_write.sum"),
    "instructions": (["inst_executed"], "smsp__inst_executed.sum"),
}
NVPROF = {row.name: row for row in ROWS}
CATALOGUE = {counter["name"]: counter["perfworks"] for file in ("memory", "instructions")
             for counter in json.loads((HERE.parents[1] / f"schema/catalogue/{file}.json").read_text(encoding="utf-8"))["counters"]}
# The rest has a formula of NVIDIA's, or is one of its metrics: name → counters, formula, factor.
FIGURES = {name: (*how, 1.0) for name, how in CHART.items()} | {
    name: ([name], NVPROF[name].formula, NVPROF[name].factor) if name in NVPROF else ([name], CATALOGUE[name], 1.0)
    for name in sum(ONE_PASS, []) if not name.startswith("l2_") or name.endswith("utilization")}
PERFWORKS = re.compile(r"\b[a-z0-9]+__[a-z0-9_.]+|\bmemory_l1_wavefronts_shared\b")
METRICS = sorted({metric for _, formula, _ in FIGURES.values() for metric in PERFWORKS.findall(formula) if "__" in metric})

# ---- the speed of light of ncu
SPEEDS = {"compute": "sm__throughput.avg.pct_of_peak_sustained_elapsed", "L1": "l1tex__throughput.avg.pct_of_peak_sustained_active",
          "L2": "lts__throughput.avg.pct_of_peak_sustained_elapsed", "DRAM": "dram__throughput.avg.pct_of_peak_sustained_elapsed"}
BREAKDOWN = ["breakdown:sm__throughput.avg.pct_of_peak_sustained_elapsed",
             "breakdown:gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"]
PART = re.compile(r"(?:.*: ?)?((?:sm|smsp|idc|l1tex|lts|ltc|dram|fbpa)__\w+)\.\w+\.pct_of_peak_sustained_elapsed")
NO_PART = re.compile(r"throughput|warps_active|^(?!dram)\w+?__cycles_(active|elapsed)$")
# The first pattern that a breakdown metric has says which of warpmeter's resources it is about.
RESOURCES = [
    (r"^(dram|fbpa)__", {"device memory"}),
    (r"^(lts|ltc)__|^l1tex__m_", {"L2"}),
    (r"tensor|hmma|imma|dmma", {"tensor cores"}),
    (r"pipe_shared", {"tensor cores", "FP64"}),  # the pipe that they share
    (r"fp64", {"FP64"}),
    (r"fp16", {"FP16"}),
    (r"pipe_fma", {"FP32"}),
    (r"pipe_alu", {"integers"}),
    (r"pipe_xu", {"special functions"}),
    (r"pipe_(uniform|cbu|adu|tex|ipa)", {"another unit"}),
    (r"^l1tex__(data_|lsu_writeback)", {"shared memory", "L1"}),
    (r"lsuin|pipe_lsu|mio|agu", {"load/store units"}),
    (r"inst_issued|issue_active|inst_executed$|inst_executed_realtime", {"issue slots"}),
    (r"^l1tex__", {"L1"}),
]
# The report has other names for some of them.
OURS = {"data banks of L1 and shared memory": "L1", "integers and comparisons": "integers", "FP32 and integer products": "FP32"}


def resources_of(metric):
    return next((names for pattern, names in RESOURCES if re.search(pattern, metric)), {"another unit"})


def parts_of(row):
    """The breakdown metrics of a launch, the largest first."""
    found = {}
    for column, text in row.items():
        part = PART.fullmatch(column or "")
        if part and not NO_PART.search(part[1]) and number(text) is not None:
            found[part[1]] = number(text)
    return sorted(((value, name) for name, value in found.items()), reverse=True)


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"limits: {shlex.join(command)[:400]} ended with {done.returncode}\n{(done.stdout + done.stderr)[-2000:]}")
    return done.stdout


def of_warpmeter(program, command, metrics, database):
    """The launches in order: the kernel, and each figure's value or None."""
    if os.path.exists(database):
        os.unlink(database)
    run([program, "profile", "-b", "cupti", "--from-start", "off", "-k", *CHOICE, "-q", "-m",
         ",".join(metrics), "--db", database, *command])
    text = run([program, "query", "--db", database, "--format", "csv",
                "SELECT launch_id, variant, metric, value FROM results ORDER BY launch_id"])
    launches = {}
    for row in csv.DictReader(io.StringIO(text)):
        launches.setdefault(row["launch_id"], (row["variant"], {}))[1][row["metric"]] = number(row["value"])
    return list(launches.values())


def limits_of(program, database):
    """The limit of each kernel as the report names it, and its evidence."""
    report = subprocess.run([program, "report", "--db", database, "--section", "limits", "--format", "json"],
                            capture_output=True, text=True, check=False)  # fails where no kernel has a limit
    if report.returncode != 0:
        return {}
    tables = [table for section in json.loads(report.stdout)["sections"] for table in section["tables"]]
    return {row["variant"].partition("/")[2]: (row["limit"] or "none", row["evidence"]) for table in tables
            if any(column["name"] == "limit" for column in table["columns"]) for row in table["rows"]}


def of_ncu(command, log, *choice, cache_control="all"):
    report = pathlib.Path(log).with_suffix(".ncu-rep")
    # With "all" ncu empties the caches before each pass. Before the one pass of warpmeter `quiet` has done so.
    run(["ncu", *AS_IT_IS[:-1], cache_control, "--profile-from-start", "off", "-k", *CHOICE, *choice, "--force-overwrite",
         "--export", str(report), *command])
    pathlib.Path(log).write_text(run(["ncu", "--import", str(report), *AS_IT_IS[:5]]), encoding="utf-8")
    with open(log, encoding="utf-8", errors="replace") as file:
        rows = [row for row in csv.DictReader(line for line in file if line.startswith('"')) if row.get("ID")]
    if reader_of_reports():
        for row, values in zip(rows, all_digits(report, METRICS), strict=True):
            row.update({name: repr(value) for name, value in values.items()})
    return rows


def of_full_set(command, log):
    return of_ncu(command, log, "--set", "full", "--metrics", ",".join([*METRICS, *SPEEDS.values(), *BREAKDOWN]))


def of_one_pass(command, log, group, cache_control):
    """The figures of one group alone, each launch with them as (figure → value). Before each of the many passes of the full
    set ncu writes the kernel's memory again, and with "all" it empties the caches by writes of its own; what of both waits in
    the L2 cache reaches DRAM during the kernel."""
    formulas = {name: figure for name, figure in FIGURES.items() if figure[0][0] in group}
    metrics = sorted({metric for _, formula, _ in formulas.values() for metric in PERFWORKS.findall(formula)})
    return [{name: value_of(formula, factor, row) for name, (_, formula, factor) in formulas.items()}
            for row in of_ncu(command, log, "--metrics", ",".join(metrics), cache_control=cache_control)]


def value_of(formula, factor, row):
    found = {metric: number(row.get(metric)) for metric in PERFWORKS.findall(formula)}
    if None in found.values():
        return None
    return factor * eval(PERFWORKS.sub(lambda m: f"({found[m.group()]!r})", formula), {"__builtins__": {}})


def agrees(ours, theirs, rounding):
    """Within 2 %, or within the spread of either tool."""
    gap = max(0, min(ours) - max(theirs), min(theirs) - max(ours))
    spread = max(max(values) - min(values) for values in (ours, theirs))
    return gap <= max(TOLERANCE * max(map(abs, ours + theirs)), spread, rounding)


class Tally:
    def __init__(self):
        self.figures = {name: [0, 0] for name in FIGURES}  # agree, compared
        self.same = self.launches = 0
        self.differing, self.everything = [], []

    def add_figures(self, kernel, counts, passes, rows, alone):
        """`alone`: figure → value, a run of ncu each; such a figure has these beside the values of the full sets."""
        for name, (counters, formula, factor) in FIGURES.items():
            sources = passes if counters[0] in sum(ONE_PASS, []) else [counts]
            ours = [sum(found[c] for c in counters) if None not in [found.get(c) for c in counters] else None for found in sources]
            theirs = [value_of(formula, factor, row) for row in rows] + [found[name] for found in alone if name in found]
            if None in ours or None in theirs:
                if (None in ours) != (None in theirs) and any(value for value in ours + theirs):
                    self.differing.append(f"{kernel}, {name}: warpmeter {ours}, ncu {theirs}")
                continue
            holds = agrees(ours, theirs, ROUNDING * factor * len(PERFWORKS.findall(formula)))
            self.figures[name][0] += holds
            self.figures[name][1] += 1
            if not holds:
                self.differing.append(f"{kernel}, {name}: warpmeter {ours}, ncu {theirs}")

    def add_limit(self, kernel, limit, row):
        parts = parts_of(row)
        most, metric = parts[0] if parts else (0, "none")
        named = limit[0].replace(", or device memory", "").partition(":")[0]
        names = {OURS.get(named, named)}
        near = [name for value, name in parts if value >= 0.95 * most]
        verdict = "same" if names & resources_of(metric) else "tie" if any(names & resources_of(name) for name in near) else "OTHER"
        self.launches += 1
        self.same += verdict != "OTHER"
        speeds = " ".join(f"{name} {number(row.get(column)) or 0:.0f}" for name, column in SPEEDS.items())
        print(f"{verdict:6}{kernel[:40]:41}{limit[0][:34]:35}{metric} {most:.1f} % ({'/'.join(sorted(resources_of(metric)))}); {speeds}; "
              f"us: {limit[1][:60]}")


def measure(program, command, work, tally, seconds):
    begin = time.monotonic()
    counts = of_warpmeter(program, command, ["@limits", "dram_read_bytes", "dram_write_bytes"], f"{work}/limits.db")
    limits = limits_of(program, f"{work}/limits.db")
    passes = []  # the launches of each run, with the figures of all groups
    for _ in range(RUNS):
        groups = [of_warpmeter(program, command, group, f"{work}/pass.db") for group in ONE_PASS]
        passes.append([{name: value for _, found in launch for name, value in found.items()} for launch in zip(*groups)])
    print(f"warpmeter: {time.monotonic() - begin:.1f} s", flush=True)
    rows = []
    for _ in range(RUNS):
        before = time.monotonic()
        rows.append(of_full_set(command, f"{work}/ncu.csv"))
        print(f"ncu: {time.monotonic() - before:.1f} s, {len(rows[-1][0]) if rows[-1] else 0} columns", flush=True)
        if time.monotonic() - begin + (time.monotonic() - before) > seconds:
            break
    alone = [of_one_pass(command, f"{work}/ncu.csv", group, cache_control) for group in ONE_PASS for cache_control in ("all", "none")]
    print(f"ncu, figures of one pass: {time.monotonic() - begin:.1f} s since the start", flush=True)
    numbers = {len(counts), *map(len, passes), *map(len, rows), *map(len, alone)}
    if len(numbers) != 1:
        sys.exit(f"limits: numbers of launches differ: {numbers}")
    for index, (kernel, found) in enumerate(counts):
        tally.add_figures(kernel, found, [launches[index] for launches in passes], [launches[index] for launches in rows],
                          [launches[index] for launches in alone])
        tally.add_limit(kernel, limits.get(kernel, ("–", "no row in the report")), rows[-1][index])
    tally.everything.append({"command": command, "counts": counts, "passes": passes, "ncu": rows, "alone": alone})


def main():
    program, work, record, *programs = sys.argv[1:]
    tally = Tally()
    for command in map(shlex.split, programs):
        measure(program, command, work, tally, 150)
        pathlib.Path(record).write_text(json.dumps(tally.everything), encoding="utf-8")
    print(*tally.differing, sep="\n", end="\n" if tally.differing else "")
    print(f"{'figure':26}{'agree':>7}{'compared':>10}")
    for name, (agree, compared) in tally.figures.items():
        print(f"{name:26}{agree:7}{compared:10}")
    agree, compared = (sum(each[index] for each in tally.figures.values()) for index in (0, 1))
    print(f"{tally.launches} launches: {agree} of {compared} figures agree; {tally.same} of {tally.launches} are limited by what ncu's "
          "speed of light has at the top")
    return 0 if compared and agree == compared and tally.same == tally.launches else 1


if __name__ == "__main__":
    sys.exit(main())
