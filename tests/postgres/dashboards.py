"""The five dashboard queries of docs/lab.md, read from there: what is tested is what people copy."""
import pathlib
import re

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "lab.md"


def queries():
    text = PAGE.read_text()
    begin = text.index("### Five questions for a dashboard")
    section = text[begin:]
    found = re.findall(r"\*\*(.+?)\*\*.*?\n\n```postgresql\n(.+?)```", section, re.S)
    return {name: sql.strip().rstrip(";") for name, sql in found}


QUERIES = queries()
assert len(QUERIES) == 5, list(QUERIES)
