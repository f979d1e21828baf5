# SPDX-License-Identifier: MIT
"""A sweep calls every variant once, compares results with the first one's, and takes no missing value for the least."""

from __future__ import annotations

import ctypes
import dataclasses
import math
import pathlib
import threading
from typing import Any

import numpy
import pytest
from cuda import Tile

import warpmeter as wm


def test_variants_are_counted_and_verified(tile: Tile, tmp_path: pathlib.Path) -> None:
    @wm.sweep(stride=[1, 8, 32], extra=[0, 1], database=tmp_path / "a.db")
    def store(stride: int, extra: int) -> list[int]:
        return tile(stride + extra)

    swept = store()
    frame = swept.frame
    # gcd(32, stride) wavefronts a request: see cuda.py.
    expected = [math.gcd(32, stride + extra) for stride in (1, 8, 32) for extra in (0, 1)]
    assert list(frame["shared_load_transactions_per_request"]) == expected
    assert list(frame["verified"]) == [True] * 6
    assert swept.best("shared_load_transactions_per_request") == {"stride": 1, "extra": 0}


def test_a_variant_with_another_result_is_never_the_best(tile: Tile, tmp_path: pathlib.Path) -> None:
    @wm.sweep(stride=[32, 1], database=tmp_path / "a.db")
    def wrong(stride: int) -> list[int]:
        return [stride, *tile(stride)]

    swept = wrong()
    assert list(swept.frame["verified"]) == [True, False]
    assert swept.best("shared_load_transactions_per_request") == {"stride": 32}


def test_a_result_in_the_same_array_is_compared_as_it_was(tile: Tile, tmp_path: pathlib.Path) -> None:
    shared = numpy.zeros(4, dtype=numpy.float32)

    @wm.sweep(value=[1.0, 2.0, 1.0 + 1e-7], database=tmp_path / "a.db")
    def fill(value: float) -> Any:
        tile(1)
        shared[:] = value
        return shared

    assert list(fill().frame["verified"]) == [True, False, True]


def test_results_in_a_dict_are_compared_as_they_were(tile: Tile, tmp_path: pathlib.Path) -> None:
    shared = numpy.zeros(4, dtype=numpy.float32)

    @wm.sweep(value=[1.0, 2.0, 1.0], database=tmp_path / "a.db")
    def fill(value: float) -> Any:
        tile(1)
        shared[:] = value
        return {"out": shared, "sizes": [4, {"inner": shared}]}

    assert list(fill().frame["verified"]) == [True, False, True]


def test_the_best_of_an_efficiency_is_the_highest(tile: Tile, tmp_path: pathlib.Path) -> None:
    @wm.sweep(block=[4, 12, 8], database=tmp_path / "a.db")
    def store(block: int) -> None:
        tile.launch(1, block)

    swept = store()
    # Stores of 4 bytes a thread: 16 of a sector's 32 bytes, 48 of 64, 32 of 32.
    assert [row["gst_efficiency"] for row in swept.rows] == [50, 75, 100]
    assert swept.best("gst_efficiency") == {"block": 8}
    assert swept.best("gst_transactions") == {"block": 4}


