# SPDX-License-Identifier: MIT
"""Compares measured peaks with public figures, and roofline points with ncu's; see roofs.sh."""

import csv
import io
import os
import re
import subprocess
import sys

AZURE = "BabelStream {} on H200, github.com/Azure/AI-benchmarking-guide (ND H200 v5)"
OPENCL = "OpenCL-Benchmark on GH200 (same chip, 1,980 MHz), github.com/mredenti/PowerCapping"
DATASHEET = "NVIDIA's H200 datasheet, dense"
PUBLIC = {  # the best that was found on 2026-11-29
    "device_memory_copy": (4010, AZURE.format("Copy")),
    "device_memory_read": (4570, AZURE.format("Dot")),
    "fp64": (31.264, OPENCL),
    "fp32": (62.961, OPENCL),
    "fp16": (123.873, OPENCL),
    "tensor_fp64": (66.9, DATASHEET),
    "tensor_tf32": (494.7, DATASHEET),
    "tensor_bf16": (989.4, DATASHEET),
    "tensor_fp16": (989.4, DATASHEET),
    "tensor_fp8": (1978.9, DATASHEET),
    "tensor_int8": (1978.9, DATASHEET),
}
WIDTH = "nobody's measurement was found; 128 bytes a cycle and multiprocessor at 1,980 MHz"
UNPUBLISHED = {"l1_read": (33454, WIDTH), "shared_read": (33454, WIDTH)}  # no verdict
LEAST = 0.97

KERNELS = [("vector_add", "1048576"), ("reduction", "1048576"), ("transpose", "1024"), ("matmul", "512")]
SECTIONS = ["SpeedOfLight_RooflineChart", "SpeedOfLight_HierarchicalSingleRooflineChart"]
SECTORS = [f"{space}_{op}_sectors" for space in ("global", "local") for op in ("load", "store")]
NEEDED = {*SECTORS, "flop_count_sp", "dram_read_bytes", "dram_write_bytes"}
OPS = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"
NCU_METRICS = [OPS.format(op) for op in ("fadd", "fmul", "ffma")] + ["l1tex__t_bytes.sum", "dram__bytes.sum"]


def run(command, may_fail=False):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0 and not may_fail:
        sys.exit(f"roofs: {' '.join(command)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def query(program, database, sql):
    text = run([program, "query", "--db", database, "--format", "csv", sql])
    return list(csv.DictReader(io.StringIO(text)))


def check_peaks(program, database):
    print(run([program, "doctor", "--peaks", "--db", database]), end="")
    run([program, "run", "vector_add", "-n", "1024", "-b", "cupti", "--timing-only", "-q", "--db", database])
    peaks = {row["name"]: float(row["value"]) for row in query(program, database, "SELECT name, value FROM peaks "
                                                               "WHERE value IS NOT NULL ORDER BY run_id")}
    ok = True
    for name, (public, source) in PUBLIC.items():
        share = peaks.get(name, 0) / public
        ok &= share >= LEAST
        print(f"{'ok  ' if share >= LEAST else 'FAIL'}  {name:18} {peaks.get(name, 0):10,.1f} is {100 * share:6.1f} % of "
              f"{public:10,.1f}: {source}")
    for name, (limit, source) in UNPUBLISHED.items():
        print(f"      {name:18} {peaks.get(name, 0):10,.1f} is {100 * peaks.get(name, 0) / limit:6.1f} % of {limit:10,.1f}: {source}")
    return ok


def own_points(program, database):
    """{entry: (operations, bytes of L1, bytes of device memory)}, of the launches of each kernel of the catalogue."""
    points = {}
    for family, size in KERNELS:
        run([program, "run", family, "-n", size, "-b", "cupti", "--counters-only", "-m",
             "@limits,dram_read_bytes,dram_write_bytes", "-q", "--db", database])
        rows = query(program, database, "SELECT l.kernel, r.metric, r.value, r.reason FROM results r JOIN launches l USING "
                     "(launch_id) WHERE r.run_id = (SELECT max(run_id) FROM runs)")
        values, reasons = {}, {}
        for row in rows:
            if row["value"]:
                values.setdefault(row["kernel"], {})[row["metric"]] = float(row["value"])
            elif row["metric"] in NEEDED:
                reasons[row["kernel"]] = f"{row['metric']}: {row['reason']}"
        for kernel, v in values.items():
            if kernel in reasons:
                print(f"FAIL  {kernel:40} lacks {reasons[kernel]}")
                points[kernel] = (0.0, 0.0, 0.0)
                continue
            points[kernel] = (v["flop_count_sp"], 32 * sum(v[name] for name in SECTORS),
                              v["dram_read_bytes"] + v["dram_write_bytes"])
    return points


def ncu_points(program, database):
    """The same by ncu. warpmeter neither counts nor times then: it launches each kernel once to verify it."""
    points = {}
    sections = [word for section in SECTIONS for word in ("--section", section)]
    for family, size in KERNELS:
        text = run(["ncu", "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none", "--cache-control",
                    "none", *sections, "--metrics", ",".join(NCU_METRICS), program, "run", family, "-n", size, "-b", "cupti",
                    "--counters-only", "-m", "registers_per_thread", "-q", "--db", database], may_fail=True)
        rows = list(csv.DictReader(line for line in text.splitlines() if line.startswith('"')))[1:]
        for row in rows:
            v = {name: float(row[name].replace(",", "")) for name in NCU_METRICS}
            flops = v[NCU_METRICS[0]] + v[NCU_METRICS[1]] + 2 * v[NCU_METRICS[2]]
            points[re.sub(r"\(.*", "", row["Kernel Name"])] = (flops, v["l1tex__t_bytes.sum"], v["dram__bytes.sum"])
    return points


def main():
    program, work = sys.argv[1:3]
    database = os.path.join(work, "roofs.db")
    ok = check_peaks(program, database)
    own, ncu = own_points(program, database), ncu_points(program, database)
    print("kernel: operations, bytes of L1 and of device memory; ncu's where they differ")
    equal = 0
    for kernel, point in own.items():
        other = ncu.get(kernel)
        is_equal = other is not None and point[:2] == other[:2]
        equal += is_equal
        shown = [f"{a:,.0f}" if other is None or a == b else f"{a:,.0f} (ncu {b:,.0f})"
                 for a, b in zip(point, other or point)]
        print(f"{'ok  ' if is_equal else 'FAIL'}  {kernel:40} {'; '.join(shown)}{'' if other else '; ncu has none'}")
    print(f"{equal} of {len(own)} kernels have ncu's operations and bytes of L1")
    return 0 if ok and own and equal == len(own) else 1


if __name__ == "__main__":
    sys.exit(main())
