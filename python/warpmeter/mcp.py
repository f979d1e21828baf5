# SPDX-License-Identifier: MIT
"""``warpmeter mcp``: a server of the Model Context Protocol over standard input and output.

An agent or editor starts it with the one folder that it may use, and calls its tools (_mcp_tools.py). Results are JSON with
a schema. A call that fails returns one sentence with the exit code that the program has for it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import pathlib
import signal
import sys
from collections.abc import Mapping
from typing import Any

from ._library import version
from ._mcp_calls import Refused, Session, sentence_of
from ._mcp_tools import TOOLS, Tool

_INSTRUCTIONS = (
    "warpmeter counts what CUDA kernels cost, with a GPU or without one. To repair a slow kernel: list_kernels, run, explain, "
    "try_change with what explain advises, then check_gates. Paths are relative to the folder of this server."
)


def _whole(schema: Mapping[str, Any], value: Any) -> Any:
    """A valid value whose integers are ints: JSON Schema takes 2.0 for an integer."""
    if isinstance(value, float) and "integer" in schema.get("type", ()):
        return int(value)
    if isinstance(value, list):
        return [_whole(schema.get("items", {}), item) for item in value]
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        return {key: _whole(properties.get(key, {}), item) for key, item in value.items()}
    return value


async def _answer(session: Session, tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    import anyio
    import jsonschema

    problem = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(tool.input).iter_errors(arguments))
    if problem is not None:
        where = ".".join(str(part) for part in problem.path)
        raise Refused(2, sentence_of(f"{where + ': ' if where else ''}{problem.message}"))
    try:
        with anyio.fail_after(session.time_limit):
            return await tool.call(session, _whole(tool.input, arguments))
    except TimeoutError:
        raise Refused(6, f"{tool.name} took longer than {session.time_limit:g} s and was stopped; --time-limit allows more") from None


class _Handlers:
    """One call after the other: each may use the whole machine."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._turn = asyncio.Lock()

    async def list_tools(self, context: Any, parameters: Any) -> Any:
        import mcp_types as types

        return types.ListToolsResult(
            tools=[
                types.Tool(name=tool.name, description=tool.description, input_schema=tool.input, output_schema=tool.output)
                for tool in TOOLS
            ]
        )

    async def call_tool(self, context: Any, parameters: Any) -> Any:
        import mcp_types as types

        try:
            tool = next((tool for tool in TOOLS if tool.name == parameters.name), None)
            if tool is None:
                raise Refused(2, f"there is no tool {parameters.name}: the tools are {', '.join(tool.name for tool in TOOLS)}")
            async with self._turn:
                result = await _answer(self._session, tool, parameters.arguments or {})
        except Refused as error:
            refused = error
        except UnicodeError:
            refused = Refused(2, "an argument holds a character that UTF-8 has no bytes for: leave out unpaired surrogates")
        except OSError as error:  # its text names files outside of the folder
            refused = Refused(5, f"a file cannot be used: {error.strerror or type(error).__name__}")
        else:
            text = json.dumps(result, ensure_ascii=False)
            return types.CallToolResult(content=[types.TextContent(type="text", text=text)], structured_content=result)
        message = str(refused).encode(errors="replace").decode()  # it may quote an unpaired surrogate
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=f"{message} (exit code {refused.exit_code})")],
            structured_content={"error": message, "exit_code": refused.exit_code},
            is_error=True,
        )


async def _serve(session: Session) -> None:
    from mcp.server.lowlevel import Server
    from mcp.server.stdio import stdio_server

    handlers = _Handlers(session)
    server: Any = Server(
        "warpmeter",
        version=version().split()[1],
        instructions=_INSTRUCTIONS,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
    )
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def _close_at_signals(session: Session) -> None:
    """At once: a thread waits for standard input, and Python would wait for that thread."""

    def close(number: int, frame: Any) -> None:
        session.close()
        os._exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, close)


def main() -> None:
    parser = argparse.ArgumentParser(prog="warpmeter mcp")
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--time-limit", type=float, required=True)
    parser.add_argument("--program", required=True)
    options = parser.parse_args()
    try:
        import anyio
        import mcp_types  # noqa: F401
    except ModuleNotFoundError as error:
        # The exit code is that of a part of the machine that is missing.
        print(
            f"warpmeter: mcp needs version 2 or newer of the Model Context Protocol's SDK ({error.name} is missing in "
            f"{sys.executable}): pip install 'mcp>=2'",
            file=sys.stderr,
        )
        sys.exit(4)
    session = Session(options.folder, options.program, options.time_limit)
    _close_at_signals(session)
    try:
        anyio.run(_serve, session)
    finally:
        session.close()


if __name__ == "__main__":
    main()
