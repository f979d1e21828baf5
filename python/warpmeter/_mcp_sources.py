# SPDX-License-Identifier: MIT
"""The files that a source includes, as far as its text says: a caller's must not reach out of the folder.

A compiler reads what a source includes, wherever it lies, and a kernel could return its numbers. So what a change
includes beyond the original is judged before it is compiled. Comments and texts count as well: no parser of C++ is
needed, and what hides in one is found.
"""

from __future__ import annotations

import re

_GAP = r"(?:\s|/\*.*?\*/)*"
_DIRECTIVE = re.compile(
    rf"(?:#|%:|\?\?=){_GAP}(?:include_next|include|import|embed)\b|\b__has_(?:include|include_next|embed)\b{_GAP}\(", re.DOTALL
)
_NAME = re.compile(rf'{_GAP}(?:"([^"\n]*)"|<([^>\n]*)>)', re.DOTALL)
_DEFINE = re.compile(rf"(?:#|%:|\?\?=){_GAP}define\b[^\n]*", re.DOTALL)
_QUOTED = re.compile(r'"([^"\n]*)"|<([^>\n]*)>')


def _spliced(source: str) -> str:
    """Lines that end in a backslash go on."""
    return re.sub(r"(?:\\|\?\?/)[ \t]*\r?\n", "", source)


def included_names(source: str) -> tuple[set[str], bool]:
    """The names between quotes or brackets, and True if another #include has a macro for a name."""
    names, has_macro = set(), False
    text = _spliced(source)
    for directive in _DIRECTIVE.finditer(text):
        if name := _NAME.match(text, directive.end()):
            names.add(name[1] if name[1] is not None else name[2])
        else:
            has_macro = True
    return names, has_macro


def defined_names(source: str) -> set[str]:
    """All names between quotes or brackets in a #define: an #include of the macro may mean them."""
    lines = _DEFINE.findall(_spliced(source))
    return {name[1] if name[1] is not None else name[2] for line in lines for name in _QUOTED.finditer(line)}
