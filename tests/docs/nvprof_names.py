#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The table of nvprof's names in docs/nvprof.md: what PerfWorks metrics answer each, or why none does, and on how many
kernels the answer agreed with Nsight Compute's (tests/golden/nvprof_names.json, of tests/device/nvprof_names.sh).

    tests/docs/nvprof_names.py     writes it anew"""
import json

from pages import ROOT

PAGE = ROOT / "docs" / "nvprof.md"
HEADING = "## Metrics and events by name\n"
BEGIN, END = "<!-- generated -->\n", "<!-- end -->\n"
RECORD = ROOT / "tests" / "golden" / "nvprof_names.json"


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def catalogue():
    """Name → counter or metric."""
    entries = {}
    for path in (ROOT / "schema" / "catalogue.json", *sorted((ROOT / "schema" / "catalogue").glob("*.json"))):
        part = read(path)
        entries |= {entry["name"]: entry for entry in part["counters"] + part["metrics"]}
    return entries


def number(value):
    return f"{value:g}"


def side(terms, entries):
    text = ""
    for name, factor in terms.items():
        text += (" − " if factor < 0 else " + ") if text else ""
        text += ("" if abs(factor) == 1 else f"{number(abs(factor))} × ") + perfworks(name, entries)
    is_one_term = " " not in text or (len(terms) == 1 and text.startswith("("))
    return text if is_one_term else f"({text})"


def perfworks(name, entries):
    """The formula over PerfWorks names; "" where hardware has none."""
    entry = entries[name]
    if "perfworks" in entry:
        names = [entry["perfworks"], *entry.get("else", [])]
        also = "".join(f" + `{one}`" for one in entry.get("also", []))
        either = " or ".join(f"`{one}`" for one in names if one)
        either = f"({either})" if also and " or " in either else either
        return f"({either}{also})" if also else either
    text = side(entry["numerator"], entries)
    if "denominator" in entry:
        text += " / " + side(entry["denominator"], entries)
    return text if entry.get("scale", 1) == 1 else f"{number(entry['scale'])} × {text}"


def agreement(name, record):
    found = record["names"].get(name)
    if found is None or found["kernels"] == 0:
        return "not compared"
    kernels, agreed = found["kernels"], found["equal"] + found["near"]
    text = f"{agreed} of {kernels}"
    if found["equal"] == kernels:
        text = f"equal on {kernels}"
    if "whole" in found:
        text += f", {found['whole']} more without replay"
    return text + (", all 0" if found["not_zero"] == 0 else "")


def row(known, kind, entries, record):
    if "reason" in known:
        return f"| {kind} | not measured: {known['reason']}; ask for `{known['instead']}` | |\n"
    answer = known.get("answer", known["name"])
    formula = perfworks(answer, entries) or f"not on a GPU: {entries[answer]['lacking']}"
    return f"| {kind} | {formula} | {agreement(answer, record)} |\n"


def table():
    names, entries, record = read(ROOT / "schema" / "nvprof_names.json"), catalogue(), read(RECORD)
    text = (f"On {record['kernels']} kernels ({record['device']}, driver {record['driver']}, Nsight Compute {record['ncu']}, "
            f"{record['date']}).\n\n| name | | PerfWorks | agrees with Nsight Compute |\n| --- | --- | --- | --- |\n")
    for kind in ("metrics", "events"):
        rows = {}  # names with one answer stand in one row
        for known in names[kind]:
            rows.setdefault(row(known, kind[:-1], entries, record), []).append(f"`{known['name']}`")
        text += "".join(f"| {', '.join(same)} {rest}" for rest, same in rows.items())
    return text


def written(page):
    """The page with the table of today."""
    before, _, rest = page.partition(HEADING)
    lead, _, rest = rest.partition(BEGIN)
    return before + HEADING + lead + BEGIN + table() + END + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
