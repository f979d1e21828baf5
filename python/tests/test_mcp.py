# SPDX-License-Identifier: MIT
"""Sessions with ``warpmeter mcp``, replayed through the SDK's client, which validates results by the tools' schemas.

Counts by hand: a warp that reads a column of a tile of 32 × 32 floats finds all 32 words in one bank, so each request
takes 32 wavefronts. With rows of 33 words the column lies in 32 banks: 1.
"""

from __future__ import annotations

import asyncio
import errno
import os
import pathlib
import re
import shutil
import subprocess
from collections.abc import Awaitable, Callable
from typing import Any

import mcp_types
import pytest

from mcp import Client, StdioServerParameters
from warpmeter import _mcp_tools as tools
from warpmeter import mcp as server
from warpmeter._mcp_calls import Refused, Session

Call = Callable[..., Awaitable[tuple[bool, dict[str, Any]]]]

TURN = """\
__global__ void turn(float* out, const float* in, int n) {
  __shared__ float tile[32][32];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * n + x];
  __syncthreads();
  int ox = blockIdx.y * 32 + threadIdx.x, oy = blockIdx.x * 32 + threadIdx.y;
  out[oy * n + ox] = tile[threadIdx.x][threadIdx.y];
}
"""
KERNEL: dict[str, Any] = {
    "file": "turn.cu",
    "kernel": "turn",
    "grid": ["n/32", "n/32"],
    "block": [32, 32],
    "arguments": ["out:f32[n*n]", "in:f32[n*n]=iota", "n:i32=n"],
    "sizes": [64],
}
PER_REQUEST = "shared_load_transactions_per_request"


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    """The person's folder, beside which lies what is none of the server's business."""
    (tmp_path / "outside.cu").write_text(TURN)
    folder = tmp_path / "kernels"
    folder.mkdir()
    (folder / "turn.cu").write_text(TURN)
    (folder / "link.cu").symlink_to(tmp_path / "outside.cu")
    (folder / "spec.yaml").write_text("file: link.cu\nvariants: {a: {kernel: turn, grid: 1, block: 1}}\n")
    return folder


def session(folder: pathlib.Path, talk: Callable[[Call], Awaitable[None]], *options: str, mode: str = "auto") -> None:
    """Starts the server, as an agent does, and talks to it."""
    program = shutil.which("warpmeter")
    assert program is not None
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "CUDA_HOME", "TMPDIR") if name in os.environ}
    server = StdioServerParameters(command=program, args=["mcp", "--folder", str(folder), *options], env=kept, cwd="/")

    async def main() -> None:
        async with Client(server, mode=mode) as client:

            async def call(name: str, **arguments: Any) -> tuple[bool, dict[str, Any]]:
                result = await client.call_tool(name, arguments)
                content: dict[str, Any] = result.structured_content
                if result.is_error:
                    assert result.content[0].text == f"{content['error']} (exit code {content['exit_code']})"
                    assert "\n" not in content["error"]
                return result.is_error, content

            await talk(call)

    try:
        asyncio.run(main())
    except BaseExceptionGroup as group:
        error: BaseException = group
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        raise error from None


def with_session(folder: pathlib.Path, program: str, talk: Callable[[Session], Awaitable[None]]) -> None:
    """Calls the tools in this process."""
    own = Session(folder, program, 60)
    try:
        asyncio.run(talk(own))
    finally:
        own.close()


def script(folder: pathlib.Path, text: str) -> str:
    """A program around warpmeter."""
    program = folder.parent / "program"
    program.write_text(f"#!/bin/sh\nwarpmeter='{shutil.which('warpmeter')}'\n{text}")
    program.chmod(0o755)
    return str(program)


async def done(call: Call, name: str, **arguments: Any) -> dict[str, Any]:
    is_error, content = await call(name, **arguments)
    assert not is_error, content
    return content


