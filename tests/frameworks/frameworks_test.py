# SPDX-License-Identifier: MIT
"""CuPy and Numba on the model: scripts of this folder print that they are right, launches have the counts that a count by
hand gives, and `exact` counts are those that an H200 gave (recorded/).

    python frameworks_test.py       the interpreter has warpmeter, cupy and numba-cuda; `warpmeter` is on PATH
"""
import concurrent.futures
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import counts
from programs import FINDING, is_right, programs

HERE = pathlib.Path(__file__).resolve().parent
# A GPU counts the launches of a graph together. The others have loops that may wait, and the model does not name the NVTX
# range of such a launch.
NOT_COMPARED = {"graph_capture", "cooperative", "searchsorted", "special_erf", "atomic_float_max", "random_xoroshiro"}
# Scripts that take more than 2 s, and those that need a library of machine code: cuBLAS, cuFFT, cuRAND, Thrust's sort.
LEFT_OUT = {"matmul_int", "raw_grid_sync", "jit_rawkernel", "jit_shared", "convolve_nd", "histogram",
            "sort", "argsort", "matmul_float", "matmul_types", "cublas_vectors", "batched_solve", "random", "fft"}

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

RAW_KERNEL = '''import cupy as cp

k = cp.RawKernel(r"""
extern "C" __global__ void k(float* a) {
  a[threadIdx.x] = 1;
}
""", "k")
x = cp.zeros((32, 64), cp.float32)
k((1,), (64,), (x,))
print(x[0, 0])
'''

IN_PROCESS = """
import warpmeter as wm
wm.use_model()
{imports}
{before}
with wm.measure(["global_load_requests", "global_load_sectors"], database={database!r}) as m:
    {launch}
print(m.values("global_load_requests"), m.values("global_load_sectors"))
"""


# A folder of Triton's cache as an earlier process left it, and a process that loads its machine code.
TO_CACHE = """
import json, os, pathlib
from cupy.cuda import nvrtc
folder = pathlib.Path(os.environ["TRITON_CACHE_DIR"]) / "HASH"
folder.mkdir()
program = nvrtc.createProgram('extern "C" __global__ void f(float* a) { a[2 * threadIdx.x] += 1; }', "f.cu", (), ())
nvrtc.compileProgram(program, ("-arch=sm_90",))
(folder / "f.cubin").write_bytes(nvrtc.getCUBIN(program) + bytes(1))  # CuPy takes the last byte for the end of a text
(folder / "f.ptx").write_bytes(nvrtc.getPTX(program))
(folder / "f.json").write_text("{}")
"""
FROM_CACHE = """
import os, pathlib
import warpmeter as wm
wm.use_model()
import cupy as cp
module = cp.cuda.function.Module()
module.load((pathlib.Path(os.environ["TRITON_CACHE_DIR"]) / "HASH/f.cubin").read_bytes())
a = cp.asarray([1.0] * 64, cp.float32)
with wm.measure(["gst_transactions"], database=os.environ["TRITON_CACHE_DIR"] + "/a.db") as m:
    module.get_function("f")((1,), (32,), (a,))
print(a.get().sum(), m.values("gst_transactions"))
"""


# Every planted mistake and its correct twin, by the prefix of its framework.
PREFIXES = {"cupy": "c_", "numba": "n_"}

RUN_ALL = "import runpy, sys\nfor path in sys.argv[1:]:\n    runpy.run_path(path)\n"

