# SPDX-License-Identifier: MIT
"""Callers of ``warpmeter mcp`` who look outside of the folder, and servers that are ended at a bad moment."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
from typing import Any

import numpy
import pytest
from test_mcp import KERNEL, TURN, Call, done, refused, session
from test_mcp import folder as folder  # a fixture

from warpmeter._mcp_calls import Refused, changed_source

RETURNS = TURN.replace("= tile[threadIdx.x][threadIdx.y]", "= numbers[2]")


# The text in front of the numbers, and the directive that includes them.
INCLUDES = [
    ("", '#include "{file}"'),
    ("", '#include "../numbers.csv"'),
    ("", "#include <{file}>"),
    ("", '#include "linked.csv"'),
    ("", '%:include "../numbers.csv"'),
    ("", '/* */ # /* */ include /* */ "{file}"'),
    ("", '#inc\\\nlude "{file}"'),
    ('const char* a = "/*";', '#include "{file}"'),
    ('#define FILE "{file}"', "#include FILE"),
    ("#define TEXT(x) #x", "#include TEXT({file})"),
]


def test_a_change_reads_no_file_outside_of_the_folder(folder: pathlib.Path) -> None:
    """A kernel could return the numbers of a file that it includes: "out[0] is 4242, expected 0"."""
    secret = folder.parent / "numbers.csv"
    secret.write_text("11, 22, 4242, 99\n")
    (folder / "linked.csv").symlink_to(secret)

    async def talk(call: Call) -> None:
        for before, include in INCLUDES:
            lines = [before, "__device__ int numbers[] = {", include, "};", RETURNS]
            is_error, content = await call("try_change", **KERNEL, source="\n".join(lines).replace("{file}", str(secret)))
            assert "4242" not in json.dumps(content), include
            assert (is_error, content["exit_code"]) == (True, 2), include

    session(folder, talk)


def test_a_change_may_include_files_of_the_folder_and_of_the_toolkit(folder: pathlib.Path) -> None:
    (folder / "deep").mkdir()
    (folder / "deep" / "turn.cu").write_text(TURN)
    (folder / "rows.h").write_text("#define ROWS 32\n")
    includes = '#include "../rows.h"\n#include <cuda_fp16.h>\n#if __has_include(<cuda_bf16.h>)\n#endif\n'

    async def talk(call: Call) -> None:
        kernel = {**KERNEL, "file": "deep/turn.cu"}
        tried = await done(call, "try_change", **kernel, source=includes + TURN.replace("tile[32]", "tile[ROWS]"))
        assert (tried["verified"], tried["reason"]) == (True, None)
        await refused(call, 5, "there is no file '../none.h'", "try_change", **kernel, source='#include "../none.h"\n' + TURN)

    session(folder, talk)


def test_data_lies_in_the_folder(folder: pathlib.Path) -> None:
    numpy.save(folder / "in.npy", numpy.arange(64 * 64, dtype=numpy.float32))
    numpy.save(folder.parent / "out.npy", numpy.zeros(64 * 64, dtype=numpy.float32))
    (folder / "linked.npy").symlink_to(folder.parent / "out.npy")

    def reading(name: str) -> dict[str, Any]:
        return {**KERNEL, "arguments": ["out:f32[n*n]", f"in:f32[n*n] = {name}", "n:i32=n"]}

    async def talk(call: Call) -> None:
        assert (await done(call, "run", **reading("in.npy")))["launches"][0]["outcome"] == "done"
        assert (await done(call, "try_change", **reading("in.npy"), source=TURN))["verified"]
        for name in ("linked.npy", "../out.npy", str(folder.parent / "out.npy")):
            await refused(call, 2, "lies outside of", "run", **reading(name))
        await refused(call, 5, "there is no file 'none.npy'", "run", **reading("none.npy"))

    session(folder, talk)


def test_an_edit_names_one_place_also_where_places_overlap() -> None:
    with pytest.raises(Refused, match="is there 2 times"):
        changed_source("aaa", {"edits": [{"old": "aa", "new": "b"}]})
    assert changed_source("a.a", {"edits": [{"old": ".", "new": "b"}]}) == "aba"


def test_a_message_is_never_long(folder: pathlib.Path) -> None:
    async def talk(call: Call) -> None:
        is_error, content = await call("list_kernels", file=["x" * 5000] * 100)
        assert is_error and len(content["error"]) < 2100

    session(folder, talk)


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL, None])
def test_a_server_that_ends_leaves_no_program_behind(ending: signal.Signals | None, folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (folder / "endless.cu").write_text("__global__ void endless(int* out) { for (;;) *(volatile int*)out += 1; }\n")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    program = shutil.which("warpmeter")
    server = subprocess.Popen(
        [str(program), "mcp", "--folder", str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(temporary)},
        text=True,
    )
    assert server.stdin is not None and server.stdout is not None and server.stderr is not None
    arguments = {"file": "endless.cu", "grid": [1], "block": [1], "arguments": ["out:i32[1]"]}
    start = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    for message in (
        {"id": 1, "method": "initialize", "params": start},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "run", "arguments": arguments}},
    ):
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        server.stdin.flush()
        if message.get("id") == 1:
            server.stdout.readline()

    def running() -> list[str]:
        found = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                command = (process / "cmdline").read_text().split("\0")
            except OSError:
                continue
            if str(temporary) in " ".join(command):
                found.append(process.name)
        return found

    def wait_until(is_running: bool) -> None:
        deadline = time.monotonic() + 30
        while bool(running()) != is_running:
            assert time.monotonic() < deadline, running()
            time.sleep(0.05)

    wait_until(True)
    if ending is None:
        server.stdin.close()
    else:
        server.send_signal(ending)
    exit_code = server.wait(30)
    wait_until(False)
    assert exit_code == {None: 0, signal.SIGKILL: -9}.get(ending, 128 + (ending or 0))
    if ending != signal.SIGKILL:
        assert server.stderr.read() == ""
        assert list(temporary.iterdir()) == []
