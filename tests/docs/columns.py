#!/usr/bin/env python3
"""The views' columns in docs/database.md are those of the program.

    tests/docs/columns.py WARPMETER     writes them anew, from `warpmeter list views`"""
import json
import subprocess
import sys

from pages import ROOT

PAGE = ROOT / "docs" / "database.md"
LEAD = "Every column, as `warpmeter list views` tells it too:\n"


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


def columns(program):
    """The end of the page: a heading a view, its description, a row a column."""
    answer = subprocess.run([program, "list", "views", "--format", "json"], check=True, capture_output=True, text=True)
    text = ""
    for row in json.loads(answer.stdout):
        if row["column"] is None:
            text += f"\n### {row['view']}\n\n{cell(row['description'])}\n\n| column | |\n|---|---|\n"
        else:
            text += f"| `{row['column']}` | {cell(row['description'])} |\n"
    return text


if __name__ == "__main__":
    kept = PAGE.read_text(encoding="utf-8").partition(LEAD)[0]
    PAGE.write_text(kept + LEAD + columns(sys.argv[1]), encoding="utf-8")
