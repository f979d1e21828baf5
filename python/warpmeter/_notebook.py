# SPDX-License-Identifier: MIT
"""``%%measure`` in Jupyter: the launches of a cell as table and pictures below it, and what would make them faster."""

from __future__ import annotations

import importlib
from typing import Any

from ._library import WarpmeterError
from ._measure import Measurement, measure, without_pictures


def load(shell: Any) -> None:
    # IPython's own functions have no types.
    display: Any = importlib.import_module("IPython.display")

    def measure_cell(line: str, cell: str) -> Measurement | None:
        """``%%measure [METRIC …]`` runs the cell and shows its launches; the variable ``_wm`` is the measurement."""
        code = shell.transform_cell(cell)
        if shell.should_run_async(cell, transformed_cell=code):
            raise WarpmeterError(2, "a cell that awaits cannot be measured as a whole: write `with warpmeter.measure()` into it")
        shell.compile.cache(code, shell.execution_count, raw_code=cell)  # run_cell() does so too, after the range has begun
        measured = measure(line.split() or None)
        outcome = None
        try:
            with measured:
                outcome = shell.run_cell(cell)
        except WarpmeterError as error:
            # A cell that failed has shown its error, and that nothing was launched says no more.
            if outcome is None or outcome.success or error.exit_code != 3:
                raise
        finally:
            shell.user_ns["_wm"] = measured  # also where the cell fails: no other cell's stays
        if not outcome.success:
            return None
        display.display(measured)
        text = measured._findings_text()
        display.display(display.Markdown(without_pictures(text)))  # they are below the table
        return None

    shell.register_magic_function(measure_cell, "cell", "measure")
