# SPDX-License-Identifier: MIT
"""``%%measure`` in Jupyter: the launches of a cell as a table below it, and what would make them faster."""

from __future__ import annotations

import importlib
from typing import Any

from ._measure import Measurement, measure


def load(shell: Any) -> None:
    # IPython's own functions have no types.
    display: Any = importlib.import_module("IPython.display")

    def measure_cell(line: str, cell: str) -> Measurement | None:
        """``%%measure [METRIC …]`` runs the cell and shows its launches; the variable ``_wm`` is the measurement."""
        with measure(line.split() or None) as measured:
            outcome = shell.run_cell(cell)
        if not outcome.success:
            return None
        shell.user_ns["_wm"] = measured
        display.display(measured)
        display.display(display.Markdown(measured.explain("markdown")))
        return None

    shell.register_magic_function(measure_cell, "cell", "measure")
