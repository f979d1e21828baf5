# SPDX-License-Identifier: MIT
"""The cost of measuring a launch to a Python script: in-process, by nsight-python and by ncu; see python_costs.sh.

python_costs.py WARPMETER FOLDER       the table
python_costs.py - FOLDER TOOL LAUNCHES one script: prints the value of the last launch"""

import importlib.util
import inspect
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

METRIC = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"
STRIDE, WAVEFRONTS = 8, 8  # python/tests/cuda.py has the count by hand
FEW, MANY, RUNS = 2, 502, 3
LIMIT = 60  # seconds of a script


# ---- the script, with each tool

def alone(tile, launches, _folder):
    for _ in range(launches):
        tile(STRIDE)


def a_range_a_launch(tile, launches, folder):
    import warpmeter as wm

    for _ in range(launches):
        with wm.measure(metrics=[METRIC], database=folder / "costs.db") as m:
            tile(STRIDE)
    return m


def a_range_of_all(tile, launches, folder):
    import warpmeter as wm

    with wm.measure(metrics=[METRIC], database=folder / "costs.db") as m:
        for _ in range(launches):
            tile(STRIDE)
    return m


def nsight_python(tile, launches, folder):
    import nsight

    known = inspect.signature(nsight.analyze.kernel).parameters
    wanted = {"runs": launches, "metric": METRIC, "metrics": [METRIC], "output": "quiet", "verbosity": 0, "thermal_control": False,
              "thermal_mode": "off", "cache_control": "none", "clock_control": "none", "output_prefix": f"{folder}/nsight_"}

    @nsight.analyze.kernel(**{name: value for name, value in wanted.items() if name in known})
    def measured(stride):
        with nsight.annotate("tile"):
            tile.launch(stride)

    return measured(STRIDE)


def kernels_of_tests():
    """python/tests/cuda.py, by another name than that of NVIDIA's package."""
    file = pathlib.Path(__file__).resolve().parents[2] / "python/tests/cuda.py"
    spec = importlib.util.spec_from_file_location("kernels_of_tests", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def one_script(tool, launches, folder):
    kernels = kernels_of_tests()
    begin = time.perf_counter()
    result = TOOLS[tool](kernels.Tile(kernels.Cuda()), launches, folder)
    print(f"seconds {time.perf_counter() - begin:.6f}")
    if tool == "nsight-python":
        print(f"value {result.to_dataframe()['AvgValue'].iloc[0]}")
    elif result is not None:
        print(f"value {last_value(folder)}")


def last_value(folder):
    """The value of the last launch in the database."""
    import sqlite3

    with sqlite3.connect(folder / "costs.db") as database:
        return database.execute("SELECT value FROM results WHERE metric = ? ORDER BY launch_id DESC LIMIT 1", [METRIC]).fetchone()[0]


TOOLS = {"alone": alone, "warpmeter, a range a launch": a_range_a_launch, "warpmeter, one range": a_range_of_all,
         "nsight-python": nsight_python}


# ---- the table

def run(folder, tool, launches):
    """Milliseconds of the whole script, and its value; a text if it failed."""
    command = [sys.executable, "-B", __file__, "-", str(folder), "alone" if tool == "ncu" else tool, str(launches)]
    log = folder / "ncu.csv"
    log.unlink(missing_ok=True)
    if tool == "ncu":
        command = ["ncu", "--csv", "--page", "raw", "--clock-control", "none", "--cache-control", "none", "--metrics", METRIC,
                   "--log-file", str(log), *command]
    begin = time.perf_counter()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False, cwd=folder)
    except subprocess.TimeoutExpired:
        return f"did not end within {LIMIT} s"
    milliseconds = (time.perf_counter() - begin) * 1e3
    if done.returncode != 0:
        return f"ended with {done.returncode}: {(done.stdout + done.stderr).strip()[-600:]}"
    if tool == "alone":
        return milliseconds, None
    if tool == "ncu":
        rows = [line for line in log.read_text(errors="replace").splitlines() if re.match(r'"\d', line)]
        return milliseconds, float(rows[-1].rsplit('"', 2)[1].replace(",", "")) if len(rows) == launches else None
    value = re.search(r"^value (\S+)", done.stdout, re.M)
    return milliseconds, float(value[1]) if value else None


def row(folder, tool, runs, own):
    few, many = ([run(folder, tool, launches) for _ in range(runs)] for launches in (FEW, MANY))
    failures = [each for each in few + many if isinstance(each, str)]
    if failures:
        print(f"{tool}: {failures[0]}")
        return None
    few_ms, many_ms = (statistics.median(each[0] for each in one) for one in (few, many))
    launch = (many_ms - few_ms) / (MANY - FEW)
    values = {each[1] for each in few + many}
    if own is None:
        print(f"alone: {few_ms:.0f} ms with {FEW} launches, {many_ms:.0f} ms with {MANY}")
        return few_ms, many_ms
    is_right = values == {float(WAVEFRONTS)}
    print(f"| {tool:28} | {launch - (own[1] - own[0]) / (MANY - FEW):12.2f} | {few_ms - own[0]:12.0f} | {many_ms - own[1]:12.0f} | "
          f"{'right' if is_right else f'WRONG: {values}'} |", flush=True)
    return is_right


def main():
    if sys.argv[1] == "-":
        return one_script(sys.argv[3], int(sys.argv[4]), pathlib.Path(sys.argv[2]))
    folder = pathlib.Path(sys.argv[2])
    run(folder, "alone", FEW)  # for the page cache
    own = row(folder, "alone", RUNS, None)
    if own is None:
        return 1
    print(f"Milliseconds beyond the script's own, {METRIC}, medians of {RUNS} scripts (nsight-python and ncu: one):")
    print(f"| {'':28} | {'a launch':>12} | {f'{FEW} launches':>12} | {f'{MANY} launches':>12} | value |\n"
          f"|{'-' * 30}|{'-' * 13}:|{'-' * 13}:|{'-' * 13}:|-------|")
    results = [row(folder, tool, RUNS, own) for tool in list(TOOLS)[1:3]]
    if importlib.util.find_spec("nsight") is None:
        print("nsight-python: is not installed here")
    else:
        row(folder, "nsight-python", 1, own)
    results.append(row(folder, "ncu", 1, own))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
