# SPDX-License-Identifier: MIT
"""The parts that checks on a device share: a line a check, how many failed, and the rows of a
query."""
import csv
import io
import pathlib
import subprocess
import sys


class Checking:
    def __init__(self, warpmeter):
        self.warpmeter, self.failed = warpmeter, 0
        self.name = pathlib.Path(sys.argv[0]).stem

    def __call__(self, holds, text):
        self.failed += not holds
        print(f"{'ok  ' if holds else 'FAIL'} {text}", flush=True)

    def rows(self, database, sql):
        result = subprocess.run([self.warpmeter, "query", "--db", str(database), "--format", "csv", sql],
                                capture_output=True, text=True, check=False)
        if result.returncode != 0:
            sys.exit(f"{self.name}: {result.stderr}")
        return list(csv.DictReader(io.StringIO(result.stdout)))

    def end(self):
        print(f"{self.name}: {self.failed} failed" if self.failed else f"{self.name}: all hold")
        sys.exit(1 if self.failed else 0)
