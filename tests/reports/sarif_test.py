#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""SARIF of check and --check against the schema that OASIS publishes: of kernels and programs with planted mistakes, each at
its line, and of such without any.

    sarif_test.py WARPMETER PROGRAM

PROGRAM is tests/runtime/programs/check_textures.cu, compiled. A comment "// ! KIND" in a source says what must be found there.
Exits 77 (skipped), with the reason, where python3-jsonschema is missing."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    import jsonschema
except ImportError:
    print("skipped: python3-jsonschema is not installed (./dev test installs it)")
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
KERNELS = HERE.parent / "collector" / "cli" / "check"
SCHEMA = json.loads((HERE / "sarif" / "sarif-schema-2.1.0.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft4Validator(SCHEMA)


def planted(source):
    """{(line, rule)} of the comments."""
    found = set()
    for number, line in enumerate(source.read_text(encoding="utf-8").splitlines(), 1):
        code, mark, kinds = line.partition("// ! ")
        found |= {(number, kind.strip().replace(" ", "-")) for kind in kinds.split(",") if mark}
    return found


def place(result):
    physical = result["locations"][0]["physicalLocation"]
    return physical["artifactLocation"]["uri"], physical.get("region", {}).get("startLine")


class Sarif(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for file in KERNELS.iterdir():
            shutil.copy(file, self.folder)

    def sarif(self, code, *words, folder=None):
        """The run of the log that a command prints, which is valid and the same each time."""
        texts = []
        for _ in range(2):
            done = subprocess.run([WARPMETER, words[0], "--format", "sarif", *words[1:]], capture_output=True, text=True,
                                  cwd=folder or self.folder)
            self.assertEqual(done.returncode, code, done.stderr)
            texts.append((self.folder / "out.sarif").read_text(encoding="utf-8") if "-o" in words else done.stdout)
        self.assertEqual(*texts)
        log = json.loads(texts[0])
        self.assertEqual([error.message for error in VALIDATOR.iter_errors(log)], [])
        (run,) = log["runs"]
        rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
        self.assertEqual(len(rules), len(set(rules)))
        for result in run["results"]:
            self.assertEqual(rules[result["ruleIndex"]], result["ruleId"])
        return run

    def notes(self, run):
        return [note["message"]["text"] for note in run["invocations"][0]["toolExecutionNotifications"]]

    def mistakes(self, run, source):
        return {(place(result)[1], result["ruleId"]) for result in run["results"]
                if result["level"] == "error" and place(result)[0] == source}

    def test_the_schema_refuses_what_is_wrong(self):
        run = {"tool": {"driver": {"name": "warpmeter"}}, "results": []}
        self.assertTrue(VALIDATOR.is_valid({"version": "2.1.0", "runs": [run]}))
        self.assertFalse(VALIDATOR.is_valid({"version": "2.1.0", "runs": [{**run, "results": [{"ruleId": "race"}]}]}))

    def test_model_finds_each_planted_mistake_at_its_line(self):
        run = self.sarif(6, "model", "--spec", "faulty.yaml", "--check")
        wanted = planted(self.folder / "faulty.cu")
        self.assertGreater(len(wanted), 20)
        self.assertEqual(self.mistakes(run, "faulty.cu"), wanted)
        # __syncthreads() lacks between lines 39 and 40.
        (race,) = [result for result in run["results"] if place(result) == ("faulty.cu", 40)
                   and result["ruleId"] == "shared-memory-race"]
        (other,) = race["relatedLocations"]
        self.assertEqual(other["physicalLocation"]["region"]["startLine"], 39)
        self.assertIn("[line 39](1)", race["message"]["text"])

    def test_model_says_that_sound_kernels_have_none(self):
        run = self.sarif(0, "model", "--spec", "sound.yaml", "--check")
        self.assertEqual(self.mistakes(run, "sound.cu"), set())
        self.assertTrue(any("Nothing was found of what was looked for" in note for note in self.notes(run)))
        self.assertIn("out-of-bounds", [rule["id"] for rule in run["tool"]["driver"]["rules"]])

    def test_run_finds_nothing_in_a_family_and_says_so(self):
        run = self.sarif(0, "run", "transpose/tiled", "--check", "-n", "64")
        self.assertEqual(run["results"], [])
        self.assertIn("Nothing was found of what was looked for in this launch", self.notes(run)[0])

    def test_profile_finds_the_mistakes_of_a_program(self):
        run = self.sarif(6, "profile", "--check", "--db", str(self.folder / "out.db"), "-o", str(self.folder / "out.sarif"),
                         PROGRAM, folder=ROOT)
        source = "tests/runtime/programs/check_textures.cu"
        self.assertEqual(self.mistakes(run, source), planted(ROOT / source))
        for result in run["results"]:
            artifact = result["locations"][0]["physicalLocation"]["artifactLocation"]
            self.assertEqual(artifact.get("uriBaseId"), "%SRCROOT%")

    def test_profile_tells_what_was_not_observed(self):
        script = self.folder / "both.sh"
        script.write_text(f"#!/bin/sh\nenv -i '{PROGRAM}' >/dev/null 2>&1\nexec '{PROGRAM}'\n")
        script.chmod(0o755)
        words = ["profile", "--check", "--db", str(self.folder / "out.db"), "-o", str(self.folder / "out.sarif")]
        alone, beside = (self.sarif(6, *words, program, folder=ROOT)["invocations"][0] for program in (PROGRAM, str(script)))
        errors = [note["message"]["text"] for note in beside["toolExecutionNotifications"] if note["level"] == "error"]
        self.assertEqual(errors, [f"what these programs do, which were started and not observed: {PROGRAM}"])
        self.assertFalse(beside["executionSuccessful"])
        self.assertTrue(alone["executionSuccessful"])

    def test_check_marks_broken_gates_and_nothing_where_all_hold(self):
        done = subprocess.run([WARPMETER, "run", "transpose/tiled", "-n", "64", "-b", "model", "-q"], cwd=self.folder)
        self.assertEqual(done.returncode, 0)
        gate = "shared_load_transactions_per_request <= "
        broken = self.sarif(1, "check", "--no-expectations", "--gate", gate + "1")
        (result,) = broken["results"]
        self.assertEqual((result["ruleId"], result["level"]), ("gate/shared_load_transactions_per_request", "error"))
        lines = (ROOT / "kernels" / "transpose.cu").read_text(encoding="utf-8").splitlines()
        uri, line = place(result)
        self.assertEqual(uri, "kernels/transpose.cu")
        self.assertIn("= tile[threadIdx.x]", lines[line - 1])
        (kernel,) = result["relatedLocations"]
        line = kernel["physicalLocation"]["region"]["startLine"]
        self.assertIn("transpose_tiled(", lines[line - 1])
        held = self.sarif(0, "check", "--no-expectations", "--gate", gate + "32")
        self.assertEqual(held["results"], [])
        self.assertIn("1 of 1 check on run 1", self.notes(held)[0])
        empty = self.sarif(3, "check", "--no-expectations")
        self.assertEqual(empty["results"], [])
        self.assertIn("There is nothing to check", self.notes(empty)[0])

    def test_figures_are_refused(self):
        for words in (["model", "--spec", "sound.yaml"], ["run", "transpose"], ["profile", "true"],
                      ["profile", "-m", "@default", "--check", "true"]):
            done = subprocess.run([WARPMETER, words[0], "--format", "sarif", *words[1:]], capture_output=True, text=True,
                                  cwd=self.folder)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn("--format sarif holds the findings of --check", done.stderr)


if __name__ == "__main__":
    WARPMETER, PROGRAM = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
