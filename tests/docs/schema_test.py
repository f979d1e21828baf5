#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The JSON schema of family files: it takes the files that ship, and refuses what the program refuses.

    tests/docs/schema_test.py WARPMETER"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import jsonschema
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
SCHEMA = json.loads((ROOT / "collector/family/family.schema.json").read_text())
FILES = sorted((ROOT / "kernels").glob("*.yaml")) + sorted((ROOT / "tests/device").rglob("*.yaml"))


def is_valid(family):
    try:
        jsonschema.validate(family, SCHEMA)
        return True
    except jsonschema.ValidationError:
        return False


def is_taken(family, folder):
    """The program's own opinion."""
    path = pathlib.Path(folder) / "f.json"
    path.write_text(json.dumps(family))
    done = subprocess.run([PROGRAM, "run", "f.json", "-b", "model", "--dry-run"], cwd=folder, capture_output=True,
                          text=True, timeout=120)
    return done.returncode == 0, done.stderr


class Schema(unittest.TestCase):
    def test_is_one(self):
        jsonschema.validators.validator_for(SCHEMA).check_schema(SCHEMA)

    def test_takes_every_family_that_ships(self):
        self.assertGreaterEqual(len(FILES), 6)
        for file in FILES:
            with self.subTest(file=file.name):
                jsonschema.validate(yaml.safe_load(file.read_text()), SCHEMA)

    def test_and_the_program_agree_on_each_key(self):
        good = {"file": "k.cu", "variants": {"v": {"kernel": "k", "grid": [1], "block": [32]}}}
        variant = good["variants"]["v"]
        cases = [(good, True)]
        for key, value, holds in (
                ("family", "mine", True), ("summary", "s", True), ("size", "side", False), ("define", ["A=1"], True),
                ("define", {"A": 1}, True), ("define", [{"A": 1}, "B"], True), ("define", {"A": [1]}, False),
                ("std", "c++17", True), ("flags", ["--use_fast_math"], True), ("sizes", [16, 32], True),
                ("sizes", {"m": [1], "n": 2}, True), ("arguments", [], True), ("set", {"c": 1.5}, True),
                ("reference", "none", True), ("outputs", [], True), ("outputs", {"out": 1}, False), ("tolerance", {"relative": 1e-6}, True),
                ("tolerance", {"relative": "much"}, False), ("tolerance", {"nan": "different"}, False),
                ("work", {"read": "4", "flops": 2}, True), ("work", {"reads": 4}, False), ("ceiling", "v", True),
                ("variants", {}, False), ("variant", {}, False), ("arguments", {"out": "f32"}, False)):
            cases.append(({**good, key: value}, holds))
        for key, value, holds in (
                ("shared", 64, True), ("cooperative", True, True), ("cooperative", "maybe", False),
                ("define", "A", True), ("expect", {"gld_efficiency == 100": "why"}, True), ("grid", [1, 1, 1, 1], False),
                ("cluster", 1, True), ("parameters", {"A": [1, 2]}, True), ("parameters", {"1A": [1, 2]}, False),
                ("where", "1 == 1", True), ("gird", 1, False), ("reference", None, True), ("work", {"written": 1}, True)):
            cases.append(({**good, "variants": {"v": {**variant, key: value}}}, holds))
        sized = {**good, "sizes": [16]}
        cases += [({**sized, "size": "side"}, True), ({**sized, "largest": "4*8"}, True), ({**good, "largest": 32}, False),
                  ({**sized, "expect_at": [16]}, True), ({**good, "expect_at": [16]}, False)]
        for key, value, holds in (("library", "cuBLAS", True), ("library", "cuFFT", False), ("grid", 1, False),
                                  ("kernel", "cublasDgemm_v2", False), ("reference", {"c": "cpu:matmul(a, b, n, n, n)"}, True)):
            product = {"library": "cuBLAS", "kernel": "cublasSgemm_v2", key: value}
            arguments = ["c: f32[n*n]", "a: f32[n*n] = small", "b: f32[n*n] = small", "i32=n", "i32=n", "i32=n"]
            cases.append(({**sized, "arguments": arguments, "variants": {"v": product}}, holds))
        for missing in ("grid", "block"):
            cases.append(({**good, "variants": {"v": {k: v for k, v in variant.items() if k != missing}}}, False))
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "k.cu").write_text("__constant__ float c;\nconstexpr int B = A;\n"
                                                       "__global__ void k() { if (c > B) __trap(); }\n"
                                                       .replace("constexpr int B = A;\n", "#ifdef A\n#endif\n")
                                                       .replace("c > B", "c > 8"))
            for family, holds in cases:
                with self.subTest(family=family):
                    self.assertEqual(is_valid(family), holds)
                    taken, words = is_taken(family, folder)
                    self.assertEqual(taken, holds, words)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
