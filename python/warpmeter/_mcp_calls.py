# SPDX-License-Identifier: MIT
"""The calls behind ``warpmeter mcp``: the program runs in the person's folder, within a time, and its answers become JSON.

Every path that a caller names is followed through its links and must end in the folder. Other files of a call are
written to a temporary folder. The program itself shows nothing of files outside both that a source includes.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import json
import os
import pathlib
import re
import signal
import tempfile
import urllib.parse
from collections.abc import Mapping, Sequence
from typing import Any

from ._mcp_sources import defined_names, included_names

longest_message = 2000  # characters
_KEPT = ("PATH", "HOME", "LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH", "CUDA_VISIBLE_DEVICES", "LANG")
_libc = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1


def _end_with_the_server() -> None:
    """The program does this before it starts: however the server ends, no kernel runs on without it."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class Refused(Exception):
    """A call that failed: one sentence, and the exit code that the program has for it."""

    def __init__(self, exit_code: int, message: str) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def _kill(process: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process, signal.SIGKILL)


def sentence_of(error: str) -> str:
    """The program's last message, which may have several lines of a compiler, as one."""
    text = error[error.rfind("warpmeter: ") :] if "warpmeter: " in error else error
    text = re.sub(r"\s+", " ", text.removeprefix("warpmeter: ")).strip()
    return text if len(text) <= longest_message else text[:longest_message] + "…"


class Answer:
    """The exit code of the program, and its output."""

    def __init__(self, exit_code: int, output: str, error: str) -> None:
        self.exit_code, self.output, self.error = exit_code, output, error

    def json(self) -> Any:
        try:
            return json.loads(self.output)
        except ValueError:
            raise Refused(self.exit_code or 5, sentence_of(self.error) or "the program printed no JSON") from None


