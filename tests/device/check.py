# SPDX-License-Identifier: MIT
"""Compares what check.sh measured with tests/golden/h200_seed_kernels.csv, one line a check."""

import csv
import io
import pathlib
import subprocess
import sys
import time

# The golden rows carry the names of the kernels that were measured then.
VARIANTS = {
    "transpose_naive": ("transpose", "naive", 1024),
    "transpose": ("transpose", "tiled_padded", 1024),
    "matrixMultiply": ("matmul", "naive", 256),
    "matrixMultiplyShared": ("matmul", "tiled_16", 256),
    "reduceSum": ("reduction", "neighbored_divergent", 65536),
    "reduceSum1": ("reduction", "neighbored_strided", 65536),
    "reduceSum2": ("reduction", "interleaved", 65536),
    "transpose_tiled_rows": ("transpose", "tiled_rows", 1024),
    "transpose_tiled_float4": ("transpose", "tiled_float4", 1024),
    "transpose_copy_float4": ("transpose", "copy_float4", 1024),
    "matmul_registers_64x64": ("matmul", "registers_64x64", 256),
    "matmul_registers_64x128": ("matmul", "registers_64x128", 256),
    "matmul_registers_128x128": ("matmul", "registers_128x128", 256),
    "reduction_shuffle": ("reduction", "shuffle", 65536),
    "reduction_shuffle_double2": ("reduction", "shuffle_double2", 65536),
    "reduction_copy": ("reduction", "copy", 65536),
}
SHARED = {
    "setRowReadRow": "set_row_read_row",
    "setRowReadRow2": "set_row_read_row2",
    "setColReadCol": "set_col_read_col",
    "setColReadCol2": "set_col_read_col2",
    "setRowReadCol": "set_row_read_col",
    "setRowReadColDyn": "set_row_read_col_dyn",
    "setRowReadColPad": "set_row_read_col_pad",
    "setRowReadColDynPad": "set_row_read_col_dyn_pad",
}
PADS = {"square": "", "rect": "2", "rect_ipad1": "1"}  # the padding of the case; the square's pad has no number

# Golden column → metric. An efficiency of no requests is 0 there and unavailable here.
METRICS = {
    "shared_load_wavefronts": "shared_load_wavefronts",
    "shared_load_requests": "shared_load_requests",
    "shared_store_wavefronts": "shared_store_wavefronts",
    "shared_store_requests": "shared_store_requests",
    "global_load_sectors": "global_load_sectors",
    "global_load_requests": "global_load_requests",
    "global_store_sectors": "global_store_sectors",
    "global_store_requests": "global_store_requests",
    "gld_efficiency_pct": "gld_efficiency",
    "gst_efficiency_pct": "gst_efficiency",
}
REQUESTS = {"gld_efficiency": "global_load_requests", "gst_efficiency": "global_store_requests"}


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def variant_of(row):
    """(family, variant, size) of a golden row; size is "" for families with one."""
    if row["kernel"] in VARIANTS:
        family, variant, size = VARIANTS[row["kernel"]]
        return family, variant, str(size)
    family = "smem_square" if row["case"] == "square" else "smem_rectangle"
    variant = SHARED[row["kernel"]]
    return family, variant + (PADS[row["case"]] if variant.endswith("pad") else ""), ""


class Checks:
    def __init__(self):
        self.passed = self.failed = 0

    def __call__(self, holds, what, detail=""):
        if holds:
            self.passed += 1
        else:
            self.failed += 1
        print(f"{'ok  ' if holds else 'FAIL'}  {what}{': ' + detail if detail else ''}")


def check_launches(check, launches):
    for launch in launches:
        name = " ".join(filter(None, (f"{launch['family']}/{launch['variant']}", launch["size"])))
        check(launch["verified"] == "1", f"verified  {name}", launch["reason"])


def check_golden(check, golden, results):
    values = {}
    for row in results:
        key = (row["family"], row["variant"], row["size"])
        values[key + (row["metric"],)] = row
    for row in golden:
        key = variant_of(row)
        differences = []
        for column, metric in METRICS.items():
            expected = float(row[column])
            found = values.get(key + (metric,))
            text = found["value"] if found else ""
            if text == "":
                no_requests = metric in REQUESTS and float(row[REQUESTS[metric]]) == 0
                if not no_requests:
                    reason = found["reason"] if found else "not measured"
                    differences.append(f"{metric} unavailable ({reason})")
            elif abs(float(text) - expected) > 1e-9 * max(1, abs(expected)):
                differences.append(f"{metric} {float(text):g} instead of {expected:g}")
            elif found["grade"] != "measured":
                differences.append(f"{metric} is graded {found['grade']}")
        name = " ".join(filter(None, (f"{key[0]}/{key[1]}", key[2])))
        check(not differences, f"golden    {row['case']} {row['kernel']} = {name}",
              "; ".join(differences) or f"{len(METRICS)} figures equal")


