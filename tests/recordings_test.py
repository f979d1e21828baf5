#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each recorded file of tests/runtime/expected and tests/golden is named by the README beside it, which says what recorded it,
and is read by a test."""
import pathlib, re, unittest

TESTS = pathlib.Path(__file__).resolve().parent


def named(text):
    """The names in backticks; `…` stands for any characters."""
    return [re.compile(re.escape(name).replace("…", ".*")) for name in re.findall(r"`([\w.…/]+)`", text)]


def unnamed(names, patterns):
    return [name for name in names if not any(pattern.fullmatch(name) for pattern in patterns)]


class Outputs(unittest.TestCase):
    def setUp(self):
        self.folder = TESTS / "runtime/expected"
        self.names = sorted(file.stem for file in self.folder.glob("*.txt"))
        self.printed = [name for name in self.names if not name.startswith("check_")]
        self.page = (self.folder / "README.md").read_text(encoding="utf-8").split("\n## Findings\n")[0]

    def test_of_programs_say_what_printed_them(self):
        self.assertGreater(len(self.printed), 90)
        self.assertEqual(unnamed(self.printed, named(self.page)), [])

    def test_that_are_named_are_there(self):
        names = re.findall(r"`([a-z_0-9]{2,})`", self.page)
        self.assertEqual(sorted(set(names) - set(self.names)), [])

    def test_are_read_by_a_test(self):
        sources = "".join(file.read_text(encoding="utf-8") for file in sorted((TESTS / "runtime").glob("*_test.cpp")))
        self.assertEqual([name for name in self.names if f'"{name}"' not in sources], [])


class Golden(unittest.TestCase):
    def test_files_say_what_recorded_them(self):
        folder = TESTS / "golden"
        for page in sorted(folder.rglob("README.md")):
            below = [file for file in page.parent.rglob("*") if file.is_file() and file.name != "README.md"]
            names = [file.relative_to(page.parent).as_posix() for file in below
                     if not any((other / "README.md").is_file() and other != page.parent and page.parent in other.parents
                                for other in file.parents)]
            with self.subTest(page=page.relative_to(folder).as_posix()):
                self.assertTrue(names)
                self.assertEqual(unnamed(names, named(page.read_text(encoding="utf-8"))), [])

    def test_files_of_the_model_name_their_device_first(self):
        for file in sorted((TESTS / "collector/model/data").glob("h*00_*.txt")):
            with open(file, encoding="utf-8") as lines:
                self.assertRegex(next(lines), "NVIDIA H[12]00", file.name)


if __name__ == "__main__":
    unittest.main()
