#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""README.md and docs/ against the program and the repository: links, paths, command lines, examples, queries, views.

    tests/docs/docs_test.py WARPMETER [SUBJECT…]     SUBJECT: a class below; all of them when none is given"""
import collections
import csv
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

import columns
import nvprof_names
from pages import ROOT, commands_of, pages

PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
FOLDERS = sorted(path.name for path in ROOT.iterdir() if path.is_dir() and path.name[0] != "." and path.name != "build")


def warpmeter(words, folder=ROOT, text=None):
    return subprocess.run([PROGRAM, *words], cwd=folder, input=text, capture_output=True, text=True, timeout=300)


class Readme(unittest.TestCase):
    def test_is_a_page_that_one_reads_at_once(self):
        self.assertLessEqual(len(pages()[0].text.splitlines()), 120)

    def test_leads_to_every_other_page(self):
        readme, *others = pages()
        self.assertGreater(len(others), 5)
        self.assertEqual({page.name for page in others} - set(readme.links()), set())

    def test_sums_up_the_table_of_public_programs(self):
        with open(ROOT / "tests/golden/programs_without_gpu.csv", encoding="utf-8", newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["output"] != "no kernel"]
        became = collections.Counter(row["output"] for row in rows)
        same = became.pop("same") + became.pop("verified")
        ends = [became.pop(name, 0) for name in ("input missing", "differs", "refused", "too long")]
        equal, different = (sum(int(row[name] or 0) for row in rows) for name in ("exact_equal", "exact_different"))
        readme = pages()[0].text
        repositories = len({row["repository"] for row in rows})
        self.assertIn(f"{len(rows)} public programs from {repositories} repositories", readme)
        self.assertIn(f"| {same} | {became.total()} | {' | '.join(map(str, ends))} | "
                      f"{equal:,} of {equal + different:,} |", readme)


class Links(unittest.TestCase):
    def test_resolve(self):
        by_path = {page.path: page for page in pages()}
        found = 0
        for page in by_path.values():
            for link in page.links():
                if re.match(r"https?://", link):
                    continue
                found += 1
                file, _, anchor = link.partition("#")
                target = (page.path.parent / file).resolve() if file else page.path
                with self.subTest(page=page.name, link=link):
                    self.assertTrue(target.exists(), "there is no such file")
                    self.assertTrue(target.is_relative_to(ROOT), "that is outside of the repository")
                    if anchor:
                        self.assertIn(anchor, by_path[target].anchors())
        self.assertGreater(found, 50)

    def test_and_every_path_in_backticks_is_there(self):
        found = 0
        for page in pages():
            for span in page.spans():
                path = re.sub(r":\d+$", "", span.split()[0])
                if path.partition("/")[0] not in FOLDERS or "/" not in path or re.search(r"NAME|[*{…]", path):
                    continue
                found += 1
                with self.subTest(page=page.name, path=path):
                    self.assertTrue((ROOT / path).exists())
        self.assertGreater(found, 20)


class Command:
    """One command as its --help tells it."""

    def __init__(self, name):
        text = warpmeter([*name, "--help"]).stdout
        options = re.findall(r"^  (-[\w,-]+)(?: (\S+))?", section(text, "Options"), re.MULTILINE)
        self.values = {spelling: value for spellings, value in options for spelling in spellings.split(",")}
        positionals = re.findall(r"^  ((?:\S+ ?)+)", section(text, "Positionals"), re.MULTILINE)
        self.positionals = [words.split() for words in positionals]
        self.commands = re.findall(r"^  (\w+)", section(text, "Commands"), re.MULTILINE)


class NvprofCommand(Command):
    """nvprof's own help: "-m, --metrics <names>", the meaning below it."""

    def __init__(self):
        text = warpmeter(["nvprof", "--help"]).stdout
        options = re.findall(r"^  (?:(-\w), )?(--[\w-]+)(?: (\S+))?", section(text, "Options"), re.MULTILINE)
        self.values = {spelling: value for *spellings, value in options for spelling in spellings if spelling}
        self.positionals = [["application"]]
        self.commands = []


def section(text, heading):
    found = re.search(rf"^{heading}:\n((?: .*\n)+)", text, re.MULTILINE)
    return found[1] if found else ""