class Session:
    """A person's folder, the program, and the databases of this session."""

    def __init__(self, folder: pathlib.Path, program: str, time_limit: float) -> None:
        self.folder = folder.resolve(strict=True)
        self._program = program
        self.time_limit = time_limit
        self._temporary = tempfile.TemporaryDirectory(prefix="warpmeter-mcp-", ignore_cleanup_errors=True)
        self.scratch = pathlib.Path(self._temporary.name).resolve()
        self._environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
        self._environment |= {"TMPDIR": str(self.scratch), "XDG_CACHE_HOME": str(self.scratch / "cache"), "NO_COLOR": "1"}
        self._calls = 0
        self._running: set[int] = set()

    def close(self) -> None:
        """Ends what runs, at any moment, and removes the temporary files."""
        for process in tuple(self._running):
            _kill(process)
            with contextlib.suppress(ChildProcessError):
                os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)  # asyncio reaps it
        self._temporary.cleanup()

    def path(self, text: str, what: str) -> pathlib.Path:
        """The path that a caller names, from the folder on, with its links followed. It must end in the folder."""
        if "\0" in text:
            raise Refused(2, f"{what} holds a zero character")
        try:
            path = (self.folder / text).resolve()
        except (OSError, RuntimeError) as error:  # a RuntimeError is a loop of links
            why = error.strerror if isinstance(error, OSError) else "its links form a loop"
            raise Refused(5, f"{what} '{text}' cannot be followed ({why})") from error
        if not path.is_relative_to(self.folder):
            raise Refused(2, f"{what} '{text}' lies outside of {self.folder}, the folder that this server may use")
        return path

    def file(self, text: str, what: str, endings: Sequence[str]) -> pathlib.Path:
        path = self.path(text, what)
        if path.suffix not in endings:
            raise Refused(2, f"{what} '{text}' must end in {' or '.join(endings)}")
        if not path.is_file():
            raise Refused(5, f"there is no file '{text}' in {self.folder}")
        return path

    def database(self, arguments: Mapping[str, Any]) -> str:
        """The database that the call names, else this session's own, which is temporary."""
        if "database" not in arguments:
            return str(self.scratch / "warpmeter.db")
        path = self.path(arguments["database"], "the database")
        if path.suffix != ".db":
            raise Refused(2, f"the database '{arguments['database']}' must end in .db")
        return str(path)

    def write(self, files: Mapping[str, str]) -> pathlib.Path:
        """Writes temporary files into a folder of this call's own, which it returns."""
        self._calls += 1
        folder = self.scratch / f"call{self._calls}"
        folder.mkdir()
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
        return folder

    def shown(self, file: str | None) -> str | None:
        """A file as the folder names it; a temporary one by its own name."""
        if file is None:
            return None
        path = (self.folder / file).resolve()
        if path.is_relative_to(self.scratch):
            return path.name
        return str(path.relative_to(self.folder)) if path.is_relative_to(self.folder) else file

    def file_of(self, uri: str) -> str | None:
        """The file of a SARIF address."""
        return self.shown(urllib.parse.unquote(uri.removeprefix("file://")))

    async def call(self, *words: str, also: Sequence[int] = ()) -> Answer:
        """Runs the program. Another exit code than 0 and those of `also` is a Refused."""
        import anyio

        process = await asyncio.create_subprocess_exec(
            self._program,
            *words,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=self.folder,
            env=self._environment,
            start_new_session=True,
            preexec_fn=_end_with_the_server,
        )
        self._running.add(process.pid)
        try:
            output, error = await process.communicate()
        finally:
            # A call that is out of time, or that the client has cancelled, leaves nothing behind.
            _kill(process.pid)
            # The pipes of a cancelled call would outlive the loop, and complain. The transport is closed last: while the
            # process is not reaped it would reap it, beside the loop, which then complains.
            transport = process._transport  # type: ignore[attr-defined]
            for descriptor in (1, 2):
                if (pipe := transport.get_pipe_transport(descriptor)) is not None:
                    pipe.close()
            with anyio.CancelScope(shield=True):
                await process.wait()
            transport.close()
            self._running.discard(process.pid)
        answer = Answer(process.returncode or 0, output.decode(errors="replace"), error.decode(errors="replace"))
        if answer.exit_code != 0 and answer.exit_code not in also:
            code = answer.exit_code if 0 < answer.exit_code < 7 else 6
            raise Refused(code, sentence_of(answer.error) or f"the program ended with {answer.exit_code}")
        return answer

    async def query(self, database: str, sql: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = (await self.call("query", sql, "--db", database, "--format", "json")).json()
        for row in rows:
            if "file" in row:
                row["file"] = self.shown(row["file"])
        return rows

    async def run_id(self, database: str, run: int | None) -> int:
        if not pathlib.Path(database).exists():
            raise Refused(3, "nothing was measured yet: call run first")
        rows = await self.query(database, "SELECT run_id FROM runs ORDER BY run_id")
        known = [int(row["run_id"]) for row in rows]
        if not known:
            raise Refused(3, "the database has no run: call run first")
        if run is None:
            return known[-1]
        if run not in known:
            raise Refused(2, f"the database has no run {run}, its last one is {known[-1]}")
        return run

    def _require_inside(self, names: set[str], beside: pathlib.Path) -> None:
        """Refuses names of an #include that lead out of the folder. Others may be the toolkit's."""
        for name in names:
            parts = pathlib.PurePath(name)
            places = [place / name for place in (beside, self.folder)]
            if parts.is_absolute() or ".." in parts.parts:
                if not self.path(str(places[0]), "the included file").is_file():
                    raise Refused(5, f"there is no file '{name}' to include in {self.folder}")
            for place in places:
                if os.path.lexists(place):
                    self.path(str(place), "the included file")

    def _require_includes(self, original: str, changed: str, beside: pathlib.Path) -> None:
        """The caller's text includes files of the folder and of the toolkit; the person's own is not judged."""
        (own, own_macro), (names, has_macro) = included_names(original), included_names(changed)
        if has_macro and not own_macro:
            raise Refused(2, "an #include of a change names its file, and no macro")
        self._require_inside(names - own, beside)
        paths = {name for name in defined_names(changed) - defined_names(original) if name.startswith("/") or ".." in name}
        self._require_inside(paths, beside)

    def _with_files(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments whose files of data are named as a temporary family file needs it, and lie in the folder."""

        def whole(text: str) -> str:
            before, equals, value = text.rpartition("=")
            name = value.strip()
            if not name.endswith((".npy", ".bin")):
                return text
            return f"{before}{equals}{self.file(name, 'the data', ('.npy', '.bin'))}"

        result = dict(arguments)
        if "arguments" in result:
            result["arguments"] = [whole(text) if "=" in text else text for text in result["arguments"]]
        if "set" in result:
            result["set"] = {key: whole(value) if isinstance(value, str) else value for key, value in result["set"].items()}
        for value in result.get("define", {}).values():
            self._require_inside({name for name in defined_names(f"#define {value}") if "/" in name}, self.folder)
        return result

    def spec(self, arguments: Mapping[str, Any]) -> pathlib.Path:
        """The family file that the call names, or one made of its kernel and arguments."""
        if "spec" in arguments:
            if "file" in arguments:
                raise Refused(2, "spec and file both say which kernel there is: leave one out")
            return self.file(arguments["spec"], "the spec", (".yaml", ".yml", ".json"))
        if "file" not in arguments:
            raise Refused(2, "a call needs spec, or file with kernel, grid, block and arguments")
        file = self.file(arguments["file"], "the file", (".cu", ".ptx"))
        name = variant_name(arguments)
        family = family_of(self._with_files(arguments), file.stem, str(file), {name: {}})
        return self.write({"kernel.json": json.dumps(family)}) / "kernel.json"

    def changed_spec(self, arguments: Mapping[str, Any]) -> pathlib.Path:
        """A family of the original and the changed kernel, each of its own source."""
        file = self.file(arguments["file"], "the file", (".cu",))
        original = file.read_text(encoding="utf-8", errors="replace")
        source = changed_source(original, arguments)
        self._require_includes(original, source, file.parent)
        both = f'#ifdef WARPMETER_CHANGED\n#include "changed.cu"\n#else\n#include {quoted(file)}\n#endif\n'
        variants: dict[str, dict[str, Any]] = {"original": {}, "changed": {"define": {"WARPMETER_CHANGED": 1}}}
        family = family_of(self._with_files(arguments), "try", "both.cu", variants)
        family |= {"reference": "original", "include": [str(file.parent)]}
        if "tolerance" in arguments:
            family["tolerance"] = arguments["tolerance"]
        return self.write({"changed.cu": source, "both.cu": both, "try.json": json.dumps(family)}) / "try.json"


def quoted(path: pathlib.Path) -> str:
    text = str(path)
    if '"' in text or "\n" in text or "\\" in text:
        raise Refused(2, f"the path {text} cannot be included: rename the file or its folder")
    return f'"{text}"'


def variant_name(arguments: Mapping[str, Any]) -> str:
    name = re.sub(r"\W+", "_", str(arguments.get("kernel", "kernel"))).strip("_")
    return name if name and not name[0].isdigit() else "kernel"


def family_of(
    arguments: Mapping[str, Any], name: str, file: str, variants: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """A family file: docs/families.md describes it."""
    for needed in ("grid", "block"):
        if needed not in arguments:
            raise Refused(2, f"a kernel of a file needs {needed}: how many {'blocks' if needed == 'grid' else 'threads'}")
    launch = {key: arguments[key] for key in ("kernel", "grid", "block", "shared") if key in arguments}
    family: dict[str, Any] = {
        "family": re.sub(r"\W+", "_", name) or "kernels",
        "file": file,
        "arguments": arguments.get("arguments", []),
        "variants": {variant: {**launch, **more} for variant, more in variants.items()},
    }
    if file.endswith(".cu"):
        family["compiler"] = "nvrtc"
    if "sizes" in arguments:
        family["sizes"] = arguments["sizes"]
    for key in ("set", "define"):
        if key in arguments:
            family[key] = arguments[key]
    return family


def changed_source(original: str, arguments: Mapping[str, Any]) -> str:
    if ("source" in arguments) == ("edits" in arguments):
        raise Refused(2, "a change is either source, the whole text, or edits: give one of them")
    if "source" in arguments:
        return str(arguments["source"])
    source = original
    for number, edit in enumerate(arguments["edits"], 1):
        # Places may overlap: "aa" stands twice in "aaa".
        count = len(re.findall(f"(?={re.escape(edit['old'])})", source)) if edit["old"] else 0
        if count != 1:
            raise Refused(2, f"edit {number} must name a text that the source has once, and '{edit['old']}' is there {count} times")
        source = source.replace(edit["old"], edit["new"])
    return source
