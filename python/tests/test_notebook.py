# SPDX-License-Identifier: MIT
"""A notebook from the import to the table and the advice, executed as Jupyter executes it."""

from __future__ import annotations

import pathlib

import nbclient
import nbformat
import pytest
from ipykernel.kernelspec import write_kernel_spec


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
    assert "tile.cu" in measured and "transactions a request" in measured
    assert "[32.0]" in read
    assert "there is no metric" in failed
