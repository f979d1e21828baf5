# SPDX-License-Identifier: MIT
"""CuPy and Numba on the model: scripts of this folder print that they are right, launches have the counts that a count by
hand gives, and `exact` counts are those that an H200 gave (recorded/).

    python frameworks_test.py       the interpreter has warpmeter, cupy and numba-cuda; `warpmeter` is on PATH
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import counts
from programs import programs

HERE = pathlib.Path(__file__).resolve().parent
# A GPU counts the launches of a graph together. The others have loops that may wait, and the model does not name the NVTX
# range of such a launch.
NOT_COMPARED = {"graph_capture", "searchsorted", "special_erf", "atomic_float_max", "random_xoroshiro"}
# Scripts that take more than 2 s, and those that need a library of machine code: cuBLAS, cuFFT, cuRAND, Thrust's sort,
# libcudadevrt.
LEFT_OUT = {"matmul_int", "raw_grid_sync", "jit_rawkernel", "jit_shared", "convolve_nd", "histogram",
            "sort", "argsort", "matmul_float", "random", "fft", "cooperative"}

# The script's first launch, counted by hand.
BY_HAND = {
    # 1,000 floats by 31 whole warps and a quarter of one: 32 requests, 4,000 bytes in 125 sectors.
    ("cupy", "raw_kernel"): {"global_load_requests": 32, "global_load_sectors": 125, "global_store_requests": 32,
                             "global_store_sectors": 125, "shared_load_requests": 0},
    # 4 blocks of 8 warps, each a tree of 4 + 2 + 1 + 5 × 1 = 12 steps of a warp: two loads and a store each. 8 warps fill the
    # memory first, and a warp reads the sum last: 12 · 2 + 1 loads and 12 + 8 stores a block, none with a conflict.
    ("cupy", "raw_shared_dynamic"): {"global_load_sectors": 128, "shared_load_requests": 100, "shared_load_wavefronts": 100,
                                     "shared_store_requests": 80, "shared_store_wavefronts": 80, "global_store_requests": 4},
    # 1,000 doubles, twice: 64 requests for 2 × 250 sectors.
    ("numba", "vadd"): {"global_load_requests": 64, "global_load_sectors": 500, "global_store_requests": 32,
                        "global_store_sectors": 250},
    # 64 floats by 2 warps, reversed in shared memory: no conflict either way.
    ("numba", "shared_reverse"): {"global_load_sectors": 8, "shared_store_wavefronts": 2, "shared_load_wavefronts": 2,
                                  "global_store_sectors": 8},
    # 4 blocks of 8 warps, 2 tiles of 16 × 16 floats. Lanes of a warp are 16 rows, 16 words apart, of 2 columns. Stores: 32 warps ·
    # 2 tiles · 2 = 128 requests, 8 wavefronts each, for 8 lanes meet in each of 4 banks. Loads: a row of the left tile is 4 loads of
    # 128 bits, so 32 · 2 · 4 = 256 requests; of 8 lanes at a time 4 meet in the same banks: 16 wavefronts each. The right tile's are
    # 32 · 2 · 16 = 1,024 requests for 2 words each: 1 wavefront.
    ("numba", "matmul_tiled"): {"shared_store_requests": 128, "shared_store_wavefronts": 1024,
                                "shared_load_requests": 256 + 1024, "shared_load_wavefronts": 16 * 256 + 1024},
}

IN_PROCESS = """
import warpmeter as wm
wm.use_model()
{imports}
{before}
with wm.measure(["global_load_requests", "global_load_sectors"], database={database!r}) as m:
    {launch}
print(m.values("global_load_requests"), m.values("global_load_sectors"))
"""


def output_of(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=300, **options)
    return done.stdout


class Scripts:
    """A framework's scripts run once, in one process."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.names = [name for name in programs(cls.kind) if name not in LEFT_OUT]
        cls.path = pathlib.Path(cls.folder.name) / "counts.csv"
        cls.output = output_of([sys.executable, "-B", "-W", "ignore", HERE / "counts.py", "record", shutil.which("warpmeter"),
                                "model", sys.executable, cls.kind, cls.path, *cls.names])
        cls.launches = counts.by_script(cls.path)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_are_right(self):
        self.assertIn(f"{self.kind}: {len(self.names)} scripts right", self.output)

    def test_have_the_counts_by_hand(self):
        for (kind, script), expected in BY_HAND.items():
            if kind == self.kind:
                first = self.launches[script][0]
                self.assertEqual({name: first[name] for name in expected}, {name: str(value) for name, value in expected.items()},
                                 script)

    def test_have_the_counts_of_a_gpu(self):
        names = [name for name in self.names if name not in NOT_COMPARED]
        found = counts.compared(HERE / f"recorded/h200_{self.kind}.csv", self.path, names)
        self.assertEqual(found.differences, [])
        self.assertGreater(found.equal, 1000)


class Cupy(Scripts, unittest.TestCase):
    kind = "cupy"

    def test_are_measured_in_their_process(self):
        database = f"{self.folder.name}/cupy.db"
        script = IN_PROCESS.format(
            imports="import cupy as cp", database=database,
            before="k = cp.RawKernel('extern \"C\" __global__ void f(float* a) { a[threadIdx.x] += 1; }', 'f')\n"
                   "a = cp.ones(64, cp.float32)",
            launch="k((1,), (64,), (a,))")
        self.assertEqual(output_of([sys.executable, "-c", script]), "[2.0] [8.0]\n")


class Numba(Scripts, unittest.TestCase):
    kind = "numba"

    def test_are_measured_in_their_process(self):
        database = f"{self.folder.name}/numba.db"
        (pathlib.Path(self.folder.name) / "kernel.py").write_text(
            "from numba import cuda\n@cuda.jit\ndef f(a):\n    a[cuda.threadIdx.x * 8] += 1\n")
        script = IN_PROCESS.format(
            imports="import numpy as np\nfrom numba import cuda\nfrom kernel import f", database=database,
            before="a = cuda.to_device(np.ones(256, np.float32))", launch="f[1, 32](a)")
        self.assertEqual(output_of([sys.executable, "-W", "ignore", "-c", script], cwd=self.folder.name), "[1.0] [32.0]\n")


if __name__ == "__main__":
    unittest.main()
