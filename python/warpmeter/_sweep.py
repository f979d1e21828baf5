# SPDX-License-Identifier: MIT
"""Variants of one function: each called, verified against the first, and measured."""

from __future__ import annotations

import cmath
import copy
import functools
import itertools
import math
import os
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ._library import WarpmeterError
from ._measure import Measurement, measure

if TYPE_CHECKING:
    import pandas


_identity: Any = object.__eq__
_handles = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType)
_numbers = (int, float, complex)


def _holds_nothing(value: Any) -> bool:
    """True if an object is nothing but itself: it has no attribute and no other content that a copy would have."""
    try:
        reduced = value.__reduce_ex__(4)
    except Exception:  # a generator, a lock: nobody can look inside
        return False
    return isinstance(reduced, str) or (reduced[1] == (type(value),) and not any(reduced[2:]))


def _kept_object(value: Any) -> Any:
    if type(value).__eq__ is not _identity:
        return copy.deepcopy(value)
    # A handle and a module are equal to themselves alone, not to a copy. The same is true of an object whose content
    # has changed, which is not the same result.
    if isinstance(value, _handles) or _holds_nothing(value):
        return value
    raise TypeError(f"a {type(value).__name__} has no __eq__ that compares what it holds")


def _kept_array(value: Any) -> Any:
    import numpy

    if callable(detach := getattr(value, "detach", None)):  # PyTorch copies no tensor that has a gradient
        value = detach()
    # CuPy's arrays have get(), PyTorch's cpu(), Numba's copy_to_host().
    for name in ("get", "cpu", "copy_to_host"):
        move = getattr(value, name, None)
        if callable(move):
            value = move()
            break
    masked: Any = numpy.ma  # some releases of numpy declare no types of it
    if isinstance(value, masked.MaskedArray):
        return {"mask": masked.getmaskarray(value).copy(), "data": _kept_array(value.filled(0))}
    array = numpy.array(value, copy=True)
    if not array.dtype.hasobject:
        return array
    if not isinstance(value, numpy.ndarray):  # the object itself: it has a shape, and is no array
        return _kept_object(value)
    return {"shape": array.shape, "items": [_kept(item) for item in array.ravel().tolist()]}


