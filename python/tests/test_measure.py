# SPDX-License-Identifier: MIT
"""A range counts what is launched within it, and nothing else. Expected counts: by hand, in cuda.py."""

from __future__ import annotations

import concurrent.futures
import contextlib
import math
import multiprocessing
import os
import pathlib
import pickle
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import pytest
from cuda import Cuda, Tile, threads
from ranges_cost import import_ms

import warpmeter as wm

Measure = Callable[..., wm.Measurement]

loads = "shared_load_transactions_per_request"


def test_a_launch_is_a_row(tile: Tile, measure: Measure) -> None:
    tile(32)
    with measure() as m:
        tile(1)
        tile(2)
        tile(32)
    tile(32)
    assert m.values(loads) == [1, 2, 32]
    assert [row["shared_store_transactions_per_request"] for row in m.rows] == [1, 2, 32]
    assert [row["gst_transactions"] for row in m.rows] == [4, 4, 4]
    assert [row["gst_efficiency"] for row in m.rows] == [100, 100, 100]
    assert {row["variant"] for row in m.rows} == {"tile"}
    assert {row["backend"] for row in m.rows} == {"model"}


def test_the_kernel_computes_the_same_inside_and_outside(tile: Tile, measure: Measure) -> None:
    outside = tile(5)
    with measure():
        inside = tile(5)
    assert inside == outside == list(range(threads))


def test_the_model_has_no_time_and_says_so(tile: Tile, measure: Measure) -> None:
    with measure() as m:
        tile(1)
    assert m.rows[0]["duration_ns"] is None
    assert math.isnan(m.values("duration")[0])


def test_the_import_takes_at_most_50_ms_of_the_processor() -> None:
    assert import_ms("process_time") <= 50


def test_ranges_have_metrics_of_their_own(tile: Tile, measure: Measure) -> None:
    with measure([loads]) as first:
        tile(4)
    with measure(["gst_transactions"]) as second:
        tile(4)
    assert first.values(loads) == [4]
    assert math.isnan(first.values("gst_transactions")[0])
    assert second.values("gst_transactions") == [4]
    assert second.run == first.run + 1
    with pytest.raises(wm.WarpmeterError) as error:
        first.values("gst_transaction")
    assert error.value.exit_code == 2


def test_the_frame_has_the_columns_of_comparison(tile: Tile, measure: Measure) -> None:
    with measure() as m:
        tile(1)
        tile(8)
    frame = m.frame
    assert list(frame[loads]) == [1, 8]
    assert frame.shape[0] == 2
    assert {"launch_id", "grid", "block", "duration_ns", "gld_efficiency"} <= set(frame.columns)
    assert set(m.results["grade"]) <= {"exact", "modelled", "sampled", "ptx", "unavailable"}


def test_lines_name_the_source(tile: Tile, measure: Measure) -> None:
    with measure() as m:
        tile(32)
    lines = m.lines()
    shared = lines[lines["access"] == "shared load"].iloc[0]
    assert (shared["file"], shared["line"]) == ("tile.cu", 8)
    assert (shared["requests"], shared["transactions"], shared["excess"]) == (1, 32, 31)


def test_a_gate_is_an_assertion_with_line_and_advice(tile: Tile, measure: Measure) -> None:
    with measure() as m:
        tile(1)
        tile(32)
    m.check(f"{loads} <= 32")
    with pytest.raises(AssertionError) as broken:
        m.check(f"{loads} <= 1")
    assert "tile.cu:" in str(broken.value)
    assert "Change:" in str(broken.value)


def test_a_gate_without_a_value_does_not_hold(tile: Tile, measure: Measure) -> None:
    with measure() as m:
        tile(1)
    with pytest.raises(wm.WarpmeterError) as error:
        m.check("duration < 1s")
    assert error.value.exit_code == 3


def test_reports_and_explanations(tile: Tile, measure: Measure) -> None:
    with measure(name="first try") as m:
        tile(32)
    assert "first try" in m.report()
    assert "32 transactions a request" in m.explain()
    assert m.remarks == []
    assert "<table" in m._repr_html_()


