# SPDX-License-Identifier: MIT
"""The examples of docs/python.md run, one after the other as a reader types them, and say what the page says."""

from __future__ import annotations

import pathlib
import re
from typing import Any

import pytest
from cuda import Tile

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "python.md"


def test_examples_run(tile: Tile, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {"tile": tile}
    said = 0
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
        for line in block.splitlines():
            code, _, comment = line.partition("#")
            if comment.strip().startswith(("[", "{")):
                said += 1
                assert repr(eval(code, names)) == comment.strip()
    assert (len(blocks), said) == (5, 2)
