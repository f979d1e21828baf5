# SPDX-License-Identifier: MIT
"""A measured part of this process, and what is known of it."""

from __future__ import annotations

import functools
import html
import os
import re
import sys
from collections.abc import Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ._library import Meter, WarpmeterError, encoded, keep_sources, library, message, require

if TYPE_CHECKING:
    import pandas


# A picture in Markdown, whose link holds it.
_PICTURE = re.compile(r"!\[([^\]]*)\]\((data:image/svg\+xml,[^)\s]+)\)\n?")


def without_pictures(markdown: str) -> str:
    return _PICTURE.sub("", markdown)


def use_model(architecture: str = "sm_90") -> None:
    """Lets the model execute the kernels of this process, on a machine without a GPU.

    To be called before anything loads CUDA: before ``import cupy``, ``import torch``, ``import triton``. Counts are
    those of the architecture. A call that the model refuses returns an error, and is a RuntimeWarning at the script's
    line. Raises :class:`WarpmeterError` (2) when CUDA is here already.
    """
    require(library().use_model(encoded(architecture, "the architecture")))
    # CuPy takes its own reductions instead of CUB's, which are machine code alone.
    os.environ.setdefault("CUPY_ACCELERATORS", "")
    # Triton links with libcuda.so.1, for which it looks among the files of the machine.
    folder = library().libcuda_folder()
    if folder and not os.path.exists(os.environ.get("TRITON_LIBCUDA_PATH", "")):
        os.environ["TRITON_LIBCUDA_PATH"] = os.fsdecode(folder)


def _path_of(database: str | os.PathLike[str] | None) -> str:
    """The whole path of a database, which stays the same when the working folder changes."""
    try:
        name = os.fsdecode(database) if database is not None else os.environ.get("WARPMETER_DB") or "warpmeter.db"
    except TypeError:
        raise WarpmeterError(2, f"the database has to be a path: {database!r}") from None
    return os.path.abspath(name)


@functools.lru_cache(maxsize=8)  # an open database holds four files open
def _open_meter(database: str, program: str) -> Meter:
    return Meter(database, program)


def _meter(database: str) -> Meter:
    """One for each database: what it takes to open one is paid once."""
    script = sys.argv[0] if sys.argv else ""
    return _open_meter(database, script if script not in ("", "-c") else "python")


