# SPDX-License-Identifier: MIT
"""A notebook from the import to the table and the advice, executed as Jupyter executes it."""

from __future__ import annotations

import pathlib

import nbclient
import nbformat
import pytest
from ipykernel.kernelspec import write_kernel_spec


def executed(sources: list[str], folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> list[nbformat.NotebookNode]:
    """Cells after one that has a `tile`, as Jupyter executes them, whatever fails."""
    write_kernel_spec(folder / "kernels" / "python3")
    monkeypatch.setenv("JUPYTER_PATH", str(folder))
    begin = (
        f"import sys\nsys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})\n%load_ext warpmeter\n"
        "import warpmeter as wm\nwm.use_model()\nfrom cuda import *\ntile = Tile(Cuda())"
    )
    cells = [nbformat.v4.new_code_cell(source) for source in [begin, *sources]]
    notebook = nbformat.v4.new_notebook(cells=cells)
    resources = {"metadata": {"path": str(folder)}}
    nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3", allow_errors=True, resources=resources).execute()
    return list(notebook["cells"][1:])


def errors_of(cell: nbformat.NotebookNode) -> list[str]:
    return [f"{output['ename']}: {output['evalue']}" for output in cell["outputs"] if output["output_type"] == "error"]


def outputs_of(cell: nbformat.NotebookNode) -> str:
    return "\n".join(
        output["text"] if output["output_type"] == "stream" else "\n".join(output.get("data", {}).values())
        for output in cell["outputs"]
    )


def test_the_notebook_shows_table_and_advice(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_kernel_spec(tmp_path / "kernels" / "python3")  # this Python; the system's has no module
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    folder = pathlib.Path(__file__).parent
    notebook = nbformat.read(folder / "measure.ipynb", as_version=4)
    client = nbclient.NotebookClient(
        notebook, timeout=60, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    )
    notebook["cells"].insert(0, nbformat.v4.new_code_cell(f"import sys\nsys.path.insert(0, {str(folder)!r})"))
    client.execute()
    measured, read, failed = [outputs_of(cell) for cell in notebook["cells"] if cell["cell_type"] == "code"][-3:]
    assert "<table" in measured and "32" in measured
    assert measured.count('src="data:image/svg+xml,') == 1
    assert "tile.cu" in measured and "transactions a request" in measured
    assert "[32.0]" in read
    assert "there is no metric" in failed


def test_a_cell_that_fails_leaves_no_other_measurement(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    value = "print(_wm.values('shared_load_transactions_per_request'))"
    sources = ["%%measure\ntile(32)", "%%measure\ntile(8)\n1 / 0", value, "%%measure\n1 / 0", value]
    _, failed, of_failed, launched_nothing, of_nothing = executed(sources, tmp_path, monkeypatch)
    assert errors_of(failed) == errors_of(launched_nothing) == ["ZeroDivisionError: division by zero"]
    assert outputs_of(of_failed) == "[8.0]\n"
    assert "nothing was measured yet" in errors_of(of_nothing)[0]


def test_a_cell_that_awaits_is_refused(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (cell,) = executed(["%%measure\nimport asyncio\nawait asyncio.sleep(0)\ntile(1)"], tmp_path, monkeypatch)
    assert ["a cell that awaits cannot be measured as a whole" in error for error in errors_of(cell)] == [True]


def test_a_table_of_very_many_launches_is_short(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (cell,) = executed(["%%measure\nfor _ in range(1000):\n    tile.launch(1)"], tmp_path, monkeypatch)
    shown = outputs_of(cell)
    assert "1000 rows" in shown
    assert shown.count("<tr>") < 100


def test_a_cell_shows_the_metrics_that_it_names(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named, beside = executed(
        ["%%measure local_load_requests\ntile(32)", "%%measure @shared local_load_requests\ntile(32)"], tmp_path, monkeypatch
    )
    assert "<th>local_load_requests</th>" in outputs_of(named)
    assert "gld_efficiency" not in outputs_of(named)
    assert "<th>local_load_requests</th>" in outputs_of(beside)
    assert "<th>shared_load_transactions_per_request</th>" in outputs_of(beside)


def test_the_lines_of_a_cell_have_their_text(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The kernel's PTX names lines 6, 8 and 9 of its file, which is the cell.
    cell = """%%measure
import ctypes, cuda, inspect
file = inspect.currentframe().f_code.co_filename
kernel = Cuda().kernel(cuda._TILE.format(name="in_cell").replace("tile.cu", file), "in_cell")
target = Cuda().memory(128)

# the tile is written here

# the tile is read here
Cuda().launch(kernel, target, ctypes.c_uint32(32))
"""
    measured, shown = executed([cell, "print(_wm.lines()[['line', 'text']].to_csv(index=False))"], tmp_path, monkeypatch)
    assert errors_of(measured) == []
    assert "6,# the tile is written here\n" in outputs_of(shown)
    assert "8,# the tile is read here\n" in outputs_of(shown)
