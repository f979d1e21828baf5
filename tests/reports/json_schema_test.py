# SPDX-License-Identifier: MIT
"""The JSON of report and explain against reports/report.schema.json and explain.schema.json: it is valid, every key is described, and what is
wrong is refused.

    json_schema_test.py WRITE_PAGES REPORT_SCHEMA EXPLAIN_SCHEMA

Exits 77 (skipped), with the reason, where python3-jsonschema is missing.
"""
import copy
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import jsonschema
except ImportError:
    print("skipped: python3-jsonschema is not installed (./dev test installs it)")
    sys.exit(77)

WRITE_PAGES = sys.argv[1]
SCHEMA, EXPLAIN_SCHEMA = (json.loads(pathlib.Path(path).read_text(encoding="utf-8")) for path in sys.argv[2:4])
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def written():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([WRITE_PAGES, folder], check=True)
        return {path.stem: json.loads(path.read_text(encoding="utf-8"))
                for path in pathlib.Path(folder).glob("*.json")}


WRITTEN = written()


class Explanations(unittest.TestCase):
    explained = {name: text for name, text in WRITTEN.items() if name.endswith("_explain")}
    validator = jsonschema.Draft202012Validator(EXPLAIN_SCHEMA)

    def test_the_schema_is_one_in_which_every_key_is_described(self):
        jsonschema.Draft202012Validator.check_schema(EXPLAIN_SCHEMA)
        for part in EXPLAIN_SCHEMA["$defs"].values():
            for name, key in part["properties"].items():
                self.assertIn("description", key, name)

    def test_explanations_are_valid(self):
        self.assertEqual(len(self.explained), 11)
        for name, explained in self.explained.items():
            with self.subTest(explained=name):
                self.assertEqual([error.message for error in self.validator.iter_errors(explained)], [])
        kinds = {finding["kind"] for launch in self.explained["explained_explain"]["launches"]
                 for finding in launch["findings"]}
        self.assertEqual(len(kinds), 20)

    def test_what_is_wrong_is_refused(self):
        whole = self.explained["explained_explain"]
        self.assertTrue(self.validator.is_valid(whole))
        for change in (lambda w: w.update(format_version=2), lambda w: w["launches"][0].pop("found"),
                       lambda w: w["launches"][1]["findings"][0].update(grade="guessed"),
                       lambda w: w["launches"][1]["findings"][0]["remedies"][0].update(is_advised=1),
                       lambda w: w["launches"][1]["findings"][0]["lanes"]["lanes"].append({"lane": 32}),
                       lambda w: w["launches"][0].update(more=1)):
            changed = copy.deepcopy(whole)
            change(changed)
            self.assertFalse(self.validator.is_valid(changed))


class Reports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.reports = {name: text for name, text in WRITTEN.items() if not name.endswith("_explain")}

    def whole(self):
        return copy.deepcopy(self.reports["hardware"])

    def test_the_schema_is_one(self):
        jsonschema.Draft202012Validator.check_schema(SCHEMA)

    def test_reports_are_valid(self):
        self.assertEqual(len(self.reports), 22)
        for name, report in self.reports.items():
            with self.subTest(report=name):
                self.assertEqual([error.message for error in VALIDATOR.iter_errors(report)], [])

    def test_every_key_is_described(self):
        described = SCHEMA["$defs"]
        for name, report in self.reports.items():
            if name.endswith("_sections"):
                continue
            self.assertEqual(set(report), set(described["whole"]["properties"]))
            for part, rows in report.items():
                for row in rows if isinstance(rows, list) else [rows] if isinstance(rows, dict) else []:
                    self.assertEqual(set(row), set(described[part]["properties"]), part)
                    self.assertTrue(all("description" in column for column in described[part]["properties"].values()))

    def refuses(self, report):
        self.assertFalse(VALIDATOR.is_valid(report))

    def test_what_is_wrong_is_refused(self):
        report = self.whole()
        del report["results"]
        self.refuses(report)
        report = self.whole()
        del report["results"][0]["metric"]
        self.refuses(report)
        report = self.whole()
        report["results"][0]["grade"] = "guessed"
        self.refuses(report)
        report = self.whole()
        report["launches"][0]["launch_id"] = "1"
        self.refuses(report)
        report = self.whole()
        report["format_version"] = 2
        self.refuses(report)
        report = copy.deepcopy(self.reports["hardware_sections"])
        report["sections"][0]["tables"] = {}
        self.refuses(report)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