def test_a_quotient_is_that_of_all_launches_together(tile: Tile, tmp_path: pathlib.Path) -> None:
    @wm.sweep(launches=[1, 2], database=tmp_path / "a.db")
    def store(launches: int) -> None:
        for _ in range(launches):
            tile.launch(4 // launches)

    swept = store()
    # One launch of 4 wavefronts in one request, or two of 2 wavefronts in one request each.
    assert [row["shared_load_transactions_per_request"] for row in swept.rows] == [4, 2, 2]
    assert swept.best("shared_load_transactions_per_request") == {"launches": 2}


@pytest.mark.parametrize("nothing", [1, 32])
def test_a_variant_that_alone_returns_nothing_or_something_is_never_the_best(
    nothing: int, tile: Tile, tmp_path: pathlib.Path
) -> None:
    @wm.sweep(stride=[32, 1], database=tmp_path / "a.db")
    def half(stride: int) -> Any:
        lanes = tile(stride)
        return None if stride == nothing else numpy.array(lanes)

    swept = half()
    assert [row["verified"] for row in swept.rows] == ([True, False] if nothing == 1 else [None, False])
    assert swept.best("shared_load_transactions_per_request") == {"stride": 32}


def test_without_a_result_nothing_is_verified(tile: Tile, tmp_path: pathlib.Path) -> None:
    @wm.sweep(stride=[1, 2], database=tmp_path / "a.db")
    def silent(stride: int) -> None:
        tile(stride)

    assert [row["verified"] for row in silent().rows] == [None, None]


class Handle:
    """Equal to itself alone, not to a copy."""


def test_the_same_object_without_equality_is_the_same_result(tile: Tile, tmp_path: pathlib.Path) -> None:
    handle = Handle()

    @wm.sweep(stride=[1, 32], is_shared=[True, False], database=tmp_path / "a.db")
    def store(stride: int, is_shared: bool) -> Any:
        tile(stride)
        return [handle if is_shared else Handle(), math]

    assert [row["verified"] for row in store().rows] == [True, False, True, False]


@dataclasses.dataclass
class Output:
    """Equality of this compares arrays, which has no truth."""

    array: Any


class NoCopy:
    def __eq__(self, other: object) -> bool:
        return True

    def __deepcopy__(self, known: object) -> Any:
        raise RuntimeError("a copy\nis refused")


class Elementwise:
    def __eq__(self, other: object) -> Any:
        return numpy.ones(1, dtype=bool)


class Unreadable:
    """An array that does not come to the host."""

    shape = (1,)

    def cpu(self) -> Any:
        raise TypeError("no such type on the host")


@pytest.mark.parametrize(
    "result, reason",
    [
        (lambda: Output(numpy.zeros(2)), "ValueError: The truth value of an array"),
        (NoCopy, "RuntimeError: a copy is refused"),
        (Elementwise, "TypeError: == of Elementwise and Elementwise gives an array"),
        (lambda: Output(Handle()), "two copies of one Output differ"),
        (lambda: {"out": [Unreadable()]}, "TypeError: no such type on the host"),
    ],
)
def test_results_that_cannot_be_compared_are_unknown_with_a_reason(
    result: Any, reason: str, tile: Tile, tmp_path: pathlib.Path
) -> None:
    @wm.sweep(stride=[32, 1], database=tmp_path / "a.db")
    def store(stride: int) -> Any:
        tile(stride)
        return result()

    swept = store()
    assert [row["verified"] for row in swept.rows] == [None, None]
    for measured in swept.measurements:
        assert measured.remarks[-1].startswith(f"the result was not compared with the first variant's: {reason}")
    assert swept.best("shared_load_transactions_per_request") == {"stride": 1}


def test_a_variant_that_cannot_be_compared_does_not_beat_a_verified_one(tile: Tile, tmp_path: pathlib.Path) -> None:
    @wm.sweep(stride=[32, 1], database=tmp_path / "a.db")
    def store(stride: int) -> Any:
        tile(stride)
        return {"out": numpy.zeros(2) if stride == 32 else [0.0, 0.0]}

    swept = store()
    assert [row["verified"] for row in swept.rows] == [True, None]
    assert swept.best("shared_load_transactions_per_request") == {"stride": 32}


def test_tensors_with_gradients_are_compared_by_their_values(tile: Tile, tmp_path: pathlib.Path) -> None:
    class Tensor:
        """As PyTorch's: no array is made of it while it has a gradient."""

        shape = (2,)

        def __init__(self, value: float, has_gradient: bool = True) -> None:
            self.value, self.has_gradient = value, has_gradient

        def detach(self) -> Tensor:
            return Tensor(self.value, False)

        def cpu(self) -> Tensor:
            return self

        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            if self.has_gradient:
                raise RuntimeError("Can't call numpy() on Tensor that requires grad.")
            return numpy.full(2, self.value)

    @wm.sweep(value=[1.0, 2.0, 1.0], database=tmp_path / "a.db")
    def fill(value: float) -> Any:
        tile(1)
        return {"loss": Tensor(value)}

    assert [row["verified"] for row in fill().rows] == [True, False, True]


def test_the_model_has_no_fastest_variant(tile: Tile, tmp_path: pathlib.Path) -> None:
    @wm.sweep(stride=[1, 2], database=tmp_path / "a.db")
    def store(stride: int) -> list[int]:
        return tile(stride)

    with pytest.raises(wm.WarpmeterError) as error:
        store().best("duration")
    assert error.value.exit_code == 3


class Holder:
    """Equal to itself alone, whatever it holds."""

    def __init__(self) -> None:
        self.array = numpy.zeros(2)


class Slotted:
    __slots__ = ("array",)


class Shaped:
    """No array, but it has a shape."""

    shape = (1,)

    def __init__(self) -> None:
        self.array = [0]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shaped) and self.array == other.array


