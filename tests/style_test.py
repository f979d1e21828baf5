#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sentences keep the mechanical part of the project's style: how they begin, how long they are, and how many there are.

    tests/style_test.py WARPMETER [SUBJECT…]     SUBJECT: a class below; without one, all
    tests/style_test.py --list [FOLDER…]         prints each comment that breaks a rule, and checks nothing

A comment is a run of lines with marks of comments alone, or the comment behind code. Its paragraphs are separate. Docs are
taken apart into paragraphs, items of lists, headings and cells of tables; blocks of code are skipped."""
import ast
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGES = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "collector/model/machine/native/README.md",
         *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("*.md"))]
LONGEST = 35  # words of a sentence

# ---- the rules

# A subordinate clause or a genitive in front of the subject.
OPENERS = re.compile(r"(?:Of|What|Whether|So that|Such|Whose|Whom)\b", re.IGNORECASE)

# Participles, but for those before a noun ("Compiled kernels are kept.") and words alone.
STRONG = ("told given taken made seen said held kept known meant thought brought sent written chosen drawn spoken begun done "
          "shown found built split lent sought laid paid caught bound thrown read put set left").split()
ING = re.compile(r"[A-Za-z][a-z]+ing\b(?= \w)")
ED = re.compile(rf"(?:[A-Za-z][a-z]+ed|{'|'.join(STRONG)})\b(?=[,;:.]| (?:a|after|an|and|as|at|back|before|behind|beside|but|by|"
                r"each|for|from|here|if|in|into|it|like|more|not|of|on|once|only|or|out|over|so|such|that|the|then|there|to|"
                r"together|twice|under|until|up|when|where|which|while|with|without)\b)", re.IGNORECASE)
# Nouns, prepositions and adjectives with these endings. "Shared memory is …" begins with its subject.
NOT_PARTICIPLES = set("""
    string strings nothing something everything anything thing during ring king spring wing swing bring warning building
    ceiling timing padding binding heading meaning mapping spelling rounding encoding beginning ending opening remaining
    following missing leading trailing neighbouring existing corresponding matching floating according being finding
    pending swizzling profiling sampling numbering ordering listing
    red need seed speed feed embed shed bed indeed exceed proceed succeed read put set left shared""".split())


def opener(text):
    """The words with which a paragraph begins against the rules; None where it begins well."""
    text = text.lstrip("*_([ ")
    if match := OPENERS.match(text):
        return match[0]
    for ending in (ING, ED):
        if (match := ending.match(text)) and match[0].lower() not in NOT_PARTICIPLES:
            return match[0]
    return None


def sentences(text):
    """The sentences of a paragraph; a code span is one word, and so is a link's text's target nothing."""
    text = re.sub(r"`[^`]*`", "`code`", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.split(r"(?<=[.!?])[\"”)*]*\s+(?=[\"“(*]*[A-Z`0-9…])", text)


def wrong_openers(paragraph):
    """The openers of a paragraph that break a rule: its own, and those of its other sentences but for questions."""
    later = [OPENERS.match(sentence) for sentence in sentences(paragraph)[1:] if not sentence.endswith("?")]
    return [found for found in (opener(paragraph), *(match[0] for match in later if match)) if found]


def written(page):
    """A page without what a program writes from the code's own lists, which a test holds to the code."""
    return re.sub(r"^<!-- generated -->$.*?^<!-- end -->$", "", page, flags=re.DOTALL | re.MULTILINE)


def words(sentence):
    return len([word for word in sentence.split() if re.search(r"\w", word)])


def long_sentences(text):
    return [sentence for sentence in sentences(text) if words(sentence) > LONGEST]


# ---- comments

C_TOKENS = re.compile(r'''(?P<line>//[^\n]*)|(?P<block>/\*.*?\*/)|R"(?P<mark>[^(\s"]*)\(.*?\)(?P=mark)"|'''
                      r'''"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+\'''', re.DOTALL)