def test_launches_of_other_threads_count(tile: Tile, cuda: Cuda, measure: Measure) -> None:
    with measure([loads]) as m:
        worker = threading.Thread(target=lambda: Tile(Cuda(), "other")(16))
        worker.start()
        worker.join()
        tile(1)
    assert sorted(m.values(loads)) == [1, 16]


def test_an_exception_of_the_body_is_the_one_that_is_seen(tile: Tile, measure: Measure) -> None:
    with pytest.raises(ZeroDivisionError):
        with measure():
            1 / 0
    with measure([loads]) as m:
        tile(2)
    assert m.values(loads) == [2]


@pytest.mark.parametrize("metrics", [["no_such_metric"], ["@no_such_set"], [""], "gld_efficiency", ["a\0b"]])
def test_a_wrong_metric_is_wrong_usage(metrics: object, measure: Measure) -> None:
    with pytest.raises(wm.WarpmeterError) as error:
        with measure(metrics):
            pass
    assert error.value.exit_code == 2


def test_a_range_without_a_launch_has_nothing(measure: Measure) -> None:
    with pytest.raises(wm.WarpmeterError) as error:
        with measure():
            pass
    assert error.value.exit_code == 3


def test_a_range_without_a_launch_waits_for_nobody_who_writes(tile: Tile, measure: Measure) -> None:
    with measure() as m:
        tile(1)
    with contextlib.closing(sqlite3.connect(m.database)) as other:
        other.execute("BEGIN IMMEDIATE")
        begin = time.monotonic()
        with pytest.raises(wm.WarpmeterError) as error, measure():
            pass
        assert error.value.exit_code == 3
        assert time.monotonic() - begin < 10


def test_a_range_inside_a_range_is_refused_and_the_outer_one_goes_on(tile: Tile, measure: Measure) -> None:
    with measure([loads]) as outer:
        tile(1)
        with pytest.raises(wm.WarpmeterError) as error:
            with measure():
                tile(2)
        tile(4)
    assert error.value.exit_code == 2
    assert outer.values(loads) == [1, 4]


def test_two_threads_cannot_measure_at_once(tile: Tile, measure: Measure) -> None:
    codes: list[int] = []

    def other() -> None:
        try:
            with measure():
                pass
        except wm.WarpmeterError as error:
            codes.append(error.exit_code)

    with measure():
        worker = threading.Thread(target=other)
        worker.start()
        worker.join()
        tile(1)
    assert codes == [2]


def test_a_measurement_is_begun_once(tile: Tile, measure: Measure) -> None:
    with measure() as m:
        tile(1)
    with pytest.raises(wm.WarpmeterError):
        m.__enter__()


def test_figures_of_a_range_that_has_not_ended(measure: Measure) -> None:
    with pytest.raises(wm.WarpmeterError) as error:
        measure().rows
    assert error.value.exit_code == 3


def test_a_database_that_cannot_be_made() -> None:
    with pytest.raises(wm.WarpmeterError) as error:
        with wm.measure(database="/no/such/folder/a.db"):
            pass
    assert error.value.exit_code == 5


def test_a_database_that_was_removed_is_made_anew(tile: Tile, measure: Measure) -> None:
    for _ in range(2):
        with measure([loads]) as m:
            tile(2)
        assert (m.run, m.values(loads)) == (1, [2])
        os.remove(m.database)


def test_a_fork_gets_an_exception(tile: Tile, measure: Measure) -> None:
    with measure() as m:
        tile(1)
        child = os.fork()
        if child == 0:
            code = 99
            try:
                with measure():
                    pass
            except wm.WarpmeterError as error:
                code = error.exit_code
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 2
    assert m.values(loads) == [1]


def test_a_block_does_not_wait_for_a_fork_that_lives_longer(tile: Tile, measure: Measure) -> None:
    with measure([loads]) as m:
        tile(4)
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            signal.pause()
    assert os.waitpid(child, os.WNOHANG) == (0, 0)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert m.values(loads) == [4]


