# SPDX-License-Identifier: MIT
"""README.md and docs/*.md, taken apart: prose, code, headings, links, and the marks that make an example a test.

A mark is a comment of its own line, which a reader of the page does not see:

    <!-- file: NAME -->                                  the code below it is written to NAME
    <!-- file: NAME, OTHER without its line N -->        NAME is that file without that line
    <!-- run: exit N -->                                 the code below it is run, and its last command exits with N;
                                                         the rows of the table below that are among what it prints

Every ```sql block is a question that has to give rows; it needs no mark."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Page:
    def __init__(self, path):
        self.path = path
        self.name = str(path.relative_to(ROOT))
        self.text = path.read_text(encoding="utf-8")
        self.parts = list(parts_of(self.text))  # (kind, info, text): prose, code, mark, heading

    def of_kind(self, kind):
        return [(info, text) for part, info, text in self.parts if part == kind]

    def spans(self):
        """The words between backticks in the prose."""
        prose = "\n".join(text for _, text in self.of_kind("prose"))
        return [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", prose)]

    def links(self):
        """The targets of links and pictures."""
        prose = "\n".join(text for _, text in self.of_kind("prose"))
        return re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]+`", "", prose))  # code may look like one

    def anchors(self):
        """The names by which GitHub lets one link to a heading."""
        seen = []
        for _, heading in self.of_kind("heading"):
            words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
            anchor = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
            seen.append(f"{anchor}-{seen.count(anchor)}" if anchor in seen else anchor)
        return seen


def parts_of(text):
    fence, code, info = None, [], ""
    for line in text.split("\n"):
        if fence is not None:
            if line == fence:
                yield "code", info, "\n".join(code) + "\n"
                fence = None
            else:
                code.append(line)
        elif match := re.fullmatch(r"(```+)(\w*)", line):
            fence, info, code = match[1], match[2], []
        elif match := re.fullmatch(r"#{1,6} (.*)", line):
            yield "heading", "", match[1]
        elif match := re.fullmatch(r"<!-- (file|run): (.*) -->", line):
            yield "mark", match[1], match[2]
        else:
            yield "prose", "", line
    if fence is not None:
        raise ValueError("a block of code has no end")


def pages():
    return [Page(path) for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]]


def commands_of(code):
    """The command lines of warpmeter in a block of code, each as what follows its name."""
    joined = re.sub(r"\\\n\s*", "", code)
    return re.findall(r"^\s*(?:\$ |- run: )?(?:\S*/)?warpmeter (.+)$", joined, re.MULTILINE)