SQL_TOKENS = re.compile(r"(?P<line>--[^\n]*)|(?P<block>/\*.*?\*/)|'(?:[^'])*'", re.DOTALL)
HASH_TOKENS = re.compile(r"""(?P<line>(?<![^\s;])\#[^\n]*)|(?P<block>(?!))|"(?:\\.|[^"\\])*"|'[^'\n]*'""", re.DOTALL)
CMAKE_TOKENS = re.compile(r"""(?P<line>\#[^\n]*)|(?P<block>(?!))|\[\[.*?\]\]|"(?:\\.|[^"\\])*\"""", re.DOTALL)
TOKENS = {".cpp": C_TOKENS, ".h": C_TOKENS, ".cu": C_TOKENS, ".in": C_TOKENS, ".inc": C_TOKENS, ".js": C_TOKENS,
          ".sql": SQL_TOKENS, ".cmake": CMAKE_TOKENS, ".txt": CMAKE_TOKENS,
          ".sh": HASH_TOKENS, ".py": HASH_TOKENS, ".yaml": HASH_TOKENS, ".yml": HASH_TOKENS, "": HASH_TOKENS}
# Sentences about the style itself, data of tests whose bytes are compared, and the code of others.
SKIPPED = re.compile(r"tests/(?:golden|fuzz/corpus|reports/golden|collector/model/data|device/third_party)/|tests/style_test\.py$|LICENSE$")


def sources():
    """The names of all source files that git keeps."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files"], capture_output=True, text=True)
    for name in listed.stdout.split("\n"):
        path = pathlib.PurePath(name)
        is_text = path.suffix != ".txt" or path.name == "CMakeLists.txt"
        is_script = path.suffix != "" or name in ("dev", ".ci/run")
        if path.suffix in TOKENS and is_text and is_script and not SKIPPED.search(name) and (ROOT / name).is_file():
            yield name


def docstrings(text):
    """(line, text) of each documentation string of Python."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
            yield node.body[0].lineno, ast.get_docstring(node)


def comments(name, text):
    """(line, paragraph) of each paragraph of a comment."""
    if name.endswith(".py"):
        for line, documentation in docstrings(text):
            yield from split(line, documentation.split("\n"))
    run, first, column = [], 0, 0
    position, line = 0, 1
    for token in TOKENS[pathlib.PurePath(name).suffix].finditer(text):
        if not token["line"] and not token["block"]:
            continue
        line += text.count("\n", position, token.start())
        position = token.start()
        begin = text.rfind("\n", 0, position) + 1
        is_alone = not text[begin:position].strip()
        goes_on = token["line"] and is_alone and line == first + len(run) and position - begin == column
        if run and not goes_on:
            yield from split(first, run)
            run = []
        if token["block"]:
            yield from split(line, re.sub(r"(?m)^\s*\*", "", token["block"][2:-2]).split("\n"))
            continue
        first, column = (first if run else line), position - begin
        run.append("" if token["line"].startswith("#!") else re.sub(r"^(?://[/!]?<?|--|#)", "", token["line"]))
    yield from split(first, run)


def split(line, lines):
    """The paragraphs of a comment; items of a list are paragraphs too, and lines that are indented are examples."""
    paragraph, first = [], line
    for number, body in enumerate(lines):
        text = "" if body.startswith(" SPDX-") else body.strip()
        is_item = re.match(r"[-*•] ", text)
        if not text or is_item:
            if paragraph:
                yield first, " ".join(paragraph)
            paragraph, first = [], line + number
            text = text[2:] if is_item else text
        if text:
            first = first if paragraph else line + number
            paragraph.append(text)
    if paragraph:
        yield first, " ".join(paragraph)


def wrong_comments(folders=()):
    for name in sources():
        if folders and not name.startswith(tuple(folders)):
            continue
        for line, paragraph in comments(name, (ROOT / name).read_text(encoding="utf-8", errors="replace")):
            if found := wrong_openers(paragraph):
                yield f"{name}:{line}: {found} {paragraph}"


