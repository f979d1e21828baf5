# SPDX-License-Identifier: MIT
"""The database of a measurement may be removed, replaced, read by others, or have any name."""

from __future__ import annotations

import os
import pathlib
import sqlite3
import subprocess
from collections.abc import Callable
from typing import Any

import pytest
from cuda import Tile

import warpmeter as wm

Measure = Callable[..., wm.Measurement]

loads = "shared_load_transactions_per_request"


def test_a_run_that_was_removed_has_no_figures_of_another_one(tile: Tile, measure: Measure) -> None:
    with measure([loads]) as kept:
        tile(2)
    with measure([loads]) as gone:
        tile(32)
    removed = subprocess.run(["warpmeter", "runs", "rm", "2", "--yes", "--db", kept.database], capture_output=True)
    assert removed.returncode == 0, removed.stderr
    with measure([loads]) as after:
        tile(1)
    assert after.run == 2  # the number is used again
    assert (kept.values(loads), after.values(loads)) == ([2], [1])
    for read in (lambda: gone.values(loads), lambda: gone.rows, gone.report, lambda: gone.check(f"{loads} <= 1")):
        with pytest.raises(wm.WarpmeterError, match="its run 2 was removed") as error:
            read()
        assert error.value.exit_code == 5


def test_a_database_that_is_made_anew_has_no_figures_of_the_old_one(tile: Tile, measure: Measure) -> None:
    with measure([loads]) as old:
        tile(32)
    os.remove(old.database)
    with measure([loads]) as new:
        tile(1)
    assert (old._run, new.run) == (1, 1)
    with pytest.raises(wm.WarpmeterError, match="no longer holds what was measured"):
        old.values(loads)


def test_a_database_that_is_removed_within_the_block_is_an_error(tile: Tile, measure: Measure) -> None:
    with pytest.raises(wm.WarpmeterError, match="removed or replaced within the range") as error:
        with measure([loads]) as m:
            tile(1)
            os.remove(m.database)
    assert error.value.exit_code == 5


def test_the_sqlite_of_python_may_read_the_database_at_any_time(tile: Tile, measure: Measure) -> None:
    def runs() -> int:
        connection = sqlite3.connect(m.database)
        count = int(connection.execute("SELECT count(*) FROM runs").fetchone()[0])
        connection.close()  # the last of its SQLite, which removes a log that nobody has locked
        return count

    for number in range(1, 4):
        with measure([loads]) as m:
            tile(4)
            if number > 1:
                assert runs() >= number - 1  # and perhaps this one
        assert (m.values(loads), runs()) == ([4], number)


def test_the_path_of_a_database_stays_when_the_folder_changes(
    tile: Tile, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with wm.measure([loads], database="here.db") as m:
        monkeypatch.chdir("/")
        tile(4)
    assert (m.database, m.values(loads)) == (str(tmp_path / "here.db"), [4])


@pytest.mark.parametrize("name", [b"bytes.db", b"\xff.db", "\udcff-text.db"])
def test_a_path_is_bytes_to_the_file_system(name: str | bytes, tile: Tile, tmp_path: pathlib.Path) -> None:
    path = os.path.join(os.fsencode(tmp_path), os.fsencode(name))
    with wm.measure([loads], database=os.fsdecode(path) if isinstance(name, str) else path) as m:  # type: ignore[arg-type]
        tile(4)
    assert m.values(loads) == [4]
    assert os.path.exists(path)


@pytest.mark.parametrize(
    "keywords",
    [
        {"database": 5},
        {"database": "\ud800.db"},
        {"database": "a\0.db"},
        {"name": 5},
        {"name": "\ud800"},
        {"metrics": 5},
        {"metrics": b"gst_transactions"},
        {"metrics": [None]},
        {"metrics": ["\ud800"]},
    ],
)
def test_what_is_no_text_or_path_is_wrong_usage(keywords: Any, tmp_path: pathlib.Path) -> None:
    with pytest.raises(wm.WarpmeterError) as error:
        with wm.measure(**{"database": tmp_path / "a.db", **keywords}):
            pass
    assert error.value.exit_code == 2


def test_no_message_names_an_option_of_the_program(tmp_path: pathlib.Path) -> None:
    with pytest.raises(wm.WarpmeterError, match="with database=$"):
        with wm.measure(database=tmp_path):
            pass
