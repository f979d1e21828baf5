# SPDX-License-Identifier: MIT
"""The plugin in sessions of pytest of their own."""

from __future__ import annotations

import pathlib

import pytest

KERNEL_TEST = """
    import sys
    sys.path.insert(0, {tests!r})
    from cuda import Cuda, Tile

    def test_gate(warpmeter):
        tile = Tile(Cuda())
        with warpmeter.measure() as m:
            tile({stride})
        m.check("shared_load_transactions_per_request <= 1")
"""


def kernel_test(pytester: pytest.Pytester, stride: int) -> None:
    pytester.makepyfile(KERNEL_TEST.format(tests=str(pathlib.Path(__file__).parent), stride=stride))


def test_a_gate_that_holds_passes(pytester: pytest.Pytester) -> None:
    kernel_test(pytester, 1)
    done = pytester.runpytest_subprocess("--warpmeter-model", "sm_90", "--warpmeter-db", "kept.db")
    done.assert_outcomes(passed=1)
    assert (pytester.path / "kept.db").exists()


def test_a_broken_gate_fails_with_line_and_advice(pytester: pytest.Pytester) -> None:
    kernel_test(pytester, 32)
    pytester.makeini("[pytest]\nwarpmeter_model = sm_90")
    done = pytester.runpytest_subprocess()
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*AssertionError: the gate * is broken", "*tile.cu:8*", "*Change:*"])
    assert not list(pytester.path.glob("*.db"))


def test_a_wrong_architecture_is_wrong_usage(pytester: pytest.Pytester) -> None:
    done = pytester.runpytest_subprocess("--warpmeter-model", "sm_nine")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    assert "sm_nine" in done.stderr.str()


def test_the_database_lies_where_pytest_was_started(pytester: pytest.Pytester) -> None:
    kernel_test(pytester, 1)
    file = next(pytester.path.glob("test_*.py"))
    file.write_text(file.read_text().replace("(warpmeter):", "(warpmeter, monkeypatch, tmp_path):\n    monkeypatch.chdir(tmp_path)"))
    done = pytester.runpytest_subprocess("--warpmeter-model", "sm_90", "--warpmeter-db", "kept.db")
    done.assert_outcomes(passed=1)
    assert (pytester.path / "kept.db").exists()