# ---- pages and help

def paragraphs_of_page(text):
    """(line, text, is it a cell of a table?) of each paragraph, item, heading and cell."""
    text = re.sub(r"(?ms)^[ ]*```.*?^[ ]*```$", lambda block: "\n" * block[0].count("\n"), text)
    text = re.sub(r"(?s)<!--.*?-->", lambda mark: "\n" * mark[0].count("\n"), text)
    paragraph, first = [], 1
    for number, line in enumerate([*text.split("\n"), ""], 1):
        item = re.match(r"\s*(?:[-*] |\d+\. |#{1,6} )(.*)", line)
        is_row = line.startswith("|")
        is_heading = line.startswith("#")
        if (not line.strip() or item or is_row) and paragraph:
            yield first, " ".join(paragraph), False
            paragraph = []
        if is_row:
            yield from ((number, cell.strip(), True) for cell in re.split(r"(?<!\\)\|", line.strip("|")) if cell.strip(" :-"))
        elif is_heading:
            yield number, item[1], False
        elif line.strip():
            first = first if paragraph else number
            paragraph.append(item[1] if item else line.strip())


def helps(program, command=()):
    """(command, help) of a command and all those below it."""
    text = subprocess.run([program, *command, "--help"], capture_output=True, text=True, timeout=60).stdout
    yield " ".join(command), text
    for name in re.findall(r"(?m)^  (\w+)", text.partition("\nCommands:\n")[2].partition("\n\n")[0]):
        yield from helps(program, (*command, name))


def paragraphs_of_help(text):
    """The sentences of a help text: its head, and the right column of its lists; examples are skipped."""
    for paragraph in re.split(r"\n\s*\n", text):
        if paragraph.startswith(("Examples:", "Exit codes:")):
            continue
        if re.match(r"[\w ]+:\n", paragraph):
            rows = re.split(r"\n  (?=\S)", paragraph)[1:]
            for row in rows:
                columns = re.split(r"\s{2,}|\n\s+", row, maxsplit=1)
                if len(columns) == 2:
                    yield re.sub(r"\s*\n\s*", " ", columns[1])
        else:
            yield re.sub(r"\s*\n\s*", " ", paragraph)


# ---- the tests

class Rules(unittest.TestCase):
    def test_find_what_they_forbid(self):
        for text in ("Of a stream the context", "What a thread waits for.", "Whether it is open.", "So that none waits.",
                     "Told once.", "Counted by hand", "Making it anew", "of the launch", "*What* it is", "Whose it is"):
            self.assertTrue(opener(text), text)
        for text in ("Shared memory is fast.", "The sum of all", "Nothing is lost.", "String", "Needs a lock.", "Often so",
                     "Whatever it is", "So it ends.", "Officially", "Red", "Padding moves rows apart.", "Compiled kernels stay.", "Added", "Counting"):
            self.assertFalse(opener(text), text)

    def test_look_at_each_sentence(self):
        self.assertEqual(wrong_openers("It is. What it is. Of it. What is it?"), ["What", "Of"])

    def test_leave_out_what_is_generated(self):
        page = "One two.\n<!-- generated -->\n| three |\n<!-- end -->\nFour.\n"
        self.assertEqual(written(page).split(), ["One", "two.", "Four."])
        self.assertEqual(written("<!-- generated -->\nfive\n").split()[-1], "five")

    def test_count_words(self):
        sentence = " ".join(["word"] * LONGEST)
        self.assertEqual(long_sentences(f"{sentence}. {sentence.capitalize()}."), [])
        self.assertEqual(len(long_sentences(f"One. {sentence.capitalize()} more. Two.")), 1)
        self.assertEqual(words("`a` – b = c"), 3)

    def test_take_comments_apart(self):
        code = '// One\n// goes on.\n//\n// - an item\nint a = 1\'000;  ///< trailing // not\nf("// none", /* two */ 1);\n// Last'
        self.assertEqual([text for _, text in comments("a.cpp", code)],
                         ["One goes on.", "an item", "trailing // not", "two", "Last"])
        self.assertEqual([text for _, text in comments("a.py", '"""Head."""\n# one\nx = "# none"  # two\n')],
                         ["Head.", "one", "two"])
        self.assertEqual(list(comments("a.sql", "SELECT '--'; -- it")), [(1, "it")])
        self.assertEqual(list(comments("a.sh", "#!/bin/sh\n# SPDX-License-Identifier: MIT\n# a\nb $# ${#c}  # it")),
                         [(3, "a"), (4, "it")])

    def test_take_pages_apart(self):
        page = "# Head\nOne\ntwo.\n\n```sh\nnot this\n```\n- item\n  goes on\n\n| cell | `b` |\n|---|---|\n<!-- no -->\n"
        self.assertEqual([text for _, text, _ in paragraphs_of_page(page)],
                         ["Head", "One two.", "item goes on", "cell", "`b`"])

    def test_take_help_apart(self):
        text = "Head\ngoes on.\n\nOptions:\n  -a,--all X    It is\n                one.\n  --b\n\nExamples:\n  warpmeter x  # no\n"
        self.assertEqual(list(paragraphs_of_help(text)), ["Head goes on.", "It is one."])