def check_times(check, launches, results):
    times = {r["launch_id"]: r for r in results if r["metric"] == "duration"}
    for launch in launches:
        name = " ".join(filter(None, (f"{launch['family']}/{launch['variant']}", launch["size"])))
        row = times.get(launch["launch_id"])
        value = row["value"] if row else ""
        check(value != "" and float(value) > 0, f"timed     {name}",
              f"{float(value):.0f} ns" if value else (row["reason"] if row else "no row"))


# Writes to the first card's memory for two minutes.
BUSY = """
import ctypes, time
cuda = ctypes.CDLL("libcuda.so.1")
device, context, memory = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint64()
assert cuda.cuInit(0) == 0 and cuda.cuDeviceGet(ctypes.byref(device), 0) == 0
assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device) == 0 and cuda.cuCtxSetCurrent(context) == 0
assert cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(256 << 20)) == 0
end = time.time() + 120
while time.time() < end:
    assert cuda.cuMemsetD32_v2(memory, 0, ctypes.c_size_t(64 << 20)) == 0 and cuda.cuCtxSynchronize() == 0
"""


def rows_of(program, database, sql):
    result = subprocess.run([program, "query", "--db", str(database), "--format", "csv", sql], capture_output=True, text=True,
                            check=False)
    return list(csv.DictReader(io.StringIO(result.stdout)))


def check_neighbours(check, program, work):
    """A second process keeps the card busy while a first one measures on it."""
    measured = ["run", "vector_add/block_256", "-n", "4194304", "-b", "cupti", "-d", "0", "--max-samples", "50", "--no-progress"]
    disturbed = ("SELECT phase, disturbs, what, process_id, memory_mib, busy, reason FROM disturbances WHERE kind = 'process' "
                 "ORDER BY phase DESC, busy DESC")

    def measure(name):
        return subprocess.run([program, *measured, "--db", str(work / name)], capture_output=True, text=True, check=False)
    time.sleep(3)  # until nothing of what was before counts as recent
    alone = measure("alone.db")
    found = [row for row in rows_of(program, work / "alone.db", disturbed) if row["disturbs"] == "1"]
    check(alone.returncode == 0 and not found,
          "neighbours  alone on the card nobody is found", f"{found} {alone.stderr.strip()[-200:]}")
    with subprocess.Popen([sys.executable, "-c", BUSY], stdout=subprocess.DEVNULL) as busy:
        time.sleep(5)
        beside = measure("beside.db")
        still_there = busy.poll() is None
        busy.terminate()
    check(still_there, "neighbours  the second process was there all the time")
    rows = rows_of(program, work / "beside.db", disturbed)
    before = [row for row in rows if row["phase"] == "before"]
    hidden = [row for row in before if row["reason"]]
    if hidden:  # a container that hides processes: then it says so
        check(True, "neighbours  cannot be seen here", hidden[0]["reason"])
        return
    check(len(before) == 1 and before[0]["disturbs"] == "1" and {row["phase"] for row in rows} == {"before", "after"},
          "neighbours  the second process is stored, before and after", str(rows))
    if before and before[0]["process_id"]:
        check(int(before[0]["process_id"]) == busy.pid and float(before[0]["memory_mib"] or 0) > 0,
              "neighbours  by its number and memory", before[0]["what"])
    check("times may be disturbed: " in beside.stderr, "neighbours  it is said at the end", beside.stderr.strip()[-300:])
    report = subprocess.run([program, "report", "--db", str(work / "beside.db"), "--section", "headline"], capture_output=True,
                            text=True, check=False).stdout
    check("Something may have disturbed the times" in report, "neighbours  and in the report's first sentences")


def main():
    work, status, tests = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    golden = read(pathlib.Path(__file__).parent.parent / "golden" / "h200_seed_kernels.csv")
    launches, results = read(work / "launches.csv"), read(work / "results.csv")
    check = Checks()
    check(status == 0, "warpmeter run --backend cupti", f"exit {status}")
    check(tests == 0, "device_test", f"exit {tests}")
    check_launches(check, launches)
    check_times(check, launches, results)
    check_golden(check, golden, results)
    if len(sys.argv) > 4:
        check_neighbours(check, sys.argv[4], work)
    print(f"{check.passed} of {check.passed + check.failed} checks hold")
    return 0 if check.failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