TO_CUB = """
import os
os.environ["CUPY_ACCELERATORS"] = "cub"
import cupy as cp
x = cp.ones(2048, "f")
print(x.sum())
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


class Planted:
    """Mistakes are found at their lines with exit code 6. Correct scripts have no finding, not even a leak, and exit code 0."""

    def setUp(self):
        self.all_programs = programs("planted")
        self.names = [name for name in self.all_programs if name.startswith(PREFIXES[self.kind])]
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name in self.names:
            (self.folder / f"{name}.py").write_text(self.all_programs[name])

    def checked(self, database, *command):
        return subprocess.run(
            [shutil.which("warpmeter"), "profile", "--check", "--db", self.folder / database, sys.executable, "-W", "ignore", *command],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=300)

    def wrong(self, name):
        path = self.folder / f"{name}.py"
        done = self.checked(f"{name}.db", path)
        is_as_planted = is_right(name, self.all_programs[name], path, done.stdout, done.returncode)
        return "" if is_as_planted else f"{name}, exit code {done.returncode}:\n{done.stdout[-1500:]}"

    def test_are_found(self):
        names = [name for name in self.names if name.endswith("_bad")]
        self.assertEqual(len(names), self.planted)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            self.assertEqual([one for one in pool.map(self.wrong, names) if one], [])

    def test_correct_twins_have_none_in_one_process(self):
        names = [name for name in self.names if name.endswith("_good")]
        self.assertEqual(len(names), self.planted)
        done = self.checked("good.db", "-c", RUN_ALL, *(self.folder / f"{name}.py" for name in names))
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(FINDING.findall(done.stdout), [], done.stdout)
        self.assertNotIn("Error", done.stdout)


class CupyPlanted(Planted, unittest.TestCase):
    kind, planted = "cupy", 6


class NumbaPlanted(Planted, unittest.TestCase):
    kind, planted = "numba", 7


class Refused(unittest.TestCase):
    """A call that the model refuses is never silent."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_script(self, source, *command):
        path = self.folder / "script.py"
        path.write_text(source)
        return subprocess.run([*command, sys.executable, path.name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False, timeout=120, cwd=self.folder)

    def profiled(self, source):
        return self.run_script(source, shutil.which("warpmeter"), "profile", "-b", "model", "--db", "a.db")

    def test_a_sum_of_cupy_is_right_in_its_process(self):
        done = self.run_script('import warpmeter as wm\nwm.use_model()\nimport cupy as cp\nx = cp.ones(2048, "f")\n'
                               "print(x.sum(), cp.sum(x), x.max())\n")
        self.assertEqual(done.stdout, "2048.0 2048.0 1.0\n")

    def test_a_sum_by_machine_code_is_a_warning_at_its_line_and_a_failed_launch(self):
        done = self.run_script("import warpmeter as wm\nwm.use_model()\n" + TO_CUB +
                               'try:\n    with wm.measure(database="a.db") as m:\n        x.max()\n'
                               "except wm.WarpmeterError as error:\n    print(error.exit_code)\n")
        self.assertRegex(done.stdout, r"script\.py:8: RuntimeWarning: cudaLaunch\w+ returned .* at script\.py:8: .*CUPY_ACCELERATORS=")
        self.assertRegex(done.stdout, r"script\.py:11: RuntimeWarning")
        self.assertTrue(done.stdout.endswith("\n6\n"), done.stdout)

    def test_a_program_that_goes_on_without_it_ends_with_3(self):
        done = self.profiled(TO_CUB)
        self.assertEqual(done.returncode, 3, done.stdout)
        self.assertIn("results may be wrong", done.stdout)
        self.assertIn("script.py:6", done.stdout)

    def test_one_that_handles_the_exception_ends_with_its_own_code(self):
        done = self.profiled("import cupy as cp\nx = cp.ones((8, 8), 'f')\ny = None\ntry:\n    y = x.argsort()\n"
                             "except Exception:\n    y = None\nprint(y)\n")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertTrue(done.stdout.startswith("None\n"), done.stdout)

    def test_a_library_of_machine_code_is_named_at_the_line_that_needs_it(self):
        if importlib.util.find_spec("cupy.cuda.cufft") is None:
            self.skipTest("CuPy has no cuFFT here")
        done = self.profiled("from cupy.cuda import cufft\n\ncufft.Plan1d(8, cufft.CUFFT_C2C, 1)\n")
        if re.search(r"libcufft\S*: cannot open shared object file", done.stdout):
            self.skipTest("cuFFT is not installed")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertRegex(done.stdout, r"cufftCreate\w* failed at script\.py:3: cuFFT is machine code, .* on the CPU")


class Places(unittest.TestCase):
    """Findings and lines name what a person wrote."""

    def checked(self, source, *options):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "script.py"
            path.write_text(source)
            done = subprocess.run(
                [shutil.which("warpmeter"), "profile", "-b", "model", "--db", "a.db", *options, sys.executable, "-W", "ignore", path.name],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=120, cwd=folder)
            lines = subprocess.run(
                [shutil.which("warpmeter"), "query", "--db", "a.db", "--format", "csv", "SELECT DISTINCT file, line, text FROM lines"],
                stdout=subprocess.PIPE, text=True, check=False, cwd=folder)
        return done.stdout, lines.stdout

    def test_a_kernel_that_stands_in_the_script_has_its_lines(self):
        output, lines = self.checked(RAW_KERNEL, "-m", "gst_transactions")
        self.assertIn("script.py,5,", lines, output)
        self.assertIn("a[threadIdx.x] = 1;", lines)

    def test_a_kernel_that_is_put_together_has_its_text_and_the_line_that_made_it(self):
        output, lines = self.checked(RAW_KERNEL.replace('""", "k")', '""".replace("1", "2"), "k")'), "-m", "gst_transactions")
        self.assertIn("script.py@9.cu,3,", lines, output)
        self.assertIn("a[threadIdx.x] = 2;", lines)

    def test_an_access_out_of_bounds_names_array_shape_and_element(self):
        output, _ = self.checked(RAW_KERNEL.replace("threadIdx.x]", "threadIdx.x + 2000]"), "--check")
        self.assertRegex(output, r"script\.py:5 ")
        self.assertRegex(output, r"'x' is float32 of\s+shape \(32, 64\), and this is its element 2048")

    def test_numba_without_lineinfo_names_the_function(self):
        output, _ = self.checked(
            "import numpy as np\nfrom numba import cuda\n\n@cuda.jit\ndef f(a):\n    a[cuda.grid(1) + 2000] = 1\n\n"
            "b = cuda.device_array(64, np.float32)\nf[1, 64](b)\ncuda.synchronize()\n", "--check")
        self.assertRegex(output, r"out of bounds +script\.py:4 ")
        self.assertRegex(output, r"lineinfo=True\) gives the\s+line")
        self.assertRegex(output, r"'b' is float32 of shape\s+\(64,\)")


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

    def test_machine_code_of_tritons_cache_is_found_in_a_process_that_ran_already(self):
        with tempfile.TemporaryDirectory() as folder:
            variables = os.environ | {"TRITON_CACHE_DIR": folder, "XDG_CACHE_HOME": f"{folder}/other", "PYTHONWARNINGS": "ignore"}
            self.assertEqual(output_of([sys.executable, "-c", TO_CACHE], env=variables), "")
            self.assertEqual(output_of([sys.executable, "-c", FROM_CACHE], env=variables), "96.0 [8.0]\n")
            pathlib.Path(folder, "HASH/f.json").unlink()
            self.assertIn("CUDA_ERROR", output_of([sys.executable, "-c", FROM_CACHE], env=variables))


    def test_their_launches_have_the_range_that_is_open(self):
        script = ('import warpmeter as wm\nwm.use_model()\nimport cupy as cp\nfrom cupyx.profiler import time_range\n'
                  f"x = cp.ones(64)\nwith wm.measure(database={self.folder.name + '/nvtx.db'!r}) as m:\n"
                  "    with time_range('mine'):\n        x + 1\n    x + 2\nprint([row['nvtx_range'] for row in m.rows])\n")
        self.assertEqual(output_of([sys.executable, "-c", script]), "['mine', None]\n")


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