class Measurement:
    """The launches of one ``with`` block. Figures are there once the block has ended."""

    def __init__(self, metrics: Iterable[str] | None, name: str | None, database: str | os.PathLike[str] | None) -> None:
        if isinstance(metrics, (str, bytes)) or not isinstance(metrics, (Iterable, type(None))):
            raise WarpmeterError(2, f"metrics is a list of names: metrics=[{metrics!r}]")
        self._metrics = list(metrics) if metrics is not None else []
        self._name = name or ""
        self._database = _path_of(database)
        self._meter: Meter | None = None
        self._entered: Meter | None = None  # where a range may be open
        self._owner = object()
        self._run = 0
        self._uuid = ""
        self._remarks: list[str] = []
        self._findings: str | None = None

    def __enter__(self) -> Measurement:
        if self._meter is not None:
            raise WarpmeterError(2, "this measurement was begun already: each with block has its own wm.measure()")
        self._entered = _meter(self._database)
        keep_sources()
        try:
            self._entered.begin(self._owner, self._metrics, self._name)
            self._meter = self._entered
        except BaseException:  # Ctrl-C may come when the range is open
            self._entered.release(self._owner)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._meter is not None
        try:
            self._run, self._uuid, exit_code, sentence, self._remarks = self._meter.end(self._owner)
        finally:
            self._meter.release(self._owner)  # Ctrl-C may come before the range has ended
        if kind is None and exit_code != 0:
            raise WarpmeterError(exit_code, sentence)

    def __del__(self) -> None:
        # A block may never end: Ctrl-C came just before it did, or a generator's was not left.
        entered = getattr(self, "_entered", None)
        if entered is not None and not sys.is_finalizing():
            entered.release(self._owner)

    @property
    def run(self) -> int:
        """The run's number in the database, as in ``warpmeter report --run``."""
        if self._run == 0:
            raise WarpmeterError(3, "nothing was measured yet: the with block has to end, with a launch in it")
        assert self._meter is not None
        # A database that is made anew, and one whose last runs are removed, use the number again.
        if self._meter.query(f"SELECT uuid FROM runs WHERE run_id = {self._run}") != [{"uuid": self._uuid}]:
            raise WarpmeterError(5, f"{self._database} no longer holds what was measured: its run {self._run} was removed")
        return self._run

    @property
    def database(self) -> str:
        """The path of the database."""
        return self._database

    def _query(self, sql: str) -> list[dict[str, Any]]:
        run = self.run
        assert self._meter is not None
        return self._meter.query(sql.format(run=run))

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A dict a launch, in their order: the columns of the view ``comparison`` and ``nvtx_range``. It needs no pandas."""
        return self._query(
            "SELECT comparison.*, launches.nvtx_range FROM comparison JOIN launches USING (launch_id) "
            "WHERE comparison.run_id = {run} ORDER BY launch_id"
        )

    @property
    def frame(self) -> pandas.DataFrame:
        """A row a launch, in their order: the columns of the view ``comparison`` and ``nvtx_range``, the innermost one.

        Efficiencies are in per cent (0 to 100), ``duration_ns`` in nanoseconds (NaN from the model, which has no
        clock), transactions are counts.
        """
        import pandas

        return pandas.DataFrame(self.rows)

    @property
    def results(self) -> pandas.DataFrame:
        """A row a launch and metric, the view ``results``: value, unit, grade, and the reason of a missing value."""
        import pandas

        return pandas.DataFrame(
            self._query("SELECT * FROM results WHERE run_id = {run} ORDER BY launch_id, metric")
        )

    def values(self, metric: str) -> list[float]:
        """The values of one metric, one a launch in their order; NaN where there is none."""
        run = self.run
        assert self._meter is not None
        return self._meter.values(run, metric)

    def _cost(self, metric: str) -> float:
        run = self.run
        assert self._meter is not None
        return self._meter.cost(run, metric)

    def lines(self) -> pandas.DataFrame:
        """A row a source line, launch and kind of access, the view ``lines``, the costliest first.

        ``requests`` are warp instructions, ``transactions`` wavefronts (shared) or sectors of 32 bytes (global),
        ``excess`` those beyond the fewest possible.
        """
        import pandas

        rows = self._query("SELECT * FROM lines WHERE run_id = {run} ORDER BY excess DESC, launch_id, file, line")
        assert self._meter is not None
        # A table without a row has its columns too.
        columns = None if rows else [column["name"] for column in self._meter.query("PRAGMA table_info(lines)")]
        return pandas.DataFrame(rows, columns=columns)

    def report(self, format: str = "markdown") -> str:
        """The run's report: ``markdown``, ``table``, ``html``, ``csv`` or ``json``."""
        run = self.run
        assert self._meter is not None
        return self._meter.report(run, format)

    def explain(self, format: str = "table", top: int = 0) -> str:
        """Which lines cost too much, why, and what would help; the `top` findings of a launch (0: 5)."""
        run = self.run
        assert self._meter is not None
        return self._meter.explain(run, format, top)

    @property
    def remarks(self) -> list[str]:
        """Launches that were not measured and why, and what else to know beside the figures; a sentence each."""
        return list(self._remarks)

    def check(self, gate: str) -> None:
        """Asserts a gate such as ``shared_load_transactions_per_request <= 1`` of every launch.

        Raises AssertionError with the verdicts, the costliest line and advice when it is broken, and
        :class:`WarpmeterError` (3) when it cannot be judged: no gate holds by lack of a value.
        """
        run = self.run
        assert self._meter is not None
        exit_code, verdicts = self._meter.check(run, gate)
        if exit_code == 0:
            return
        sentence = message()
        if exit_code == 3:
            raise WarpmeterError(3, f"{sentence}\n{verdicts}")
        raise AssertionError(f"{sentence}\n{verdicts}\n{self.explain(top=1)}")

    def _findings_text(self) -> str:
        """``explain("markdown")``, made once: a cell of a notebook shows its pictures and its text apart."""
        if self._findings is None:
            self._findings = self.explain("markdown")
        return self._findings

    def _pictures(self) -> str:
        """The pictures of the findings, as elements of HTML."""
        try:
            pictures = _PICTURE.findall(self._findings_text())
        except WarpmeterError:  # there is nothing to explain
            return ""
        return "".join(f'<p><img alt="{html.escape(title)}" src="{html.escape(link)}"></p>' for title, link in pictures)

    def _repr_html_(self) -> str:
        if self._run == 0:
            return "<p>nothing was measured yet</p>"
        table: str = self._shown().to_html(index=False, max_rows=60, show_dimensions=True)  # a browser takes no million
        return table + self._pictures()

    def _shown(self) -> pandas.DataFrame:
        """The frame. Metrics that were asked for by their names stand in place of its own, those of sets beside them."""
        frame = self.frame
        named = [metric for metric in self._metrics if not metric.startswith("@")]
        if named and len(named) == len(self._metrics):
            frame = frame[["variant", "grid", "block", "nvtx_range"]].dropna(axis="columns", how="all")
        return frame.assign(**{metric: self.values(metric) for metric in named})


def measure(
    metrics: Iterable[str] | None = None,
    name: str | None = None,
    *,
    database: str | os.PathLike[str] | None = None,
) -> Measurement:
    """Measures the launches of a ``with`` block, of all threads of this process.

    `metrics`: names of metrics, counters and sets; None: ``@default``; on a GPU the first block's are those of all.
    `name`: the run's label, for ``warpmeter compare``. `database`: None is ``$WARPMETER_DB``, else ``warpmeter.db`` in
    the working folder.

    The block's end waits for its launches. One block can be open at a time. Raises :class:`WarpmeterError`: (2) a name
    that there is not, a block inside a block, a fork; (3) no launch; (4) no GPU and no model; (6) a kernel failed.
    """
    return Measurement(metrics, name, database)