class Commands(unittest.TestCase):
    """Every command line that is shown has a command and options that the program has."""

    @classmethod
    def setUpClass(cls):
        cls.program = Command([])
        cls.commands = {name: NvprofCommand() if name == "nvprof" else Command([name]) for name in cls.program.commands}

    def mistake(self, line, mention=False):
        """The mistake in a command line, without the program's name; None when nothing is. A mention in prose may end
        with an option whose value it leaves open."""
        words = shlex.split(re.split(r" {2,}", line.strip())[0], comments=True)
        name, *words = words
        if name in self.program.values:
            return None
        if name not in self.commands:
            return f"there is no command '{name}'"
        command, given = self.commands[name], []
        while words and words[0] not in ("--", "|", "<", ">", "&&"):
            word = words.pop(0)
            if not word.startswith("-"):
                given.append(word)
                if name in ("profile", "nvprof"):
                    break  # the rest is the program's
                continue
            option, equals, value = word.partition("=")
            if option not in command.values and not word.startswith("--"):
                option, value = word[:2], word[2:]
            if option not in command.values:
                return f"{name} has no option '{option}'"
            takes = command.values[option]
            if takes and not (equals or value):
                if not words:
                    return None if mention else f"{name} {option} takes {takes}"
                value = words.pop(0)
            if bool(value) != bool(takes):
                return f"{name} {option} takes no value"
            if wrong := not_among(value, takes):
                return wrong
        if given and not command.positionals:
            return f"{name} takes no '{given[0]}'"
        choices = command.positionals[0][1:] if command.positionals else []
        return not_among(given[0], choices[0]) if given and choices else None

    def test_in_blocks_of_code_are_accepted(self):
        found = 0
        for page in pages():
            for _, code in page.of_kind("code"):
                for line in commands_of(code):
                    found += 1
                    with self.subTest(page=page.name, line=line):
                        self.assertIsNone(self.mistake(line))
        self.assertGreater(found, 60)

    def test_in_backticks_are_accepted(self):
        found = 0
        for page in pages():
            for span in page.spans():
                line = re.sub(r"^(?:\S*/)?warpmeter ", "", span)
                with self.subTest(page=page.name, span=span):
                    if line != span or (span.split()[0] in self.commands and " " in span):
                        found += 1
                        self.assertIsNone(self.mistake(line, mention=True))
                    elif span.startswith("--"):
                        found += 1
                        every = set(self.program.values).union(*(one.values for one in self.commands.values()))
                        self.assertLessEqual(set(re.findall(r"(?<!\S)--[\w-]+", span)), every)
        self.assertGreater(found, 30)

    def test_that_are_wrong_are_found(self):
        for line in ("rum transpose", "run --sizes 3", "run -b gpu", "run -n", "list kernel", "report last",
                     "check --format html5", "run --dry-run=3", "profile --metric ipc ./app"):
            with self.subTest(line=line):
                self.assertIsNotNone(self.mistake(line))
        for line in ("run transpose -n 3 --label=x", "run -n3", "profile -m ipc ./app --sizes 3", "--version",
                     "query < question.sql", "list kernels|views  what there is", "run # --sizes"):
            with self.subTest(line=line):
                self.assertIsNone(self.mistake(line))

    def test_of_the_table_of_commands_are_all_there_are(self):
        page = next(page for page in pages() if page.name == "docs/commands.md")
        listed = [line.split()[0] for line in commands_of(page.of_kind("code")[0][1])]
        self.assertEqual(sorted(listed), sorted(self.commands))

    def test_of_the_script_dev_are_there(self):
        known = subprocess.run([ROOT / "dev", "help"], capture_output=True, text=True, check=True).stdout
        for page in pages():
            for name in re.findall(r"\./dev (\w+)", page.text):
                with self.subTest(page=page.name, name=name):
                    self.assertRegex(known, rf"(?m)^  {name} ")


def not_among(value, choices):
    """The mistake in a value (or several, a|b) where only some are possible (a|b|c); None when nothing is."""
    if "|" not in choices or not re.fullmatch(r"[a-z|-]+", choices):
        return None
    wrong = [one for one in value.split("|") if one not in choices.split("|")]
    return f"'{wrong[0]}' is none of {choices}" if wrong else None


def squeezed(line):
    return " ".join(line.split())


