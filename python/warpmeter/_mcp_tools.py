# SPDX-License-Identifier: MIT
"""The tools of ``warpmeter mcp``: what each takes, does and returns. They know nothing of the protocol."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from ._mcp_calls import Answer, Refused, Session, sentence_of

Arguments = Mapping[str, Any]
Result = dict[str, Any]
Schema = dict[str, Any]

most_values = 2000  # in one answer

_TEXT: Schema = {"type": "string"}
_WHOLE: Schema = {"type": "integer"}
_NUMBER: Schema = {"type": ["number", "null"]}
_MAYBE_TEXT: Schema = {"type": ["string", "null"]}
_EXTENT: Schema = {
    "description": "One to three numbers, or expressions of the size n: ['ceil(n/16)', 8]",
    "type": "array",
    "minItems": 1,
    "maxItems": 3,
    "items": {"type": ["integer", "string"]},
}
_RUN: Schema = {**_WHOLE, "description": "The number of the run (default: the last one)"}
_DATABASE: Schema = {**_TEXT, "description": "A .db file in the folder, made where it is missing (default: a temporary one)"}
_KERNEL: dict[str, Schema] = {
    "file": {**_TEXT, "description": "A .cu or .ptx file in the folder"},
    "kernel": {**_TEXT, "description": "The kernel, a template's with its arguments: 'reduce<float, 256>' (default: the only one)"},
    "grid": _EXTENT,
    "block": _EXTENT,
    "shared": {"type": ["integer", "string"], "description": "Bytes of dynamic shared memory"},
    "arguments": {
        "type": "array",
        "items": _TEXT,
        "description": "In the kernel's order, numbers may be expressions of n: 'out:f32[n*n]', 'in:f32[n*n]=iota', 'width:i32=n'. "
        "A buffer holds zeros, iota, random:LO..HI:SEED, a number, or FILE.npy",
    },
    "set": {"type": "object", "description": "Values of __constant__ and __device__ variables"},
    "define": {"type": "object", "description": "Macros"},
    "sizes": {"type": "array", "minItems": 1, "items": _WHOLE, "description": "The values of n"},
}
_SPEC: dict[str, Schema] = {
    "spec": {**_TEXT, "description": "A family file (.yaml or .json) in the folder, in place of file and what follows it"},
    **_KERNEL,
}
_LAUNCHES = (
    "SELECT launch_id, family, variant, size, grid, block, device, verified, outcome, reason, registers, "
    "static_shared_bytes, theoretical_occupancy, occupancy_limiter FROM launches WHERE run_id = {} ORDER BY launch_id"
)
_FINDING = ("kind", "file", "line", "text", "object", "sentence", "advice", "evidence", "share", "share_of", "grade")


def _object(properties: dict[str, Schema], *required: str) -> Schema:
    """An input: nothing beside the properties."""
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def _list(**properties: Schema) -> Schema:
    """A list of objects, each with all of the properties and maybe more."""
    return {"type": "array", "items": {"type": "object", "properties": properties, "required": list(properties)}}


def _output(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties)}


_MISTAKES = _list(
    kind=_TEXT, weight={"enum": ["mistake", "remark"]}, message=_TEXT, file=_MAYBE_TEXT, line={"type": ["integer", "null"]}
)


@dataclasses.dataclass(frozen=True)
class Tool:
    name: str
    description: str
    input: Schema
    output: Schema
    call: Callable[[Session, Arguments], Awaitable[Result]]


# ---- what they do


async def list_kernels(session: Session, arguments: Arguments) -> Result:
    file = session.file(arguments["file"], "the file", (".cu", ".ptx"))
    # nvcc starts programs of the host; NVRTC compiles kernels alone.
    compiler = ["--compiler", "nvrtc"] if file.suffix == ".cu" else []
    answer = await session.call("model", "--accepts", str(file), *compiler, "--format", "json", also=(2,))
    if answer.exit_code != 0:
        # The table of a file that does not compile has the reason.
        rows = json.loads(answer.output) if answer.output.strip().startswith("[") else []
        raise Refused(2, sentence_of(next((row["reason"] for row in rows if row["reason"]), "") or answer.error))
    kernels = [
        {"kernel": row["entry"], "can_run": row["accepted"] == "yes", "reason": row["reason"]} for row in answer.json()
    ]
    return {"file": session.shown(str(file)), "kernels": kernels}


async def _measure(session: Session, database: str, spec: pathlib.Path, backend: str, metrics: Sequence[str]) -> int:
    """Runs a family; its launches may fail. Returns the run."""
    words = ["run", str(spec), "--backend", backend, "--db", database]
    for metric in metrics:
        words.append(f"--metrics={metric}")
    answer = await session.call(*words, also=(6,))
    # The database's last run may be an earlier call's, or another process's.
    stored = re.findall(r"^\S+ launch(?:es)? in .*; run (\d+) of ", answer.error, re.MULTILINE)
    if not stored:
        raise Refused(answer.exit_code or 6, sentence_of(answer.error) or "no run was stored")
    return int(stored[-1])


async def run(session: Session, arguments: Arguments) -> Result:
    database = session.database(arguments)
    spec = session.spec(arguments)
    number = await _measure(session, database, spec, arguments.get("backend", "model"), arguments.get("metrics", []))
    launches = await session.query(database, _LAUNCHES.format(number))
    failed = [launch for launch in launches if launch["outcome"] == "failed"]
    if failed and len(failed) == len(launches):
        raise Refused(6, sentence_of(f"{failed[0]['variant']} failed: {failed[0]['reason']}"))
    return {"run": number, "launches": launches}


async def counts(session: Session, arguments: Arguments) -> Result:
    database = session.database(arguments)
    number = await session.run_id(database, arguments.get("run"))
    values = await session.query(
        database,
        f"SELECT launch_id, variant, size, metric, value, unit, grade, reason FROM results WHERE run_id = {number} "
        "ORDER BY launch_id, metric",
    )
    wanted = arguments.get("metrics")
    if wanted:
        values = [value for value in values if value["metric"] in wanted]
        missing = sorted(set(wanted) - {value["metric"] for value in values})
        if missing:
            raise Refused(3, f"run {number} did not measure {', '.join(missing)}: name it in metrics of run")
    else:
        values = [value for value in values if value["value"] is not None]
    lines = await session.query(
        database,
        "SELECT n.launch_id, l.variant, l.size, n.file, n.line, n.text, n.access, n.requests, n.transactions, n.ideal, "
        "n.excess, n.grade FROM lines n JOIN launches l ON l.launch_id = n.launch_id "
        f"WHERE n.run_id = {number} ORDER BY n.excess DESC, n.file, n.line, n.launch_id LIMIT {int(arguments.get('lines', 20))}",
    )
    left_out = max(0, len(values) - most_values)
    return {"run": number, "values": values[:most_values], "values_left_out": left_out, "lines": lines}


async def _explained(session: Session, database: str, number: int, top: int) -> list[Result]:
    answer = await session.call("explain", "--db", database, "--run", str(number), "--format", "json", also=(3,))
    launches = []
    for launch in answer.json()["launches"]:
        findings = [{key: finding.get(key) for key in _FINDING} for finding in launch["findings"][:top]]
        for finding in findings:
            finding["file"] = session.shown(finding["file"])
        launches.append({**{key: launch.get(key) for key in ("variant", "size", "found", "outcome", "reason")}, "findings": findings})
    return launches


async def explain(session: Session, arguments: Arguments) -> Result:
    database = session.database(arguments)
    number = await session.run_id(database, arguments.get("run"))
    return {"run": number, "launches": await _explained(session, database, number, arguments.get("top", 5))}


def _mistakes_of(session: Session, answer: Answer) -> tuple[list[Result], list[str]]:
    """The results and notes of SARIF."""
    (log,) = answer.json()["runs"]
    mistakes = []
    for result in log["results"]:
        places = [
            (place.get("artifactLocation", {}), place.get("region", {}))
            for place in (location.get("physicalLocation", {}) for location in result["locations"])
            if place
        ]
        artifact, region = places[0] if places else ({}, {})
        uri = artifact.get("uri", "")
        mistakes.append(
            {
                "kind": result["ruleId"],
                "weight": "mistake" if result["level"] == "error" else "remark",
                "message": result["message"]["text"],
                "file": session.file_of(uri) if uri else None,
                "line": region.get("startLine"),
            }
        )
    notes = [note["message"]["text"] for note in log["invocations"][0]["toolExecutionNotifications"]]
    return mistakes, notes


async def find_mistakes(session: Session, arguments: Arguments) -> Result:
    spec = session.spec(arguments)
    answer = await session.call("run", str(spec), "--check", "--format", "sarif", "--quiet", also=(3, 6))
    mistakes, notes = _mistakes_of(session, answer)
    return {"mistakes": mistakes, "looked_for": notes, "exit_code": answer.exit_code}


async def try_change(session: Session, arguments: Arguments) -> Result:
    database = str(session.scratch / "tries.db")
    spec = session.changed_spec(arguments)
    number = await _measure(session, database, spec, arguments.get("backend", "model"), arguments.get("metrics", []))
    launches = await session.query(database, _LAUNCHES.format(number))
    by_name = {name: [launch for launch in launches if launch["variant"] == name] for name in ("original", "changed")}
    for launch in by_name["original"]:
        if launch["outcome"] == "failed":
            raise Refused(6, sentence_of(f"the original failed: {launch['reason']}"))
    values = await session.query(
        database,
        f"SELECT variant, size, metric, value FROM results WHERE run_id = {number} AND value IS NOT NULL ORDER BY launch_id, metric",
    )
    known = {(value["variant"], value["size"], value["metric"]): value["value"] for value in values}
    counts = [
        {"size": size, "metric": metric, "original": value, "changed": known.get(("changed", size, metric))}
        for (variant, size, metric), value in known.items()
        if variant == "original"
    ]
    answer = await session.call("run", str(spec), "try/changed", "--check", "--format", "sarif", "--quiet", also=(3, 6))
    mistakes, notes = _mistakes_of(session, answer)
    wrong = [launch["reason"] for launch in by_name["changed"] if not launch["verified"]]
    return {
        "verified": bool(by_name["changed"]) and not wrong,
        "reason": sentence_of(wrong[0] or "the results were not compared") if wrong else None,
        "counts": counts,
        "explained": await _explained(session, database, number, 3),
        "mistakes": mistakes,
        "looked_for": notes,
    }


async def check_gates(session: Session, arguments: Arguments) -> Result:
    database = session.database(arguments)
    number = await session.run_id(database, arguments.get("run"))
    config = session.folder / "warpmeter.toml"
    if config.exists():
        config = session.file("warpmeter.toml", "the gates' file", (".toml",))
    else:
        config = session.scratch / "none.toml"  # a file above the folder does not count
        config.touch()
    words = ["check", "--db", database, "--run", str(number), "--config", str(config), "--format", "json"]
    words += [f"--gate={gate}" for gate in arguments.get("gates", [])]
    answer = await session.call(*words, also=(1, 3))
    result: Result = answer.json()
    for finding in result["findings"]:
        finding["file"] = session.shown(finding["file"])
    return {**result, "exit_code": answer.exit_code}


# ---- what they are called

TOOLS: tuple[Tool, ...] = (
    Tool(
        "list_kernels",
        "Lists the kernels of a .cu or .ptx file, and says which can run.",
        _object({"file": _KERNEL["file"]}, "file"),
        _output(file=_TEXT, kernels=_list(kernel=_TEXT, can_run={"type": "boolean"}, reason=_MAYBE_TEXT)),
        list_kernels,
    ),
    Tool(
        "run",
        "Runs a kernel, verifies and counts it, and stores a run. Without a GPU the CPU executes the kernel and counts what a GPU "
        "would count.",
        _object(
            {
                **_SPEC,
                "backend": {"enum": ["model", "auto", "cupti"], "description": "model: the CPU, the default; cupti: the GPU"},
                "metrics": {"type": "array", "items": _TEXT, "description": "Metrics or sets (@shared) (default: @default)"},
                "database": _DATABASE,
            }
        ),
        _output(run=_WHOLE, launches=_list(variant=_TEXT, size={"type": ["integer", "null"]}, outcome=_TEXT, reason=_MAYBE_TEXT)),
        run,
    ),
    Tool(
        "counts",
        "Returns what a run counted: each metric of each launch, and the source lines with the most excess transactions.",
        _object(
            {
                "run": _RUN,
                "metrics": {"type": "array", "items": _TEXT, "description": "Only these (default: all with a value)"},
                "lines": {**_WHOLE, "minimum": 0, "maximum": 1000, "description": "So many lines at most (default: 20)"},
                "database": _DATABASE,
            }
        ),
        _output(
            run=_WHOLE,
            values_left_out=_WHOLE,
            values=_list(variant=_TEXT, metric=_TEXT, value=_NUMBER, unit=_MAYBE_TEXT, grade=_TEXT, reason=_MAYBE_TEXT),
            lines=_list(variant=_TEXT, file=_MAYBE_TEXT, line=_WHOLE, access=_TEXT, transactions=_WHOLE, ideal=_WHOLE, excess=_WHOLE),
        ),
        counts,
    ),
    Tool(
        "explain",
        "Says which lines of a run cost more than they must, why, and which change was counted to help.",
        _object(
            {"run": _RUN, "top": {**_WHOLE, "minimum": 1, "description": "Findings of a launch (default: 5)"}, "database": _DATABASE}
        ),
        _output(run=_WHOLE, launches=_list(variant=_TEXT, findings=_list(kind=_TEXT, sentence=_TEXT, file=_MAYBE_TEXT))),
        explain,
    ),
    Tool(
        "try_change",
        "Runs a changed source beside the original .cu, which stays as it is: compares the results, counts both, and looks for "
        "mistakes in the changed one.",
        _object(
            {
                **_KERNEL,
                "source": {**_TEXT, "description": "The whole changed source"},
                "edits": {
                    "type": "array",
                    "minItems": 1,
                    "description": "In place of source: texts to replace, each of which the source has once",
                    "items": _object({"old": _TEXT, "new": _TEXT}, "old", "new"),
                },
                "tolerance": _object({"relative": {"type": "number"}, "absolute": {"type": "number"}}),
                "backend": {"enum": ["model", "auto", "cupti"], "description": "model: the CPU, the default"},
                "metrics": {"type": "array", "items": _TEXT},
            },
            "file",
            "grid",
            "block",
        ),
        _output(
            verified={"type": "boolean"},
            reason=_MAYBE_TEXT,
            counts=_list(metric=_TEXT, original=_NUMBER, changed=_NUMBER),
            explained=_list(variant=_TEXT),
            mistakes=_MISTAKES,
            looked_for={"type": "array", "items": _TEXT},
        ),
        try_change,
    ),
    Tool(
        "check_gates",
        "Judges gates on a run, such as 'shared_load_transactions_per_request <= 1', with those of the folder's warpmeter.toml.",
        _object({"gates": {"type": "array", "items": _TEXT}, "run": _RUN, "database": _DATABASE}),
        _output(
            run=_WHOLE,
            outcome={"enum": ["holds", "broken", "inconclusive"]},
            holds=_WHOLE,
            broken=_WHOLE,
            inconclusive=_WHOLE,
            findings=_list(verdict=_TEXT, gate=_TEXT, measured=_NUMBER, limit=_NUMBER, file=_MAYBE_TEXT, line={"type": ["integer", "null"]}),
            exit_code=_WHOLE,
        ),
        check_gates,
    ),
    Tool(
        "find_mistakes",
        "Looks for races, accesses out of bounds, unset memory and divergent barriers while the kernel runs on the CPU.",
        _object(_SPEC),
        _output(mistakes=_MISTAKES, looked_for={"type": "array", "items": _TEXT}, exit_code=_WHOLE),
        find_mistakes,
    ),
)
