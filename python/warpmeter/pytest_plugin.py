# SPDX-License-Identifier: MIT
"""pytest: the fixture ``warpmeter`` makes a gate an assertion.

    def test_no_conflicts(warpmeter):
        with warpmeter.measure() as m:
            transpose(x)
        m.check("shared_load_transactions_per_request <= 1")

``pytest --warpmeter-model sm_90`` (or ``warpmeter_model = sm_90`` in the ini file) lets the model execute the kernels on a
machine without a GPU; ``--warpmeter-db FILE`` keeps what was measured.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

import pytest

from ._library import WarpmeterError
from ._measure import Measurement, measure, use_model


class Fixture:
    """The fixture of a test: ``measure`` with the session's database and the test's name as label."""

    def __init__(self, database: str | os.PathLike[str], test: str) -> None:
        self._database = database
        self._test = test

    def measure(self, metrics: Iterable[str] | None = None, name: str | None = None) -> Measurement:
        """As ``warpmeter.measure``."""
        return measure(metrics, name or self._test, database=self._database)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("warpmeter")
    group.addoption(
        "--warpmeter-model",
        metavar="ARCH",
        help="execute kernels on the model, as this architecture (sm_90): no GPU is needed",
    )
    group.addoption("--warpmeter-db", metavar="FILE", help="keep what was measured in this database")
    parser.addini("warpmeter_model", "the architecture that the model executes kernels as; none: a GPU", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Before any test is imported, for nothing may have loaded CUDA."""
    architecture = config.getoption("--warpmeter-model") or config.getini("warpmeter_model")
    if not architecture:
        return
    try:
        use_model(str(architecture))
    except WarpmeterError as error:
        raise pytest.UsageError(str(error)) from error


@pytest.fixture(scope="session")
def _warpmeter_database(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> str | os.PathLike[str]:
    kept: str | None = request.config.getoption("--warpmeter-db")
    if kept:  # from the folder where pytest was started; a test may change it
        return request.config.invocation_params.dir / kept
    return tmp_path_factory.mktemp("warpmeter") / "warpmeter.db"


@pytest.fixture
def warpmeter(request: pytest.FixtureRequest, _warpmeter_database: str | os.PathLike[str]) -> Fixture:
    """Measures parts of a test: ``with warpmeter.measure() as m: …``."""
    return Fixture(_warpmeter_database, request.node.name[:200])
