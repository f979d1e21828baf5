# SPDX-License-Identifier: MIT
"""libwarpmeter by ctypes: nothing to compile, for any Python, and a call lets the interpreter's lock go."""

from __future__ import annotations

import ctypes
import json
import pathlib
from collections.abc import Sequence
from typing import Any


class WarpmeterError(Exception):
    """A call of warpmeter that failed: one sentence that says what happened and what to do.

    `exit_code` is the one that the program `warpmeter` has for it: 2 wrong usage or an unknown name, 3 nothing was
    measured or the answer is inconclusive, 4 no usable hardware, 5 a file or database failed, 6 a kernel failed.
    """

    def __init__(self, exit_code: int, message: str) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def _load() -> ctypes.CDLL:
    file = pathlib.Path(__file__).with_name("libwarpmeter.so")
    try:
        library = ctypes.CDLL(str(file))
    except OSError as error:
        raise WarpmeterError(5, f"{file} cannot be loaded ({error}): install warpmeter again") from error
    text = ctypes.c_char_p
    handle = ctypes.c_void_p
    number = ctypes.c_int64
    result = ctypes.POINTER(ctypes.c_void_p)
    signatures: dict[str, tuple[Any, list[Any]]] = {
        "version": (text, []),
        "message": (text, []),
        "use_model": (ctypes.c_int, [text]),
        "open": (ctypes.c_int, [text, text, result]),
        "close": (None, [handle]),
        "begin": (ctypes.c_int, [handle, ctypes.POINTER(text), ctypes.c_size_t, text]),
        "end": (ctypes.c_int, [handle, ctypes.POINTER(number)]),
        "remarks": (ctypes.c_int, [handle, result]),
        "values": (
            ctypes.c_int,
            [handle, number, text, ctypes.POINTER(ctypes.c_double), ctypes.c_size_t, ctypes.POINTER(ctypes.c_size_t)],
        ),
        "cost": (ctypes.c_int, [handle, number, text, ctypes.POINTER(ctypes.c_double)]),
        "query": (ctypes.c_int, [handle, text, result]),
        "report": (ctypes.c_int, [handle, number, text, result]),
        "explain": (ctypes.c_int, [handle, number, text, number, result]),
        "check": (ctypes.c_int, [handle, number, text, result]),
        "free": (None, [ctypes.c_void_p]),
    }
    for name, (returned, arguments) in signatures.items():
        function = library["warpmeter_" + name]
        function.restype = returned
        function.argtypes = arguments
        setattr(library, name, function)
    return library


_library: ctypes.CDLL | None = None


def library() -> ctypes.CDLL:
    """The library, which is loaded when it is first needed."""
    global _library
    if _library is None:
        _library = _load()
    return _library


def message() -> str:
    return str((library().message() or b"").decode())


def require(exit_code: int) -> None:
    if exit_code != 0:
        raise WarpmeterError(exit_code, message())


def encoded(text: str, what: str) -> bytes:
    """A text for C, which ends at a zero."""
    data = text.encode()
    if b"\0" in data:
        raise WarpmeterError(2, f"{what} holds a zero character")
    return data


def version() -> str:
    """The version of the library: ``warpmeter 0.1.0 (git 0123456789ab, CUDA 13.0.88)``."""
    return str(library().version().decode())


class Meter:
    """An open database; one range of it at a time is measured. Its methods are those of warpmeter.h."""

    def __init__(self, database: str, program: str) -> None:
        self._handle = ctypes.c_void_p()
        self._close = library().close  # the module may be gone before its objects
        require(
            library().open(
                encoded(database, "the database"), encoded(program, "the program"), ctypes.byref(self._handle)
            )
        )

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self._close(self._handle)

    def begin(self, metrics: Sequence[str], label: str) -> None:
        names = (ctypes.c_char_p * len(metrics))(*(encoded(name, "a metric") for name in metrics))
        require(library().begin(self._handle, names, len(metrics), encoded(label, "the name")))

    def end(self) -> tuple[int, int]:
        """The run in the database, 0 where there is none, and the exit code."""
        run = ctypes.c_int64()
        exit_code = int(library().end(self._handle, ctypes.byref(run)))
        return run.value, exit_code

    def remarks(self) -> list[str]:
        return self._text(library().remarks)[1].splitlines()

    def values(self, run: int, metric: str) -> list[float]:
        """One a launch, in their order; NaN where there is no value."""
        name, count = encoded(metric, "a metric"), ctypes.c_size_t()
        require(library().values(self._handle, run, name, None, 0, ctypes.byref(count)))
        values = (ctypes.c_double * count.value)()
        require(library().values(self._handle, run, name, values, count.value, ctypes.byref(count)))
        return list(values)

    def cost(self, run: int, metric: str) -> float:
        """The cost of all launches together by a metric: less is better; NaN where one has no value."""
        cost = ctypes.c_double()
        require(library().cost(self._handle, run, encoded(metric, "a metric"), ctypes.byref(cost)))
        return cost.value

    def query(self, sql: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = json.loads(self._text(library().query, encoded(sql, "the SQL"))[1])
        return rows

    def report(self, run: int, format: str) -> str:
        return self._text(library().report, run, encoded(format, "the format"))[1]

    def explain(self, run: int, format: str, top: int) -> str:
        return self._text(library().explain, run, encoded(format, "the format"), top)[1]

    def check(self, run: int, gate: str) -> tuple[int, str]:
        """0, 1 or 3, and the verdicts as a table."""
        return self._text(library().check, run, encoded(gate, "the gate"), also=(1, 3))

    def _text(self, function: Any, *arguments: Any, also: tuple[int, ...] = ()) -> tuple[int, str]:
        """The exit code, 0 or one of `also` with a text, and the text."""
        text = ctypes.c_void_p()
        exit_code = int(function(self._handle, *arguments, ctypes.byref(text)))
        if exit_code not in also or not text.value:
            require(exit_code)
        try:
            return exit_code, ctypes.string_at(text.value or 0).decode()
        finally:
            library().free(text)
