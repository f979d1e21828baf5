# SPDX-License-Identifier: MIT
"""Prints how long the model takes for a softmax by Triton's recorded kernel (recorded/triton.json.xz): seconds of one launch,
the first with its compilation, and whether the result is right.

    warpmeter profile -q -b model -m @default python3 tests/frameworks/softmax_cost.py [ROWS]

The recorded kernel takes rows of at most 256 numbers: 4,096 rows when not given, as many numbers as 1,024 × 1,024.
"""
import array
import ctypes
import math
import pathlib
import random
import sys
import tempfile
import time

import replay

COLUMNS = 256


def expected(row):
    largest = max(row)
    powers = [math.exp(one - largest) for one in row]
    return [one / sum(powers) for one in powers]


def main():
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 4096
    recording = replay.recording_at(pathlib.Path(__file__).resolve().parent / "recorded/triton.json.xz")
    launch = next(launch for launch in recording["launches"] if launch["script"] == "s_softmax")
    driver, numbers = replay.Driver(), random.Random(1)
    values = array.array("f", (numbers.uniform(-4, 4) for _ in range(rows * COLUMNS)))
    size = len(values) * values.itemsize
    source, target, columns = driver.allocate(size), driver.allocate(size), ctypes.c_int32(COLUMNS)
    driver("cuMemcpyHtoD_v2", source, ctypes.c_void_p(values.buffer_info()[0]), ctypes.c_size_t(size))
    with tempfile.TemporaryDirectory() as folder:
        function = driver.kernel(recording["codes"][launch["code"]], launch["kernel"], pathlib.Path(folder))
    arguments = [source, target, columns, *(ctypes.c_uint64() for _ in launch["scratch"])]
    pointers = (ctypes.c_void_p * len(arguments))(*(ctypes.addressof(one) for one in arguments))
    for _ in range(3):
        begin = time.perf_counter()
        driver("cuLaunchKernel", function, rows, 1, 1, launch["block"], 1, 1, launch["shared"], None, pointers, None)
        driver("cuCtxSynchronize")
        print(f"{time.perf_counter() - begin:.3f} s")
    result = array.array("f", driver.read(target, size))
    for row in (0, rows // 2, rows - 1):
        part = slice(row * COLUMNS, (row + 1) * COLUMNS)
        if not all(math.isclose(a, b, rel_tol=1e-5, abs_tol=1e-7) for a, b in zip(result[part], expected(values[part]))):
            sys.exit(f"row {row} is wrong")
    print("right")


if __name__ == "__main__":
    main()
