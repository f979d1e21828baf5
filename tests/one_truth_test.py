#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The facts that stand in one place only: the formulas of metrics (schema/catalogue*), the scale of grades
(schema/grade.h), the exit codes (base/error.h). Names each place of the sources that says one of these again, and
holds the tables of docs/ to the program's. Functions of CUDA are answered once each, and the top level holds its
rooms alone.

    tests/one_truth_test.py"""
import json
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
OURS = ("base", "kernels", "schema", "collector", "reports")
CATALOGUE = {kind: [entry for path in [ROOT / "schema/catalogue.json", *sorted((ROOT / "schema/catalogue").glob("*.json"))]
                    for entry in json.loads(path.read_text(encoding="utf-8"))[kind]] for kind in ("counters", "metrics")}


def files(folders, endings):
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in endings:
                yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def literals(text):
    """The literals in quotation marks in C++, literals that follow each other as one."""
    joined = re.sub(r'"\s*\n\s*"', "", text)
    return re.findall(r'"((?:[^"\\\n]|\\.)*)"', joined)


def rows_of(page, heading):
    """The rows of the table under a heading, without its head: their cells."""
    section = text_of(page).partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.split("\n") if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


# ---- formulas

def inputs():
    """The inputs of formulas: counters, columns of timings, and the counts of a source line. A resource is one column."""
    names = {counter["name"] for counter in CATALOGUE["counters"]}
    for metric in CATALOGUE["metrics"]:
        if metric.get("of") != "launch":
            names.update(metric["numerator"], metric.get("denominator", ()))
    return names | {"transactions", "requests", "bytes"}


INPUT = rf"\b(?:\w+\.)?(?:{'|'.join(sorted(inputs()))})\b"
FORMULA = re.compile(rf"{INPUT}\)?(?:\s+[/*+]\s+|\s*[*]\s*)[\w(.]+|[\w.)]+\s+[/*+]\s+\(?{INPUT}")


def formulas_in(path, text):
    """Arithmetic with an input in SQL: "a / b", "32.0 * a", "a + b"."""
    sql = re.sub(r"--[^\n]*", "", text) if path.endswith(".sql") else "\n".join(literals(text))
    return [f"{path}: {found}" for found in FORMULA.findall(sql)]


class Formulas(unittest.TestCase):
    def test_of_metrics_are_in_the_catalogue_only(self):
        # The throughput of a copy is a column of nvprof's trace and no metric of a kernel.
        of_copies = "reports/nvprof/trace.cpp: bytes * 1e9"
        found = [formula for path, text in files(OURS, {".sql", ".cpp", ".h"}) for formula in formulas_in(path, text)]
        self.assertEqual([formula for formula in found if formula != of_copies], [])

    def test_written_a_second_time_are_found(self):
        for sql in ("SELECT 100.0 * (n.bytes / (32.0 * n.transactions))", "SELECT t.median_ns / 1e9",
                    "l.useful_bytes_read + l.useful_bytes_written", "shared_load_wavefronts / r.value",
                    "sum(global_load_bytes) / 32"):
            with self.subTest(sql=sql):
                self.assertTrue(formulas_in("a.sql", sql))
                self.assertTrue(formulas_in("a.cpp", f'query("{sql}")'))
        self.assertEqual(formulas_in("a.sql", "-- t.median_ns / 1e9\nSELECT t.median_ns, 1 / 2"), [])
        self.assertEqual(formulas_in("a.cpp", "median_ns / 1e9"), [])

    def test_of_metrics_have_one_name_each(self):
        names = [entry["name"] for entry in CATALOGUE["metrics"] + CATALOGUE["counters"]]
        self.assertEqual(sorted(names), sorted(set(names)))
        for metric in CATALOGUE["metrics"]:
            with self.subTest(metric=metric["name"]):
                self.assertTrue(metric["numerator"])

    def test_of_loads_and_stores_are_alike(self):
        # Source lines of both have their efficiency by the one of loads.
        loads, stores = ({metric["name"]: metric for metric in CATALOGUE["metrics"]}[name]
                         for name in ("gld_efficiency", "gst_efficiency"))
        for part in ("numerator", "denominator"):
            self.assertEqual(list(loads[part].values()), list(stores[part].values()))
        self.assertEqual(loads["scale"], stores["scale"])


# ---- grades

def grades():
    """(name, meaning) of the table in grade.h."""
    table = text_of("schema/grade.h").partition("grades = {{")[2].partition("}};")[0]
    entries = re.split(r"\{Grade::", table)[1:]
    return [(entry.partition(",")[0], *literals(entry)[:2]) for entry in entries]


RENUMBERED = "schema/migrations/0018_sampled.sql"
NAMES = re.compile(rf"""["']({'|'.join(name for name, *_ in grades())})["']""")
NUMBERS = re.compile(r"\bgrade\)?\s*(?:=|<>|<=|>=|!=|<|>)\s*\d|\bTHEN\s+\d[^']{0,60}\bAS grade\b")


def scales_in(path, text):
    """Two grades by name close to each other are a second scale, and so is a number in place of a name."""
    found, near, last = [], set(), 0
    for match in NAMES.finditer(text):
        near = near if match.start() <= last + 80 else set()
        near.add(match[1])
        last = match.start()
        if len(near) == 2:
            found.append(f"{path}: {match[1]}")
    return found + [f"{path}: {match[0]}" for match in NUMBERS.finditer(text)]


class Grades(unittest.TestCase):
    def test_are_listed_in_one_place(self):
        # In migrations are the numbers of files that exist; the next test but one holds the newest.
        elsewhere = [(path, text) for path, text in files(OURS, {".sql", ".cpp", ".h", ".js"})
                     if path not in ("schema/grade.h", "schema/migrations/0001_initial.sql", RENUMBERED)]
        self.assertEqual([scale for path, text in elsewhere for scale in scales_in(path, text)], [])

    def test_listed_a_second_time_are_found(self):
        for text in ('{"exact", "modelled"}', "CASE WHEN g = 'ptx' THEN 1 WHEN g = 'unavailable' THEN 2 END",
                     "WHEN x.grade = 3 THEN", "max(v.grade) < 4", "CASE WHEN value IS NULL THEN 4 ELSE 0 END AS grade"):
            with self.subTest(text=text):
                self.assertEqual(len(scales_in("a.sql", text)), 1)
        self.assertEqual(scales_in("a.cpp", 'grade == "ptx"'), [])

    def test_are_stored_as_the_numbers_that_databases_check(self):
        last = len(grades()) - 1
        self.assertEqual(grades()[last][0], "unavailable")
        self.assertIn(f"grade BETWEEN 0 AND {last} AND (value IS NULL) = (grade = {last})", text_of(RENUMBERED))

    def test_are_those_of_the_enum(self):
        enum = re.search(r"enum class Grade \{([^}]*)\}", text_of("schema/grade.h"))[1]
        names = [name.strip() for name in enum.split(",")]
        self.assertEqual([(name, name) for name in names], [(grade, text) for grade, text, _ in grades()])

    def test_are_in_the_documentation_as_in_the_program(self):
        self.assertEqual(rows_of("docs/accuracy.md", "Grades"), [[f"`{name}`", meaning] for _, name, meaning in grades()])


# ---- exit codes

def exit_codes():
    """(number, meaning) of the table in error.h."""
    text = text_of("base/error.h")
    names = [name.strip() for name in re.search(r"enum class ExitCode : int \{([^}]*)\}", text)[1].split(",")]
    table = text.partition("exit_codes = {{")[2].partition("}};")[0]
    codes = []
    for entry in re.split(r"\n    \{", table)[1:]:
        named = re.match(r"static_cast<int>\(ExitCode::(\w+)\)", entry)
        number = names.index(named[1]) if named else int(re.match(r"\d+", entry)[0])
        codes.append((number, literals(entry)[1]))
    return names, codes


def codes_in(path, text):
    """A number in place of a code's name, or a list of codes."""
    patterns = (r"static_cast<ExitCode>\(\d", r"\bExitCode\{\d", r"\bstd::_?[eE]xit\(\d", r"[Ee]xit codes?: ?\d",
                r"\| exit code \|")
    return [f"{path}: {match[0]}" for pattern in patterns for match in re.finditer(pattern, text)]


class ExitCodes(unittest.TestCase):
    def test_have_each_a_row(self):
        names, codes = exit_codes()
        self.assertEqual([number for number, _ in codes], [*range(len(names)), 128 + 2])  # 2: SIGINT

    def test_are_in_the_documentation_as_in_the_program(self):
        rows = [[str(number), meaning] for number, meaning in exit_codes()[1]]
        self.assertEqual(rows_of("docs/commands.md", "Exit codes"), rows)

    def test_are_listed_in_one_place(self):
        places = [*files(OURS, {".cpp", ".h"}), *files(["docs"], {".md"}), ("README.md", text_of("README.md"))]
        found = [code for path, text in places for code in codes_in(path, text)]
        self.assertEqual(found, ["docs/commands.md: | exit code |"])

    def test_listed_a_second_time_are_found(self):
        for text in ("return static_cast<ExitCode>(3);", '"Exit codes: 0 done"', "| exit code | |"):
            with self.subTest(text=text):
                self.assertEqual(len(codes_in("a.cpp", text)), 1)
        self.assertEqual(codes_in("a.cpp", "return ExitCode::done;"), [])


# ---- columns

class Insertions(unittest.TestCase):
    def test_name_their_columns(self):
        nameless = re.compile(r"INSERT (?:OR \w+ )?INTO [\w.]+ (?:VALUES|SELECT)")
        # The tables of nvprof's own files have one column, or the columns that its writer listed when it created them.
        of_nvprof = re.compile(r" INTO (CUPTI_\w+|StringTable|Version) ")
        found = [f"{path}: {match[0]}" for path, text in files([*OURS, "tests"], {".sql", ".cpp", ".h"})
                 for match in nameless.finditer(re.sub(r'"\s*\n\s*"', "", text)) if not of_nvprof.search(match[0])]
        self.assertEqual(found, [])
        self.assertTrue(nameless.search("INSERT OR REPLACE INTO temp.a VALUES (1)"))


# ---- numbers with their nouns

PLURAL = re.compile(r'(?:==|!=|>) 1 \? (?:"" : "e?s"|"e?s" : ""|"1 \w+")')


class Nouns(unittest.TestCase):
    def test_get_their_plural_in_one_place(self):
        found = [f"{path}: {place}" for path, text in files(OURS, {".cpp", ".h"}) if path != "base/with_noun.h"
                 for place in PLURAL.findall(text)]
        found = [place for place in found if not place.startswith("collector/cli/submit/job.cpp")]  # "tasks 3,7"
        self.assertFalse(found, "\n".join(found))

    def test_chosen_elsewhere_are_found(self):
        for text in ('n == 1 ? "" : "s"', 'n > 1 ? "es" : ""', 'n == 1 ? "1 pair" : many'):
            self.assertTrue(PLURAL.findall(text), text)


# ---- what programs are answered

def answered_in(text):
    """The functions that rows name (collector/runtime/api/row.h); BOTH names one of the runtime and one of the driver."""
    both = re.findall(r'\bBOTH\(\s*(cu\w+),\s*(cu\w+)', text)
    one = re.findall(r'\b(?:ANSWER|ANSWER_AS|ANSWER_LIKE|DIRECT|DIRECT_AS)\(\s*"?(cu[\w ]+)', text)
    return one + [name for pair in both for name in pair]


class Answers(unittest.TestCase):
    def test_of_a_function_of_cuda_are_one(self):
        places = {}
        for path, text in files(["collector/runtime"], {".cpp"}):
            for name in answered_in(text):
                places.setdefault(name, []).append(path)
        self.assertGreater(len(places), 500)
        self.assertEqual({name: where for name, where in places.items() if len(where) > 1}, {})
        self.assertEqual(answered_in('BOTH(cudaA, cuA, a::b, x),\n ANSWER_AS(\n "cuB", a::b),'), ["cuB", "cudaA", "cuA"])


# ---- what lies at the top

ROOMS = {"CMakeLists.txt", "CMakePresets.json", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "README.md",
         "SECURITY.md", "dev", "pyproject.toml",
         "base", "cmake", "collector", "docs", "kernels", "python", "reports", "schema", "tests"}


class TopLevel(unittest.TestCase):
    def test_holds_what_the_design_says(self):
        kept = subprocess.run(["git", "-C", ROOT, "ls-tree", "--name-only", "HEAD"], capture_output=True, text=True)
        if kept.returncode != 0:
            self.skipTest("this is no git checkout: " + kept.stderr.strip())
        visible = {name for name in kept.stdout.split("\n") if name and not name.startswith(".")}
        self.assertEqual(visible, ROOMS)


# ---- what the model counts

class CountersOfTheModel(unittest.TestCase):
    def test_are_in_its_counting_code_only(self):
        for counter in CATALOGUE["counters"]:
            self.assertNotIn("model", counter, counter["name"])


if __name__ == "__main__":
    unittest.main()
