# SPDX-License-Identifier: MIT
"""Times warpmeter and ncu on the same launches and compares their values; see vs_ncu.sh."""

import csv
import io
import os
import statistics
import subprocess
import sys
import time

SASS = "smsp__sass_"
METRICS = [
    SASS + "l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    SASS + "l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    SASS + "inst_executed_op_shared_ld.sum",
    SASS + "inst_executed_op_shared_st.sum",
    SASS + "l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum",
    SASS + "l1tex_t_sectors_pipe_lsu_mem_global_op_st.sum",
    SASS + "inst_executed_op_global_ld.sum",
    SASS + "inst_executed_op_global_st.sum",
    SASS + "data_bytes_mem_global_op_ld.sum",
    SASS + "data_bytes_mem_global_op_st.sum",
    "gpu__time_duration.sum",
]
DURATION = "gpu__time_duration.sum"  # the one that differs from launch to launch

# The aims: how many times cheaper a launch is than with ncu.
AIM_DEFAULT, AIM_FASTEST = 200, 50


def run(command, **options):
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, **options)
    seconds = time.perf_counter() - begin
    if done.returncode != 0:
        sys.exit(f"vs_ncu: {' '.join(command)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return seconds, done.stdout


class Warpmeter:
    def __init__(self, build, work, kernel):
        self.build, self.work, self.kernel = build, work, kernel

    def profile(self, launches):
        family, variant, size = self.kernel
        database = os.path.join(self.work, f"{launches}.db")
        if os.path.exists(database):
            os.unlink(database)
        sizes = ["--size", size] if int(size) > 0 else []
        seconds, _ = run([f"{self.build}/warpmeter", "run", f"{family}/{variant}", *sizes, "--backend", "cupti",
                          "--counters-only", "--repeat", str(launches), "--metrics", ",".join(METRICS),
                          "--quiet", "--db", database])
        _, text = run([f"{self.build}/warpmeter", "query", "--db", database, "--format", "csv",
                       "SELECT launch_id, metric, value FROM results ORDER BY launch_id"])
        values = {}
        for row in csv.DictReader(io.StringIO(text)):
            if row["metric"] in METRICS:
                values.setdefault(row["launch_id"], {})[row["metric"]] = float(row["value"])
        return seconds, list(values.values())


class Ncu:
    def __init__(self, build, kernel, options):
        self.build, self.kernel, self.options = build, kernel, options

    def profile(self, launches):
        seconds, text = run(["ncu", "--csv", "--page", "raw", "--print-units", "base", "--metrics",
                             ",".join(METRICS), "--clock-control", "none", *self.options,
                             f"{self.build}/launcher", *self.kernel, str(launches)])
        lines = [line for line in text.splitlines() if line.startswith('"')]
        rows = list(csv.DictReader(lines))[1:]  # after the heading comes a row of units
        return seconds, [{m: float(row[m].replace(",", "")) for m in METRICS} for row in rows]


def marginal(profiler, few, many, pairs):
    """Seconds a launch, the median of so many pairs of runs, and the values of the last larger run."""
    costs = []
    for _ in range(pairs):
        few_seconds, _ = profiler.profile(few)
        many_seconds, values = profiler.profile(many)
        if len(values) != many:
            sys.exit(f"vs_ncu: {len(values)} launches came back instead of {many}")
        costs.append((many_seconds - few_seconds) / (many - few))
    return statistics.median(costs), values


def main():
    build, work, kernel = sys.argv[1], sys.argv[2], sys.argv[3:6]
    warpmeter = Warpmeter(build, work, kernel)
    default = Ncu(build, kernel, [])
    fastest = Ncu(build, kernel, ["--replay-mode", "application", "--cache-control", "none"])

    print(f"{kernel[0]}/{kernel[1]} {kernel[2]}, {len(METRICS)} metrics")
    warpmeter.profile(1)  # once for the page cache, as the first of anything is slow
    results = {}
    # A process starts some tenths of a second sooner or later: enough launches, and the median of three pairs,
    # keep that out of the figures.
    for name, profiler, few, many in (("warpmeter", warpmeter, 60, 3000), ("ncu default", default, 4, 44),
                                      ("ncu fastest", fastest, 10, 210)):
        results[name] = marginal(profiler, few, many, pairs=3)
        print(f"{name:12}  {results[name][0] * 1e3:9.3f} ms a launch   ({few} and {many} launches)", flush=True)

    ok = True
    own_cost, own_values = results["warpmeter"]
    for name, aim in (("ncu default", AIM_DEFAULT), ("ncu fastest", AIM_FASTEST)):
        ratio = results[name][0] / own_cost
        ok &= ratio >= aim
        print(f"{'ok  ' if ratio >= aim else 'FAIL'}  {ratio:7.0f} times cheaper than {name} (aim: {aim})")
    for metric in METRICS:
        if metric == DURATION:
            continue
        seen = {name: {launch[metric] for launch in values} for name, (_, values) in results.items()}
        equal = all(values == seen["warpmeter"] and len(values) == 1 for values in seen.values())
        ok &= equal
        detail = f"{min(own_values, key=lambda v: v[metric])[metric]:g}" if equal else str(seen)
        print(f"{'ok  ' if equal else 'FAIL'}  {metric} = {detail}")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
