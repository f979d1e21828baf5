#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The columns in docs/database.md are those of the program, for the views that people query most.

    tests/docs/columns.py WARPMETER     writes them anew, from `warpmeter list views`"""
import collections
import json
import subprocess
import sys

from pages import ROOT

PAGE = ROOT / "docs" / "database.md"
LEAD = "`warpmeter list views` prints the columns of every view.\n"
BEGIN, END = "<!-- generated -->\n", "<!-- end -->\n"
VIEWS = ("runs", "launches", "results", "comparison", "timings", "lines", "findings")


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


def item(column, description):
    return f"- `{column}`: {cell(description)}\n"


def views(program):
    """The name and the columns of each view, a column being its name and its description."""
    answer = subprocess.run([program, "list", "views", "--format", "json"], check=True, capture_output=True, text=True)
    columns_of = {}
    for row in json.loads(answer.stdout):
        columns = columns_of.setdefault(row["view"], [])
        if row["column"] is not None:
            columns.append((row["column"], row["description"]))
    return columns_of


def columns(program):
    """The end of the page: the columns that several views share, then a heading a view and an item a column."""
    columns_of = views(program)
    uses = collections.Counter(column for view in VIEWS for column in columns_of[view])
    shared = [column for column in uses if uses[column] > 1]
    text = "\n" + BEGIN + "Several of these views have:\n\n" + "".join(item(*column) for column in shared)
    for view in VIEWS:
        also = ", ".join(f"`{name}`" for name, description in columns_of[view] if (name, description) in shared)
        own = "".join(item(*column) for column in columns_of[view] if column not in shared)
        text += f"\n### {view}\n\n" + (f"Shared: {also}.\n\n" if also else "") + own
    return text + END


if __name__ == "__main__":
    kept = PAGE.read_text(encoding="utf-8").partition(LEAD)[0]
    PAGE.write_text(kept + LEAD + columns(sys.argv[1]), encoding="utf-8")
