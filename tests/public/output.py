# SPDX-License-Identifier: MIT
"""The output of a program, without what is another at each run or on each machine: the one place for these
rules.

Each rule leaves a word where it took something out, so that a line that is missing or new is a difference all the
same. Hashes of the rest are kept: one of all, one of the lines in whatever order, and one of each of the first lines,
so that a difference can be told by its line.
"""

import hashlib
import re

NUMBER = r"[-+]?(?:\d+(?:,\d{3})*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
UNIT = (
    r"(?:[nuµm]s|[mu]?secs?|s|(?:milli|micro|nano)?-?seconds?|minutes?|cycles?|clocks?|[kKMG]?Hz"
    r"|[kKMGT]?i?[bB](?:ytes)?(?:ps|/s(?:ec)?|\sper\ssec\w*)|[kKMGT]?[Ff][Ll][Oo][Pp]s?(?:/s(?:ec)?)?"
    r"|[kMG]?(?:elements|updates|samples|ops|ups|keys|pixels)/s(?:ec)?|fps|%\s+of\s+peak)"
)
DEVICE = (
    r"(?:NVIDIA\s+)?\bG?[ABH][1-3]00\b(?:[ -]?(?:\d+\s?GB|HBM\d\w?|PCI-?[eE]|SXM\d?|NVL))*"
    r"(?: \(warpmeter model\))?"
)

# The folders before a source file, as __FILE__ has them.
SOURCE = r"/[^:\"'()\n]*/(?=[\w.-]+\.(?:cuh?|cpp|cc|c|h|hpp)\b)"

# In this order: what is sought, what stands in its place.
RULES = [
    (re.compile(r"0x[0-9a-fA-F]{5,16}\b"), "ADDRESS"),
    (re.compile(DEVICE), "DEVICE"),
    (re.compile(SOURCE), ""),
    (re.compile(rf"(?<![\w.]){NUMBER}\s*{UNIT}(?!\w)"), "TIME"),
]
# All numbers of a line that speaks of time, or of what is computed from it.
TIMED = re.compile(
    r"\btim(?:e|es|ing|ings|ed|er)\b|(?i:elapsed|\btook\b|duration|band-?width|through-?put|speed-?up|flop|latency"
    r"|faster|slower|per second|overhead|[gm]b/s|clock|cycles|\bseed\b)|(?i:time)\b")
FIRST_LINES = 60


def normalised(text):
    """The lines of the text, without what the rules take out and without spaces that only set columns apart."""
    lines = []
    for line in re.split(r"[\r\n]+", text):
        for pattern, word in RULES:
            line = pattern.sub(word, line)
        if TIMED.search(line):
            line = re.sub(rf"(?<![A-Za-z_]){NUMBER}", "N", line)
        line = " ".join(line.split())
        if line:
            lines.append(line)
    return lines


def digest(text, digits=16):
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:digits]


def fingerprint(lines):
    """The recorded form of the output."""
    return {"output": digest("\n".join(lines)), "in_any_order": digest("\n".join(sorted(lines))),
            "number": len(lines), "lines": "".join(digest(line, 6) for line in lines[:FIRST_LINES])}


def difference(recorded, lines):
    """("same", ""), ("order", …) or ("output", …): how the lines differ from a recorded fingerprint."""
    mine = fingerprint(lines)
    if mine["output"] == recorded["output"]:
        return "same", ""
    if mine["in_any_order"] == recorded["in_any_order"]:
        return "order", "the same lines in another order"
    theirs = recorded["lines"]
    for i in range(0, len(theirs), 6):
        if mine["lines"][i:i + 6] != theirs[i:i + 6]:
            line = lines[i // 6] if i // 6 < len(lines) else "is missing"
            return "output", f"line {i // 6 + 1}: {line[:120]}"
    return "output", f"{mine['number']} lines, recorded {recorded['number']}; the first {len(theirs) // 6} are the same"