class Examples(unittest.TestCase):
    """The examples with a mark (see pages.py) do and print what the page says."""

    def test_do_what_the_pages_say(self):
        rows = {page.name: self.rows_that_hold(page) for page in pages()}
        for name in ("README.md", "docs/check.md", "docs/model.md"):
            self.assertGreater(rows[name], 2, name)

    def rows_that_hold(self, page):
        rows, mark, output = 0, None, ""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "kernels").symlink_to(ROOT / "kernels")
            for kind, info, text in page.parts:
                if kind == "mark":
                    mark, output = (info, text), ""
                    if derived := re.fullmatch(r"(\S+), (\S+) without its line (\d+)", text):
                        lines = (folder / derived[2]).read_text().splitlines(keepends=True)
                        del lines[int(derived[3]) - 1]
                        (folder / derived[1]).write_text("".join(lines))
                elif kind == "heading":
                    output = ""
                elif kind == "code" and mark and mark[0] == "file":
                    (folder / mark[1]).write_text(text)
                    mark = None
                elif kind == "code":
                    output = self.run_block(text, mark[1], folder, page.name) if mark else ""
                    mark = None
                elif output and text.startswith("| "):
                    with self.subTest(page=page.name):
                        self.assertIn(squeezed(text), [squeezed(line) for line in output.split("\n")])
                    rows += 1
            self.assertIsNone(mark, f"{page.name} ends with a mark and no code")
        return rows

    def run_block(self, code, wanted, folder, name):
        lines, output = commands_of(code), ""
        for line in lines:
            words = shlex.split(line, comments=True)
            if words[0] in ("model", "check") and "--format" not in words:
                words += ["--format", "markdown"]
            outcome = warpmeter(words, folder)
            with self.subTest(page=name, line=line):
                wanted_now = wanted if line is lines[-1] else "exit 0"
                self.assertEqual(f"exit {outcome.returncode}", wanted_now, outcome.stderr)
            output += outcome.stdout
        return output


class Queries(unittest.TestCase):
    def test_give_rows(self):
        questions = [(page.name, code) for page in pages() for info, code in page.of_kind("code") if info == "sql"]
        self.assertGreaterEqual(len(questions), 5)
        with tempfile.TemporaryDirectory() as folder:
            measured = warpmeter(["run", "transpose", "smem_square", "-n", "64", "-b", "model", "-q"], folder)
            self.assertEqual(measured.returncode, 0, measured.stderr)
            for page, sql in questions:
                with self.subTest(page=page, sql=sql):
                    outcome = warpmeter(["query", "--format", "csv"], folder, sql)
                    self.assertEqual(outcome.returncode, 0, outcome.stderr)
                    self.assertGreaterEqual(outcome.stdout.count("\n"), 2)


class Views(unittest.TestCase):
    def test_are_documented_column_by_column(self):
        text = columns.PAGE.read_text(encoding="utf-8")
        self.assertIn(columns.LEAD, text)
        self.maxDiff = None
        self.assertMultiLineEqual(text.partition(columns.LEAD)[2], columns.columns(PROGRAM),
                                  "run tests/docs/columns.py WARPMETER, which writes them anew")

    def test_are_all_in_the_table_that_says_what_a_row_is(self):
        page = next(page for page in pages() if page.path == columns.PAGE)
        rows = re.findall(r"^\| ([^|]*`[^|]*) \|", page.text.partition("\n## Views\n")[2], re.MULTILINE)
        self.assertEqual(sorted(re.findall(r"`(\w+)`", " ".join(rows))), sorted(columns.views(PROGRAM)))
        self.assertEqual(sorted(re.findall(r"\[`(\w+)`\]\(#\1\)", page.text)), sorted(columns.VIEWS))


class OtherTools(unittest.TestCase):
    """Another tool may change: a page that says what it does names the version that was looked at."""
    VERSIONS = {"Nsight Compute": r"Nsight Compute 20\d\d\.\d", "compute-sanitizer": r"compute-sanitizer is that of\s+CUDA \d+\.\d"}

    def test_have_their_version_on_the_page(self):
        found = 0
        for page in pages()[1:]:  # README.md sums up the others
            # A row of a script says what it is compared with, and nothing of how that behaves.
            text = re.sub(r"^\| `\w+\.sh` \|.*$", "", page.text, flags=re.MULTILINE)
            for tool, version in self.VERSIONS.items():
                with self.subTest(page.name, tool=tool):
                    found += tool in text
                    self.assertEqual(tool in text, bool(re.search(version, text)))
        self.assertGreaterEqual(found, 5)


class NvprofNames(unittest.TestCase):
    def test_are_in_the_table_with_their_counters_and_agreement(self):
        text = nvprof_names.PAGE.read_text(encoding="utf-8")
        self.maxDiff = None
        self.assertMultiLineEqual(text, nvprof_names.written(text), "run tests/docs/nvprof_names.py, which writes it anew")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
