# SPDX-License-Identifier: MIT
"""Measures the CUDA kernels that a part of a Python program launches: on a GPU, or without one on the model.

>>> import warpmeter as wm
>>> with wm.measure(metrics=["no_such_metric"]):
...     pass
Traceback (most recent call last):
    ...
warpmeter._library.WarpmeterError: there is no metric 'no_such_metric' (see: warpmeter list metrics)
"""

from typing import Any

from ._library import WarpmeterError, version
from ._measure import Measurement, measure, use_model
from ._sweep import Sweep, sweep

__all__ = ["Measurement", "Sweep", "WarpmeterError", "measure", "sweep", "use_model", "version"]


def load_ipython_extension(shell: Any) -> None:
    """``%load_ext warpmeter`` gives notebooks the cell magic ``%%measure``."""
    from ._notebook import load

    load(shell)
