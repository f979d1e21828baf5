# SPDX-License-Identifier: MIT
"""Fixtures of the module's tests: they run on the model, which pytest's option --warpmeter-model chooses."""

from __future__ import annotations

import pathlib
from collections.abc import Callable

import pytest
from cuda import Cuda, Tile

import warpmeter as wm

pytest_plugins = ["pytester"]


@pytest.fixture(scope="session")
def cuda() -> Cuda:
    return Cuda()


@pytest.fixture(scope="session")
def tile(cuda: Cuda) -> Tile:
    return Tile(cuda)


@pytest.fixture
def measure(tmp_path: pathlib.Path) -> Callable[..., wm.Measurement]:
    """wm.measure with a database of the test's own."""
    return lambda *arguments, **keywords: wm.measure(*arguments, database=tmp_path / "a.db", **keywords)