@pytest.mark.parametrize("result", [Holder(), Slotted(), (ctypes.c_int * 2)(), [iter([])], [threading.Lock()]])
def test_an_object_that_is_equal_to_itself_alone_is_not_verified(result: Any, tile: Tile, tmp_path: pathlib.Path) -> None:
    @wm.sweep(value=[1, 2], database=tmp_path / "a.db")
    def fill(value: int) -> Any:
        tile(1)
        if hasattr(result, "array") or isinstance(result, Slotted):
            result.array = numpy.full(2, value)
        elif isinstance(result, ctypes.Array):
            result[0] = value
        return result

    swept = fill()
    assert [row["verified"] for row in swept.rows] == [None, None]
    assert "has no __eq__ that compares what it holds" in swept.measurements[1].remarks[-1]


def test_what_only_looks_like_a_plain_array_is_compared_by_all_that_it_holds(tile: Tile, tmp_path: pathlib.Path) -> None:
    shaped, objects = Shaped(), numpy.empty(1, dtype=object)
    objects[0] = numpy.zeros(2)

    def masked(value: int) -> Any:
        return numpy.ma.masked_array([1, 2], mask=[value == 2, False])

    def of_shaped(value: int) -> Any:
        shaped.array[0] = value
        return shaped

    def of_objects(value: int) -> Any:
        objects[0][:] = value
        return objects

    for result in (masked, of_shaped, of_objects):

        @wm.sweep(value=[1, 2, 1], database=tmp_path / "a.db")
        def fill(value: int) -> Any:
            tile(1)
            return result(value)

        assert [row["verified"] for row in fill().rows] == [True, False, True], result


def test_numbers_are_within_the_tolerance_whatever_their_types(tile: Tile, tmp_path: pathlib.Path) -> None:
    near = numpy.float32(1 + 1e-6)

    @wm.sweep(value=[1.0, near, 1, complex(1, 1e-9), numpy.array(1), 1.1, numpy.ones(1)], database=tmp_path / "a.db")
    def give(value: Any) -> Any:
        tile(1)
        return [value, math.nan]

    assert [row["verified"] for row in give().rows] == [True, True, True, True, True, False, False]


def test_a_parameter_named_as_a_column_keeps_its_values(tile: Tile, tmp_path: pathlib.Path) -> None:
    @wm.sweep(size=[1, 2], block=[32], database=tmp_path / "a.db")
    def store(size: int, block: int) -> None:
        tile.launch(size, block)

    assert [(row["size"], row["block"]) for row in store().rows] == [(1, 32), (2, 32)]
    with pytest.raises(wm.WarpmeterError, match="named verified") as error:
        wm.sweep(verified=[True])
    assert error.value.exit_code == 2


class Unprintable:
    def __format__(self, specification: str) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize("value", ["a\0b", "\ud800", Unprintable()])
def test_a_parameter_of_any_text_can_be_swept(value: Any, tile: Tile, tmp_path: pathlib.Path) -> None:
    @wm.sweep(value=[value], database=tmp_path / "a.db")
    def store(value: Any) -> None:
        tile(1)

    assert len(store().rows) == 1


def test_metrics_are_a_list() -> None:
    with pytest.raises(wm.WarpmeterError, match="metrics is a list of names") as error:
        wm.sweep(metrics="gst_transactions", stride=[1])
    assert error.value.exit_code == 2


@pytest.mark.parametrize("parameters", [{}, {"BLOCK": []}])
def test_a_sweep_needs_parameters(parameters: dict[str, Any]) -> None:
    with pytest.raises(wm.WarpmeterError) as error:
        wm.sweep(**parameters)
    assert error.value.exit_code == 2


def test_the_cost_of_one_launch_is_its_value(tile: Tile, tmp_path: pathlib.Path) -> None:
    with wm.measure(metrics=["gst_efficiency"], database=tmp_path / "a.db") as measured:
        tile(1)
    (value,) = measured.frame["gst_efficiency"]
    assert value > 1  # a percentage
    assert measured._cost("gst_efficiency") == -value
