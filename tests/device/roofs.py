# SPDX-License-Identifier: MIT
"""Compares measured peaks with public figures, and roofline points with ncu's; see roofs.sh."""

import csv
import io
import json
import os
import pathlib
import re
import subprocess
import sys

from ncu import by_ncu

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
LOCAL = ["local_load_sectors", "local_store_sectors"]
L2 = ["l2_read_sectors", "l2_write_sectors", "l2_atomic_sectors", "l2_reduction_sectors"]
DRAM = ["dram_read_bytes", "dram_write_bytes"]
NEEDED = ["flop_count_sp", "global_bytes_moved", *LOCAL, *L2, *DRAM]
OPS = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"
NCU_METRICS = [*(OPS.format(op) for op in ("fadd", "fmul", "ffma")), "l1tex__t_bytes.sum", "lts__t_bytes.sum", "dram__bytes.sum"]

COUNTERS = json.loads((pathlib.Path(__file__).parents[2] / "schema/catalogue/instructions.json").read_text(encoding="utf-8"))["counters"]
TENSOR = {counter["name"]: counter["perfworks"] for counter in COUNTERS
          if counter["name"].startswith("tensor_ops_") and counter["name"] not in ("tensor_ops_fp4", "tensor_ops_int4")}


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
    """{entry: (operations, bytes of L1, of L2 and of device memory)}, of the launches of each kernel of the catalogue."""
    points = {}
    for family, size in KERNELS:
        run([program, "run", family, "-n", size, "-b", "cupti", "--counters-only", "-m", ",".join(NEEDED), "-q", "--db", database])
        rows = query(program, database, "SELECT l.kernel, r.metric, r.value, r.reason FROM results r JOIN launches l USING "
                     "(launch_id) WHERE r.run_id = (SELECT max(run_id) FROM runs)")
        values = {}
        for row in rows:
            if row["metric"] in NEEDED:
                values.setdefault(row["kernel"], {})[row["metric"]] = float(row["value"]) if row["value"] else row["reason"]
        for kernel, v in values.items():
            lacking = [f"{name}: {v.get(name, 'not counted')}" for name in NEEDED if not isinstance(v.get(name), float)]
            if lacking:
                print(f"FAIL  {kernel:40} lacks {lacking[0]}")
                points[kernel] = (0.0, 0.0, 0.0, 0.0)
                continue
            points[kernel] = (v["flop_count_sp"], v["global_bytes_moved"] + 32 * sum(v[name] for name in LOCAL),
                              32 * sum(v[name] for name in L2), sum(v[name] for name in DRAM))
    return points


def ncu_points(program, database):
    """The same by ncu. warpmeter neither counts nor times then: it launches each kernel once to verify it."""
    points = {}
    for family, size in KERNELS:
        text = run(["ncu", "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none", "--cache-control",
                    "none", "--metrics", ",".join(NCU_METRICS), program, "run", family, "-n", size, "-b", "cupti",
                    "--counters-only", "-m", "registers_per_thread", "-q", "--db", database], may_fail=True)
        rows = list(csv.DictReader(line for line in text.splitlines() if line.startswith('"')))[1:]
        for row in rows:
            v = {name: float(row[name].replace(",", "")) for name in NCU_METRICS}
            flops = v[NCU_METRICS[0]] + v[NCU_METRICS[1]] + 2 * v[NCU_METRICS[2]]
            points[re.sub(r"\(.*", "", row["Kernel Name"])] = (flops, *(v[name] for name in NCU_METRICS[3:]))
    return points


def check_points(program, database):
    own, ncu = own_points(program, database), ncu_points(program, database)
    print("kernel: operations, bytes of L1, of L2 and of device memory; ncu's where they differ")
    good = 0
    for kernel, point in own.items():
        if kernel not in ncu:
            print(f"FAIL  {kernel:40} ncu has no launch of it")
            continue
        other = ncu[kernel]
        holds = point[1] > 0 and point[:2] == other[:2]
        good += holds
        shown = [f"{a:,.0f}" if a == b else f"{a:,.0f} (ncu {b:,.0f})" for a, b in zip(point, other)]
        print(f"{'ok  ' if holds else 'FAIL'}  {kernel:40} {'; '.join(shown)}")
    print(f"{good} of {len(own)} kernels have ncu's operations and bytes of L1")
    return bool(own) and good == len(own)


def tensor_operations(program, backend, kernels, database):
    """The launches in order: the kernel, and each counter's value or None."""
    if os.path.exists(database):
        os.unlink(database)
    run([program, "profile", "-b", backend, "-q", "-m", ",".join(TENSOR), "--db", database, kernels])
    launches = {}
    for row in query(program, database, "SELECT launch_id, variant, metric, value, grade FROM results ORDER BY launch_id"):
        values = launches.setdefault(row["launch_id"], (row["variant"], {}))[1]
        if row["metric"] in TENSOR:
            is_known = row["value"] and (backend != "model" or row["grade"] == "exact")
            values[row["metric"]] = float(row["value"]) if is_known else None
    return list(launches.values())


def check_tensor(program, work, kernels, record):
    """Each launch of roofs.cu has the operations that it names, of one type; all tools say so, the model those of warps alone."""
    stated = [line.split() for line in run([kernels]).splitlines()]
    gpu, model = (tensor_operations(program, backend, kernels, f"{work}/tensor.db") for backend in ("cupti", "model"))
    ncu = [(kernel, {name: found[metric] for name, metric in TENSOR.items()})
           for kernel, found in by_ncu([kernels], list(TENSOR.values()), f"{work}/ncu.csv", 120)]
    good = 0
    lines = ["kernel,counter,value"]
    for index, (kernel, operations) in enumerate(stated):
        expected = dict.fromkeys(TENSOR, 0.0) | {f"tensor_ops_{kernel.partition('_')[2]}": float(operations)}
        lines += [f"{kernel},{name},{value:.0f}" for name, value in ncu[index][1].items() if value is not None]
        told = {"warpmeter": gpu[index][1], "the model": model[index][1], "ncu": ncu[index][1]}
        others = [f"{tool}: {name} {values.get(name)}, not {value:.0f}" for tool, values in told.items()
                  for name, value in expected.items()
                  if values.get(name) != value and not (tool == "the model" and values.get(name) is None
                                                        and kernel.startswith("wgmma"))]
        others += [f"{tool} has another kernel here: {launches[index][0]}" for tool, launches in
                   (("warpmeter", gpu), ("the model", model), ("ncu", ncu)) if kernel not in launches[index][0]]
        good += not others
        print(f"{'FAIL' if others else 'ok  '}  {kernel:40} {operations}; {'; '.join(others[:4])}")
    if record:
        pathlib.Path(record).write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{good} of {len(stated)} kernels have the operations of tensor cores that they name, by warpmeter, by its model and by ncu")
    return bool(stated) and good == len(stated)


def main():
    program, work, kernels, *record = sys.argv[1:]
    database = os.path.join(work, "roofs.db")
    results = [check_peaks(program, database), check_points(program, database),
               check_tensor(program, work, kernels, record[0] if record else None)]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
