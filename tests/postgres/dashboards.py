# SPDX-License-Identifier: MIT
"""The five queries of docs/dashboard.sql by their questions: tests run the text that people copy."""
import pathlib
import re

FILE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "dashboard.sql"


def queries():
    found = re.findall(r"^-- \d\. (.+\?)\n(?:--.*\n)*([^-](?:.|\n)+?);\n", FILE.read_text(), re.MULTILINE)
    return {name: sql.strip() for name, sql in found}


QUERIES = queries()
assert len(QUERIES) == 5, list(QUERIES)