def test_a_fork_that_leaves_the_block_by_an_exception_has_that_exception(tile: Tile, measure: Measure) -> None:
    with measure([loads]) as m:
        tile(1)
        child = os.fork()
        if child == 0:
            seen: type[BaseException] | None = None
            try:
                m.__exit__(ZeroDivisionError, ZeroDivisionError(), None)
            except BaseException as error:
                seen = type(error)
            finally:
                os._exit(0 if seen is None else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert m.values(loads) == [1]


def test_a_host_function_gets_an_exception_and_no_block_waits_for_it(tmp_path: pathlib.Path) -> None:
    # Ranges begin and end while it sleeps: both wait for it.
    done = in_new_process(
        "import ctypes, time, warpmeter as wm\n"
        "wm.use_model()\n"
        "from cuda import Cuda, Tile\n"
        "cuda = Cuda()\n"
        "tile = Tile(cuda)\n"
        "def measure_late(_):\n"
        "    time.sleep(0.2)\n"
        "    try:\n"
        "        with wm.measure(database='a.db'): pass\n"
        "    except wm.WarpmeterError as error: print(error.exit_code)\n"
        "function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(measure_late)\n"
        "cuda('cuLaunchHostFunc', None, function, None)\n"
        "with wm.measure(database='a.db') as m:\n"
        "    tile.launch(4)\n"
        "    cuda('cuLaunchHostFunc', None, function, None)\n"
        f"print(m.values({loads!r}))",
        tmp_path,
    )
    assert done.stdout == "2\n2\n[4.0]\n", done.stderr


def test_a_range_that_a_host_function_ends_is_lost_and_the_next_one_is_not(tmp_path: pathlib.Path) -> None:
    done = in_new_process(
        "import ctypes, warpmeter as wm\n"
        "wm.use_model()\n"
        "from cuda import Cuda, Tile\n"
        "cuda = Cuda()\n"
        "tile = Tile(cuda)\n"
        "lost = wm.measure(database='a.db')\n"
        "def end(_):\n"
        "    try: lost.__exit__(None, None, None)\n"
        "    except wm.WarpmeterError as error: print(error)\n"
        "function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(end)\n"
        "lost.__enter__()\n"
        "cuda('cuLaunchHostFunc', None, function, None)\n"
        "cuda('cuCtxSynchronize')\n"
        "tile(8)\n"
        "with wm.measure(database='a.db') as m: tile(4)\n"
        f"print(m.values({loads!r}))",
        tmp_path,
    )
    assert done.stdout == "a host function of a stream cannot measure\n[4.0]\n", done.stderr


def test_many_databases_keep_few_files_open(tile: Tile, tmp_path: pathlib.Path) -> None:
    def measure_in(number: int) -> int:
        with wm.measure([loads], database=tmp_path / f"{number}.db"):
            tile(1)
        return len(os.listdir("/proc/self/fd"))

    files = [measure_in(number) for number in range(14)]
    assert files[-1] == files[8]


def test_the_model_is_chosen_once(tile: Tile) -> None:
    wm.use_model("sm_90")
    with pytest.raises(wm.WarpmeterError) as error:
        wm.use_model("sm_80")
    assert error.value.exit_code == 2


def in_new_process(code: str, folder: pathlib.Path) -> subprocess.CompletedProcess[str]:
    tests = pathlib.Path(__file__).parent
    return subprocess.run(
        [sys.executable, "-c", f"import sys\nsys.path.insert(0, {str(tests)!r})\n{code}"],
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=60,
    )


def test_a_library_of_the_drivers_name_can_be_linked_with_while_the_process_lives(tmp_path: pathlib.Path) -> None:
    done = in_new_process(
        "import os, subprocess, warpmeter as wm\n"
        "os.environ['TRITON_LIBCUDA_PATH'] = '/of an earlier process'\n"
        "wm.use_model()\n"
        "folder = os.environ['TRITON_LIBCUDA_PATH']\n"
        "if os.fork() == 0:\n"
        "    raise SystemExit\n"
        "os.wait()\n"
        "print(folder, os.path.exists(folder + '/libcuda.so.1'))",
        tmp_path,
    )
    if done.stdout == "/of an earlier process False\n":
        pytest.skip("the driver's own library is installed here")
    folder, is_there = done.stdout.split()
    assert is_there == "True", done.stderr
    assert not os.path.exists(folder)


def test_a_machine_without_a_gpu_says_what_to_call(tmp_path: pathlib.Path) -> None:
    done = in_new_process(
        "import warpmeter as wm\n"
        "try:\n"
        "    with wm.measure(): pass\n"
        "except wm.WarpmeterError as error: print(error.exit_code, error)",
        tmp_path,
    )
    if pathlib.Path("/dev/nvidia0").exists():
        pytest.skip("there is a GPU here")
    assert done.stdout.startswith("4 ") and "use_model()" in done.stdout, done.stderr


TILE_IN_NEW_PROCESS = "import warpmeter as wm\nwm.use_model()\nfrom cuda import Cuda, Tile\ntile = Tile(Cuda())\n"


def test_a_kernel_that_fails_is_code_6_and_its_launches_are_stored(tmp_path: pathlib.Path) -> None:
    # Lane 31 writes behind the 4,096 bytes of the tile, and behind all that a block can have.
    done = in_new_process(
        TILE_IN_NEW_PROCESS + "try:\n"
        "    with wm.measure(database='a.db') as m:\n"
        "        tile(1)\n"
        "        tile.launch(1 << 20)\n"
        "except wm.WarpmeterError as error:\n"
        "    print(error.exit_code, error)\n"
        "print([row['outcome'] for row in m.rows])",
        tmp_path,
    )
    assert done.stdout.startswith("6 a kernel failed: "), done.stderr
    assert done.stdout.splitlines()[-1] == "['done', 'failed']"


def test_a_table_without_lines_has_its_columns(tmp_path: pathlib.Path) -> None:
    done = in_new_process(
        TILE_IN_NEW_PROCESS + "try:\n"
        "    with wm.measure(database='a.db') as m:\n"
        "        tile.launch(1 << 20)\n"
        "except wm.WarpmeterError:\n"
        "    print(len(m.lines()), 'file' in m.lines().columns)",
        tmp_path,
    )
    assert done.stdout == "0 True\n", done.stderr


def test_an_error_of_another_process_keeps_its_exit_code() -> None:
    error = pickle.loads(pickle.dumps(wm.WarpmeterError(3, "nothing was measured")))
    assert (type(error), error.exit_code, str(error)) == (wm.WarpmeterError, 3, "nothing was measured")
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        with pytest.raises(wm.WarpmeterError) as raised:
            pool.submit(wm.use_model, "sm_nine").result(timeout=60)
    assert raised.value.exit_code == 2


def test_cuda_that_is_here_already_cannot_be_replaced(tmp_path: pathlib.Path) -> None:
    done = in_new_process(
        "import ctypes, warpmeter as wm\n"
        "for name in ('libcuda.so.1', 'libcudart.so', '/usr/local/cuda/lib64/libcudart.so'):\n"
        "    try: ctypes.CDLL(name)\n"
        "    except OSError: continue\n"
        "    try: wm.use_model()\n"
        "    except wm.WarpmeterError as error: print(error.exit_code, error)\n"
        "    break\n"
        "else: print('none')",
        tmp_path,
    )
    if done.stdout == "none\n":
        pytest.skip("no library of CUDA is installed")
    assert done.stdout.startswith("2 "), done.stderr


def test_importing_takes_no_time_and_loads_no_framework(tmp_path: pathlib.Path) -> None:
    done = in_new_process(
        "import time\n"
        "begin = time.perf_counter()\n"
        "import warpmeter\n"
        "print(time.perf_counter() - begin)\n"
        "print(sorted({'pandas', 'numpy', 'IPython', 'pytest'} & set(sys.modules)))",
        tmp_path,
    )
    seconds, modules = done.stdout.splitlines()
    assert modules == "[]"
    assert float(seconds) < 0.5  # 0.05 on a machine that does nothing else


def test_many_ranges_keep_memory_and_files_flat(tile: Tile, measure: Measure) -> None:
    def state() -> tuple[int, int]:
        pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE"), len(os.listdir("/proc/self/fd"))

    for count in range(60):
        if count == 20:
            before = state()
        with measure([loads]):
            tile(1)
    after = state()
    assert after[1] == before[1]
    assert after[0] - before[0] < 8 << 20