class Comments(unittest.TestCase):
    def test_begin_with_their_subject(self):
        self.assertGreater(sum(1 for _ in sources()), 1000)
        found = list(wrong_comments())
        self.assertFalse(found, "\n".join(found))


class Licence(unittest.TestCase):
    def test_stands_at_the_head_of_every_source_file(self):
        kind = (ROOT / "LICENSE").read_text(encoding="utf-8").split()[0]
        head = re.compile(rf"(?:#!.*\n)?(?://|--|#) SPDX-License-Identifier: {kind}\n")
        found = [name for name in sources()
                 if not name.endswith(".js") and not head.match((ROOT / name).read_text(encoding="utf-8", errors="replace"))]
        self.assertFalse(found, "\n".join(found))


class Pages(unittest.TestCase):
    def parts(self):
        return [(f"{name}:{line}", text, is_cell) for name in PAGES
                for line, text, is_cell in paragraphs_of_page((ROOT / name).read_text(encoding="utf-8"))]

    def test_begin_sentences_with_their_subject(self):
        found = [f"{place}: {text}" for place, text, is_cell in self.parts() if wrong_openers(text) and not is_cell]
        self.assertFalse(found, "\n".join(found))

    def test_have_short_sentences(self):
        found = [f"{place}: {words(sentence)} words: {sentence}" for place, text, _ in self.parts()
                 for sentence in long_sentences(text)]
        self.assertFalse(found, "\n".join(found))

    def test_are_no_longer_than_agreed(self):
        text = {name: (ROOT / name).read_text(encoding="utf-8") for name in PAGES}
        pages = [written(page) for name, page in text.items() if name.startswith("docs/")]
        self.assertLessEqual(sum(len(page.split()) for page in pages), 14000)
        for name, most in (("README.md", 120), ("CHANGELOG.md", 60), ("docs/accuracy.md", 150)):
            self.assertLessEqual(text[name].count("\n"), most, name)


class Help(unittest.TestCase):
    def test_is_short_and_begins_with_its_subject(self):
        found = [(name, text) for name, help_text in helps(PROGRAM) for text in paragraphs_of_help(help_text)]
        self.assertGreater(len(found), 150)
        wrong = [f"{name}: {text}" for name, text in found if wrong_openers(text) or long_sentences(text)]
        self.assertFalse(wrong, "\n".join(wrong))


if __name__ == "__main__":
    if sys.argv[1] == "--list":
        print("\n".join(wrong_comments(sys.argv[2:])))
    else:
        PROGRAM = sys.argv[1]
        unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
