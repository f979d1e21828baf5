# SPDX-License-Identifier: MIT
"""libwarpmeter by ctypes: nothing to compile, for any Python, and a call lets the interpreter's lock go."""

from __future__ import annotations

import ctypes
import json
import os
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

    def __reduce__(self) -> tuple[type[WarpmeterError], tuple[int, str]]:
        # Processes of a pool send it to each other.
        return type(self), (self.exit_code, str(self))


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
        "libcuda_folder": (text, []),
        "keep_source": (ctypes.c_int, [text, text]),
        "open": (ctypes.c_int, [text, text, result]),
        "close": (None, [handle]),
        "begin": (ctypes.c_int, [handle, ctypes.POINTER(text), ctypes.c_size_t, text]),
        "end": (ctypes.c_int, [handle, ctypes.POINTER(number)]),
        "remarks": (ctypes.c_int, [handle, result]),
        "uuid": (ctypes.c_int, [handle, result]),
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
    sentence = str((library().message() or b"").decode(errors="replace"))
    return sentence.replace("with --db", "with database=")  # --db is the program's


def require(exit_code: int) -> None:
    if exit_code != 0:
        raise WarpmeterError(exit_code, message())


def encoded(text: Any, what: str) -> bytes:
    """A text for C, which ends at a zero."""
    if not isinstance(text, str):
        raise WarpmeterError(2, f"{what} has to be a text: {text!r}")
    try:
        return _without_zero(text.encode(), what)
    except UnicodeEncodeError:
        raise WarpmeterError(2, f"{what} holds a character that UTF-8 has no bytes for") from None


def encoded_path(path: str | bytes, what: str) -> bytes:
    """A path for C: any bytes but a zero, as the file system has them."""
    try:
        return _without_zero(os.fsencode(path), what)
    except UnicodeEncodeError:
        raise WarpmeterError(2, f"{what} holds a character that no path has") from None


def _without_zero(data: bytes, what: str) -> bytes:
    if b"\0" in data:
        raise WarpmeterError(2, f"{what} holds a zero character")
    return data


def version() -> str:
    """The version of the library: ``warpmeter 0.1.0 (git 0123456789ab, CUDA 13.0.88)``."""
    return str(library().version().decode())


_kept_lines: dict[str, list[str]] = {}  # by file, as linecache has them: it makes a new list when a file changes


def keep_sources() -> None:
    """Gives the library the sources that Python alone holds: the cells of a notebook."""
    import linecache

    cache: dict[str, Any] = dict(linecache.cache)
    for file, entry in cache.items():
        if len(entry) < 3 or _kept_lines.get(file) is entry[2]:  # not read yet, or known
            continue
        if not os.path.exists(file):
            try:
                require(library().keep_source(encoded(file, "a file"), encoded("".join(entry[2]), "a source")))
            except WarpmeterError:  # no text for C: its lines stay without
                continue
        _kept_lines[file] = entry[2]


class Meter:
    """An open database; one range of it at a time is measured. Its methods are those of warpmeter.h.

    A range has an owner, an object of the caller's. Ctrl-C interrupts between any two steps of Python: the owner's
    `release` then ends its range, if there is one, and nobody else's.
    """

    def __init__(self, database: str, program: str) -> None:
        self._handle = ctypes.c_void_p()
        self._close = library().close  # the module may be gone before its objects
        self._owner: dict[str, object] = {}  # "range": of the open one; a dict, whose setdefault is one step
        require(
            library().open(
                encoded_path(database, "the database"),
                encoded_path(program, "the program"),
                ctypes.byref(self._handle),
            )
        )

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self._close(self._handle)

    def begin(self, owner: object, metrics: Sequence[str], label: str) -> None:
        """Where it raises, the owner calls `release`."""
        names = (ctypes.c_char_p * len(metrics))(*(encoded(name, "a metric") for name in metrics))
        name = encoded(label, "the name")
        if self._owner.setdefault("range", owner) is not owner:
            raise WarpmeterError(2, "a range is open already in this process: end it first")
        require(library().begin(self._handle, names, len(metrics), name))

    def end(self, owner: object) -> tuple[int, str, int, str, list[str]]:
        """The run in the database and its UUID, 0 and "" where there is none; exit code, its message, and remarks."""
        run = ctypes.c_int64()
        exit_code = int(library().end(self._handle, ctypes.byref(run)))
        sentence = message()
        uuid, remarks = "", list[str]()
        if exit_code != 2:  # a fork ends nothing
            # Nobody else has this meter's next range before both are read.
            uuid, remarks = self._text(library().uuid)[1], self._text(library().remarks)[1].splitlines()
        self._owner.pop("range", None)
        return run.value, uuid, exit_code, sentence, remarks

    def release(self, owner: object) -> None:
        """Ends the owner's range. Nothing happens where it has none."""
        if self._owner.get("range") is owner:
            library().end(self._handle, ctypes.byref(ctypes.c_int64()))
            self._owner.pop("range", None)

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
            return exit_code, ctypes.string_at(text.value or 0).decode(errors="replace")
        finally:
            library().free(text)