def _kept(value: Any) -> Any:
    """A result as it is now, on the host: the next variant may write into the same array."""
    if isinstance(value, (list, tuple)):
        return [_kept(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _kept(item) for key, item in value.items()}
    return _kept_array(value) if hasattr(value, "shape") else _kept_object(value)


def _same(first: Any, other: Any, rtol: float, atol: float) -> bool:
    """True if two kept results agree: numbers within the tolerances, NaN with NaN; sequences and dicts item by item."""
    if first is None or other is None:
        return first is other
    arrays = [value for value in (first, other) if hasattr(value, "shape")]
    numbers = [value for value in (first, other) if isinstance(value, _numbers)]
    if arrays and len(arrays) + len(numbers) == 2:
        import numpy

        first, other = numpy.asarray(first), numpy.asarray(other)
        if first.shape != other.shape:
            return False
        if first.dtype.kind in "fc" or other.dtype.kind in "fc":
            return bool(numpy.allclose(first, other, rtol=rtol, atol=atol, equal_nan=True))
        return bool((first == other).all())
    if len(numbers) == 2 and not (isinstance(first, int) and isinstance(other, int)):
        both_nan = cmath.isnan(first) and cmath.isnan(other)
        return both_nan or cmath.isclose(first, other, rel_tol=rtol, abs_tol=atol)
    if isinstance(first, list) and isinstance(other, list):
        return len(first) == len(other) and all(_same(a, b, rtol, atol) for a, b in zip(first, other))
    if isinstance(first, dict) and isinstance(other, dict):
        return first.keys() == other.keys() and all(_same(first[key], other[key], rtol, atol) for key in first)
    is_equal = first == other
    if getattr(is_equal, "shape", ()) != ():
        raise TypeError(f"== of {type(first).__name__} and {type(other).__name__} gives an array")
    return bool(is_equal)


class _Uncopied:
    """Stands for a result that could not be copied."""

    def __init__(self, reason: str) -> None:
        self.reason = reason


def _reason(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())


def _copied(value: Any) -> Any:
    try:
        return _kept(value)
    except Exception as error:
        return _Uncopied(_reason(error))


def _verified(first: Any, other: Any, rtol: float, atol: float) -> tuple[bool | None, str]:
    """Are two copied results the same? None, with a reason, if they cannot be compared; None if neither variant returned one."""
    if first is None or other is None:
        return (None if first is other else False), ""
    for copied in (first, other):
        if isinstance(copied, _Uncopied):
            return None, copied.reason
    try:
        return _same(first, other, rtol, atol), ""
    except Exception as error:
        return None, _reason(error)


def _label(function: str, parameters: Mapping[str, Any]) -> str:
    """The name of a variant's run; whatever the parameters are, they make no run fail."""

    def text(value: Any) -> str:
        try:
            return f"{value}"
        except Exception:
            return f"a {type(value).__name__}"

    label = " ".join([function, *(f"{name}={text(value)}" for name, value in parameters.items())])[:200]
    return label.encode(errors="backslashreplace").decode().replace("\0", r"\0")


class Sweep:
    """The variants of one call, in the order of their parameters."""

    def __init__(self, variants: Sequence[tuple[dict[str, Any], Measurement, bool | None]]) -> None:
        self._variants = list(variants)

    @property
    def measurements(self) -> list[Measurement]:
        """A measurement a variant."""
        return [measured for _, measured, _ in self._variants]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A dict a variant and launch: the parameters, ``verified``, and the columns of the view ``comparison``.

        A parameter named as a column (``block``, ``size``) stands in its place.
        """
        return [
            {**parameters, "verified": verified, **{name: row[name] for name in row if name not in parameters}}
            for parameters, measured, verified in self._variants
            for row in measured.rows
        ]

    @property
    def frame(self) -> pandas.DataFrame:
        """The rows as a table.

        ``verified``: is the result the first variant's? None if neither variant returned one, or if the two cannot be
        compared. The variant's ``remarks`` in :attr:`measurements` then say why.
        """
        import pandas

        return pandas.DataFrame(self.rows)

    def best(self, by: str) -> dict[str, Any]:
        """The parameters of the verified variant whose launches are the best by a metric together.

        Counts and times are added up. A quotient, as transactions per request or an efficiency, is that of the sums.
        The highest efficiency, rate or share is the best; the least of all others. A variant whose result cannot be
        compared is the best only where no variant is verified.

        Raises :class:`WarpmeterError` (3) where a variant has no value of it: no missing value is the best.
        """
        costs: list[tuple[float, dict[str, Any]]] = []
        is_any_verified = any(verified for _, _, verified in self._variants)
        for parameters, measured, verified in self._variants:
            if verified is False or (verified is None and is_any_verified):
                continue
            cost = measured._cost(by)
            if math.isnan(cost):
                raise WarpmeterError(3, f"{by} has no value for {parameters}: see its reason in the view results")
            costs.append((cost, parameters))
        return min(costs, key=lambda pair: pair[0])[1]


def sweep(
    *,
    metrics: Iterable[str] | None = None,
    database: str | os.PathLike[str] | None = None,
    rtol: float = 1e-5,
    atol: float = 1e-8,
    **parameters: Iterable[Any],
) -> Callable[[Callable[..., Any]], Callable[..., Sweep]]:
    """A decorator: a call of the function calls each of its variants and returns a :class:`Sweep`.

        @wm.sweep(BLOCK=[128, 256, 512], warps=[4, 8])
        def softmax(x, BLOCK, warps): ...

        softmax(x).best("gld_transactions")

    Each keyword has the values of one parameter; all combinations are called. The result of each is compared with
    that of the first: arrays within `rtol` and `atol`.
    """
    names = list(parameters)
    values = [list(choices) for choices in parameters.values()]
    if not names or not all(values):
        raise WarpmeterError(2, "a sweep needs at least one parameter, and a value for each: sweep(BLOCK=[128, 256])")
    if "verified" in parameters:
        raise WarpmeterError(2, "a parameter named verified would hide whether results are verified: rename it")
    asked = measure(metrics)._metrics

    def decorate(function: Callable[..., Any]) -> Callable[..., Sweep]:
        @functools.wraps(function)
        def call(*arguments: Any, **keywords: Any) -> Sweep:
            variants: list[tuple[dict[str, Any], Measurement, bool | None]] = []
            first: Any = None
            for combination in itertools.product(*values):
                chosen = dict(zip(names, combination))
                with measure(asked, _label(function.__name__, chosen), database=database) as measured:
                    result = function(*arguments, **keywords, **chosen)
                kept = _copied(result)
                if not variants:
                    first = kept
                    kept = _copied(result)  # `first` itself would be equal to `first` unseen
                    if _verified(first, kept, rtol, atol)[0] is False:
                        first = _Uncopied(f"two copies of one {type(result).__name__} differ")
                verified, reason = _verified(first, kept, rtol, atol)
                if reason:
                    measured._remarks.append(f"the result was not compared with the first variant's: {reason}")
                variants.append((chosen, measured, verified))
            return Sweep(variants)

        return call

    return decorate