async def refused(call: Call, exit_code: int, words: str, name: str, **arguments: Any) -> None:
    is_error, content = await call(name, **arguments)
    assert is_error, content
    assert content["exit_code"] == exit_code, content
    assert words in content["error"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_what_the_tools_say_repairs_a_slow_kernel(folder: pathlib.Path, mode: str) -> None:
    async def talk(call: Call) -> None:
        listed = await done(call, "list_kernels", file="turn.cu")
        assert [(one["kernel"], one["can_run"]) for one in listed["kernels"]] == [("turn", True)]
        assert (await done(call, "run", **KERNEL))["launches"][0]["outcome"] == "done"
        counted = await done(call, "counts", metrics=[PER_REQUEST])
        assert [value["value"] for value in counted["values"]] == [32]
        assert (counted["lines"][0]["file"], counted["lines"][0]["line"]) == ("turn.cu", 7)
        gates = [f"{PER_REQUEST} <= 1"]
        broken = await done(call, "check_gates", gates=gates)
        assert (broken["outcome"], broken["exit_code"]) == ("broken", 1)
        assert (broken["findings"][0]["file"], broken["findings"][0]["line"]) == ("turn.cu", 7)

        finding = (await done(call, "explain"))["launches"][0]["findings"][0]
        assert (finding["kind"], finding["line"]) == ("bank_conflict", 7)
        padded = next(found[1] for advice in finding["advice"] if (found := re.match(r"`(tile\[\d+\]\[\d+\])`", advice)))
        edits = [{"old": "tile[32][32]", "new": padded}]
        tried = await done(call, "try_change", **KERNEL, edits=edits)
        assert (tried["verified"], tried["reason"], tried["mistakes"]) == (True, None, [])
        (count,) = [count for count in tried["counts"] if count["metric"] == PER_REQUEST]
        assert (count["original"], count["changed"]) == (32, 1)
        assert (folder / "turn.cu").read_text() == TURN

        (folder / "turn.cu").write_text(TURN.replace("tile[32][32]", padded))
        assert (await done(call, "run", **KERNEL))["run"] == 2
        held = await done(call, "check_gates", gates=gates)
        assert (held["outcome"], held["exit_code"]) == ("holds", 0)
        assert (await done(call, "find_mistakes", **KERNEL))["mistakes"] == []

    session(folder, talk, mode=mode)
    assert {path.name for path in folder.iterdir()} == {"turn.cu", "link.cu", "spec.yaml"}


def test_a_change_that_is_wrong_is_named(folder: pathlib.Path) -> None:
    async def talk(call: Call) -> None:
        wrong = await done(call, "try_change", **KERNEL, source=TURN.replace("in[y * n + x]", "in[x * n + y]"))
        assert not wrong["verified"]
        # The input counts from 0, so the second number of its first column is 64.
        assert "out[1] is 1, expected 64" in wrong["reason"]
        race = await done(call, "try_change", **KERNEL, edits=[{"old": "  __syncthreads();\n", "new": "\n"}])
        assert ("shared-memory-race", "changed.cu") in {(one["kind"], one["file"]) for one in race["mistakes"]}
        assert {one["line"] for one in race["mistakes"]} <= {4, 7}
        await refused(call, 2, "is there 2 times", "try_change", **KERNEL, edits=[{"old": "32][", "new": ""}, {"old": "n + ", "new": ""}])
        unfinished = await done(call, "try_change", **KERNEL, source="__global__ void turn(")
        assert not unfinished["verified"]
        assert "does not compile" in unfinished["reason"]

    session(folder, talk)


def test_nothing_outside_of_the_folder_is_used(folder: pathlib.Path) -> None:
    outside = str(folder.parent / "outside.cu")
    secret = folder.parent / "secret.h"
    secret.write_text("the words of somebody else;\n")
    (folder / "reads.cu").write_text(f'#include "{secret}"\n' + TURN)
    before = sorted(folder.parent.iterdir())

    async def talk(call: Call) -> None:
        for file in ("../outside.cu", outside, "link.cu", "../kernels/../outside.cu"):
            await refused(call, 2, "lies outside of", "list_kernels", file=file)
            await refused(call, 2, "lies outside of", "run", **{**KERNEL, "file": file})
            await refused(call, 2, "lies outside of", "try_change", **{**KERNEL, "file": file}, source=TURN)
        await refused(call, 2, "lies outside of", "run", **KERNEL, database="../out.db")
        await refused(call, 2, "link.cu", "run", spec="spec.yaml")
        data = {**KERNEL, "arguments": ["out:f32[n*n]", "in:f32[n*n]=../data.bin", "n:i32=n"]}
        await refused(call, 2, "data.bin", "run", **data)
        is_error, content = await call("list_kernels", file="reads.cu")
        assert is_error and "somebody" not in content["error"]
        assert (await done(call, "run", **KERNEL, database="kept.db"))["run"] == 1

    session(folder, talk)
    assert (folder / "kept.db").is_file()
    assert sorted(folder.parent.iterdir()) == before


def test_errors_are_one_sentence_and_the_server_goes_on(folder: pathlib.Path) -> None:
    (folder / "wrong.cu").write_text("__global__ void wrong() { no_such_thing(); }\n")
    (folder / "loop.cu").symlink_to("loop.cu")

    async def talk(call: Call) -> None:
        await refused(call, 2, "no_such_thing", "list_kernels", file="wrong.cu")
        await refused(call, 5, "there is no file", "list_kernels", file="none.cu")
        await refused(call, 2, "there is no tool", "no_tool")
        await refused(call, 2, "'file' is a required property", "list_kernels")
        await refused(call, 2, "is not of type", "list_kernels", file=3)
        await refused(call, 2, "grid", "run", file="turn.cu")
        await refused(call, 3, "nothing was measured yet", "counts")
        await refused(call, 2, "no_such_metric", "run", **KERNEL, metrics=["no_such_metric"])
        long = "a" * 300
        for name, arguments in (
            ("list_kernels", {"file": f"{long}.cu"}),
            ("find_mistakes", {"spec": f"{long}.yaml"}),
            ("counts", {"database": f"{long}.db"}),
        ):
            await refused(call, 5, os.strerror(errno.ENAMETOOLONG), name, **arguments)
            assert str(folder) not in (await call(name, **arguments))[1]["error"]
        await refused(call, 5, "its links form a loop", "list_kernels", file="loop.cu")
        await refused(call, 6, "just past the end of 'out'", "run", **{**KERNEL, "arguments": ["out:f32[n]", "in:f32[n*n]=iota", "n:i32=n"]})
        found = await done(call, "find_mistakes", **{**KERNEL, "arguments": ["out:f32[n]", "in:f32[n*n]=iota", "n:i32=n"]})
        assert ("out-of-bounds", 7) in {(one["kind"], one["line"]) for one in found["mistakes"]}
        # JSON Schema takes 64.0 for an integer, but 2.5 not.
        floats = {**KERNEL, "grid": [2.0, 2.0], "block": [32.0, 32], "sizes": [64.0]}
        (launch,) = (await done(call, "run", **floats))["launches"]
        assert (launch["outcome"], launch["size"], launch["grid"]) == ("done", 64, "2x2x1")
        assert len((await done(call, "explain", top=1.0))["launches"][0]["findings"]) == 1
        assert len((await done(call, "counts", lines=1.0, run=2.0))["lines"]) == 1
        await refused(call, 2, "is not of type", "explain", top=2.5)
        assert (await done(call, "run", **KERNEL))["launches"][0]["outcome"] == "done"

    session(folder, talk)


def test_errors_of_files_and_characters_are_one_sentence(folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK's own client sends no unpaired surrogate, and root reads every file: these calls are made without it."""

    def unreadable(self: pathlib.Path, **options: Any) -> str:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(self))

    async def talk(own: Session) -> None:
        handlers = server._Handlers(own)

        async def error_of(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
            result = await handlers.call_tool(None, mcp_types.CallToolRequestParams(name=name, arguments=arguments))
            assert result.is_error
            result.model_dump_json()
            content: dict[str, Any] = result.structured_content
            assert result.content[0].text == f"{content['error']} (exit code {content['exit_code']})"
            return content

        for name, arguments in (
            ("try_change", {**KERNEL, "source": "\ud800"}),
            ("list_kernels", {"file": "\ud800.cu"}),
            ("run", {**KERNEL, "metrics": ["\ud800"]}),
        ):
            content = await error_of(name, arguments)
            assert (content["exit_code"], "unpaired surrogates" in content["error"]) == (2, True), content
        assert (await error_of("\ud800", {}))["error"].startswith("there is no tool ?")
        monkeypatch.setattr(pathlib.Path, "read_text", unreadable)
        content = await error_of("try_change", {**KERNEL, "source": TURN})
        assert content == {"error": f"a file cannot be used: {os.strerror(errno.EACCES)}", "exit_code": 5}

    with_session(folder, shutil.which("warpmeter") or "", talk)


def test_a_run_that_stored_nothing_returns_no_other_run(folder: pathlib.Path) -> None:
    """A GPU that fails ends the program with 6 before it has stored a run."""
    program = script(folder, f"""if [ "$1" = run ] && [ -e "{folder}/broken" ]; then
  echo "warpmeter: device 0 failed" >&2
  exit 6
fi
exec "$warpmeter" "$@"
""")

    async def talk(own: Session) -> None:
        change: dict[str, Any] = {**KERNEL, "source": TURN}
        assert (await tools.run(own, KERNEL))["run"] == 1
        assert (await tools.try_change(own, change))["verified"]
        (folder / "broken").touch()
        for call, arguments in ((tools.run, KERNEL), (tools.try_change, change)):
            with pytest.raises(Refused, match="^device 0 failed$") as error:
                await call(own, arguments)
            assert error.value.exit_code == 6

    with_session(folder, program, talk)


def test_a_run_is_its_own_beside_another_process(folder: pathlib.Path) -> None:
    program = script(folder, """"$warpmeter" "$@"
status=$?
if [ "$1" = run ]; then
  "$warpmeter" "$@" >/dev/null 2>&1 # the other process
fi
exit $status
""")

    async def talk(own: Session) -> None:
        for number in (1, 3):
            assert (await tools.run(own, {**KERNEL, "database": "shared; run 9 of.db"}))["run"] == number
        too_small = {**KERNEL, "arguments": ["out:f32[1024]", "in:f32[n*n]=iota", "n:i32=n"], "sizes": [32, 64]}
        half = await tools.run(own, {**too_small, "database": "shared; run 9 of.db"})
        assert (half["run"], [launch["outcome"] for launch in half["launches"]]) == (5, ["done", "failed"])

    with_session(folder, program, talk)


def test_a_kernel_that_hangs_is_stopped(folder: pathlib.Path) -> None:
    (folder / "endless.cu").write_text("__global__ void endless(int* out) { for (;;) *(volatile int*)out += 1; }\n")
    # Warps take turns: with many, none comes to the number of instructions that ends a launch, on a fast machine too.
    endless = {"file": "endless.cu", "grid": [1], "block": [1024], "arguments": ["out:i32[1]"]}
    program = pathlib.Path(shutil.which("warpmeter") or "").resolve()

    def alive() -> list[str]:
        found = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if (process / "exe").resolve() == program:
                    found.append((process / "cmdline").read_text())
            except OSError:
                continue
        return found

    async def talk(call: Call) -> None:
        await refused(call, 6, "run took longer than 5 s and was stopped", "run", **endless)
        assert alive() == []
        assert (await done(call, "run", **KERNEL))["launches"][0]["outcome"] == "done"

    session(folder, talk, "--time-limit", "5")


def test_the_program_names_what_is_missing(folder: pathlib.Path) -> None:
    for words, exit_code, message in (
        (["mcp"], 2, "mcp needs --folder"),
        (["mcp", "--folder", "none"], 5, "there is no folder none"),
        (["mcp", "--folder", "turn.cu"], 5, "there is no folder turn.cu"),
        (["mcp", "--folder", ".", "--time-limit", "0"], 2, "--time-limit"),
    ):
        done = subprocess.run(["warpmeter", *words], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        assert (done.returncode, message in done.stderr) == (exit_code, True), done.stderr
