# SPDX-License-Identifier: MIT
"""Kernels of Triton, CuPy and Numba, measured in-process and by ncu; see python_costs.sh.

python_frameworks.py KIND FOLDER           compares
python_frameworks.py KIND FOLDER measured  the script, with a range around its launches
python_frameworks.py KIND FOLDER plain     the same without, between cuProfilerStart and cuProfilerStop"""

import ctypes
import json
import pathlib
import subprocess
import sys

SASS = "smsp__sass_"
METRICS = [SASS + name + ".sum" for name in (
    "l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld", "l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st",
    "l1tex_t_sectors_pipe_lsu_mem_global_op_ld", "l1tex_t_sectors_pipe_lsu_mem_global_op_st",
    "inst_executed_op_global_ld", "inst_executed_op_global_st", "inst_executed_op_shared_ld", "inst_executed_op_shared_st")]


def of_triton():
    import torch
    import triton_in_process as kernels

    x = torch.arange(100_000, dtype=torch.float32).cuda()
    out, wide, total = torch.empty_like(x), torch.ones(300, 1000).cuda(), torch.zeros(1).cuda()
    a = torch.ones(256, 256, dtype=torch.float16).cuda()
    c = torch.empty_like(a)

    def launch():
        kernels.scaled[(98,)](x, out, 100_000, BLOCK=1024)
        kernels.softmax[(300,)](wide, wide, 1000, BLOCK=1024)
        kernels.product[(4, 4)](a, a, c, 256, 256, BLOCK=64, DEPTH=32)
        kernels.total[(98,)](x, total, 100_000, BLOCK=1024)

    return launch, torch.cuda.synchronize


def of_cupy():
    import cupy as cp

    turn = cp.RawKernel("""
extern "C" __global__ void turn(const float* in, float* out, int side) {
  __shared__ float tile[32][32];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * side + x];
  __syncthreads();
  out[(blockIdx.x * 32 + threadIdx.y) * side + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}""", "turn")
    add = cp.ElementwiseKernel("float32 a, float32 b", "float32 c", "c = a + b", "add_arrays")
    squares = cp.ReductionKernel("float32 a", "float32 c", "a * a", "a + b", "c = a", "0", "squares")
    x = cp.ones((512, 512), dtype=cp.float32)
    out = cp.empty_like(x)
    strided = x[:, ::2]

    def launch():
        turn((16, 16), (32, 32), (x, out, cp.int32(512)))
        add(x, out, out)
        squares(x)
        cp.sqrt(strided)

    return launch, cp.cuda.Device().synchronize


def of_numba():
    import numpy as np

    if not hasattr(np, "row_stack"):
        np.row_stack = np.vstack  # numba 0.68 asks for it, and NumPy 2.5 has it no more
    from numba import cuda, float32

    @cuda.jit
    def scaled(a, out):
        i = cuda.grid(1)
        if i < a.size:
            out[i] = a[i] * float32(3)

    @cuda.jit
    def reversed_blocks(a, out):
        tile = cuda.shared.array(256, float32)
        t = cuda.threadIdx.x
        tile[t] = a[cuda.grid(1)]
        cuda.syncthreads()
        out[cuda.grid(1)] = tile[255 - t]

    @cuda.jit
    def every_third(a, out):
        i = cuda.grid(1)
        out[i] = a[i * 3 % a.size]

    @cuda.jit
    def histogram(a, bins):
        i = cuda.grid(1)
        if i < a.size:
            cuda.atomic.add(bins, i % 16, 1)

    a = cuda.to_device(np.ones(65536, dtype=np.float32))
    out = cuda.device_array_like(a)
    bins = cuda.to_device(np.zeros(16, dtype=np.int32))

    def launch():
        for kernel, target in ((scaled, out), (reversed_blocks, out), (every_third, out), (histogram, bins)):
            kernel[256, 256](a, target)

    return launch, cuda.synchronize


KINDS = {"triton": of_triton, "cupy": of_cupy, "numba": of_numba}


def script(kind, folder, how):
    launch, synchronize = KINDS[kind]()
    launch()  # compiles the kernels
    synchronize()
    if how == "plain":
        driver = ctypes.CDLL("libcuda.so.1")
        driver.cuProfilerStart()
        launch()
        synchronize()
        driver.cuProfilerStop()
        return
    import warpmeter as wm

    with wm.measure(metrics=METRICS, database=folder / f"{kind}.db") as m:
        launch()
        synchronize()
    print(*m.remarks, sep="\n")


def of_warpmeter(kind, folder):
    """The launches in order: the kernel, and the value of each metric."""
    import sqlite3

    done = subprocess.run([sys.executable, "-B", __file__, kind, str(folder), "measured"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"FAILED {kind}: {(done.stdout + done.stderr).strip()[-600:]}")
        return []
    launches = {}
    with sqlite3.connect(folder / f"{kind}.db") as database:
        for launch, kernel, metric, value in database.execute(
                "SELECT l.launch_id, l.kernel, r.metric, r.value FROM results r JOIN launches l USING (launch_id) ORDER BY 1"):
            if metric in METRICS:
                launches.setdefault(launch, (kernel, {}))[1][metric] = value
    return list(launches.values())


def compare(kind, folder):
    from ncu import by_ncu

    ours = of_warpmeter(kind, folder)
    theirs = by_ncu([sys.executable, "-B", __file__, kind, str(folder), "plain"], METRICS, str(folder / f"{kind}.csv"), 90,
                    "--profile-from-start", "off")
    equal = 0
    for (kernel, values), (_, expected, _) in zip(ours, theirs):
        differing = {metric: (values.get(metric), value) for metric, value in expected.items() if values.get(metric) != value}
        equal += not differing
        print(f"{'FAILED' if differing else 'ok    '} {kind}: {kernel[:60]}{': ' + json.dumps(differing) if differing else ''}")
    print(f"{kind}: {equal} of {len(theirs)} kernels measured in-process have ncu's counts ({len(METRICS)} each; {len(ours)} launches of ours)")
    return 0 if equal == len(theirs) == len(ours) and equal > 0 else 1


def main():
    kind, folder, *how = sys.argv[1:]
    return script(kind, pathlib.Path(folder), how[0]) if how else compare(kind, pathlib.Path(folder))


if __name__ == "__main__":
    sys.exit(main())
