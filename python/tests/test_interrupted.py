# SPDX-License-Identifier: MIT
"""Ctrl-C at any step, and a block that is never left, leave no range open."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from cuda import Tile

import warpmeter as wm
from warpmeter import _library

Measure = Callable[..., wm.Measurement]

loads = "shared_load_transactions_per_request"


@pytest.mark.parametrize("step", ["begin", "end", "enter", "exit"])
def test_ctrl_c_at_any_step_leaves_no_range_open(
    step: str, tile: Tile, measure: Measure, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python sees Ctrl-C after a call of C, before the next step."""
    calls = _library.library()

    def interrupted(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            monkeypatch.undo()
            function(*arguments)
            raise KeyboardInterrupt

        return call

    def lost(*_: object) -> None:
        raise KeyboardInterrupt

    if step in ("begin", "end"):
        monkeypatch.setattr(calls, step, interrupted(getattr(calls, step)))
    elif step == "enter":
        monkeypatch.setattr(_library.Meter, "begin", interrupted(_library.Meter.begin))
    else:
        monkeypatch.setattr(wm.Measurement, "__exit__", lost)
    try:
        with measure([loads]):
            tile(2)
        pytest.fail("it was not interrupted")
    except KeyboardInterrupt:
        pass
    monkeypatch.undo()
    with measure([loads]) as m:
        tile(4)
    assert m.values(loads) == [4]


def test_a_block_that_is_never_left_ends_with_its_measurement(tile: Tile, measure: Measure) -> None:
    begun = measure([loads])
    begun.__enter__()
    tile(2)
    del begun
    with measure([loads]) as m:
        tile(4)
    assert m.values(loads) == [4]
