"""The JSON of reports against reports/report.schema.json: it is valid, every key is described, and what is
wrong is refused.

    json_schema_test.py WRITE_PAGES SCHEMA

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

WRITE_PAGES, SCHEMA = sys.argv[1], json.loads(pathlib.Path(sys.argv[2]).read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def written():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([WRITE_PAGES, folder], check=True)
        return {path.stem: json.loads(path.read_text(encoding="utf-8"))
                for path in pathlib.Path(folder).glob("*.json")}


class Reports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.reports = written()

    def whole(self):
        return copy.deepcopy(self.reports["hardware"])

    def test_the_schema_is_one(self):
        jsonschema.Draft202012Validator.check_schema(SCHEMA)

    def test_reports_are_valid(self):
        self.assertEqual(len(self.reports), 10)
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
