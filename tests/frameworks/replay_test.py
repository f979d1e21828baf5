# SPDX-License-Identifier: MIT
"""Triton's kernels on the model, without Triton: launches that an H200 executed leave in memory what they left there, and `exact`
counts are the H200's: of our own scripts (recorded/triton.json.xz, h200_triton.csv), and some of public ones (choose.py).

    replay_test.py WARPMETER
"""
import base64
import json
import lzma
import pathlib
import subprocess
import sys
import tempfile
import unittest

import counts
from replay import recording_at

HERE = pathlib.Path(__file__).resolve().parent
RECORDED = HERE / "recorded"
# Its arguments are addresses of the process that was recorded.
LEFT_OUT = {"o_grouped_gemm"}


def replayed(path, database, scripts):
    done = subprocess.run(
        [PROGRAM, "profile", "-b", "model", "-q", "-m", ",".join(counts.METRICS), "--db", database,
         sys.executable, "-B", str(HERE / "replay.py"), str(path), *scripts],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=300)
    return done.stdout


class Replay(unittest.TestCase):
    def of_h200(self, name, launches, folder):
        """The file of the H200's counts, of the launches that are recorded."""
        if name != "public":
            return RECORDED / f"h200_{name}.csv"
        of_scripts = counts.by_script(RECORDED / "h200_public.csv.xz")
        counts.write(f"{folder}/h200.csv", [of_scripts[launch["script"]][launch["order"]] for launch in launches])
        return f"{folder}/h200.csv"

    def check(self, name, least):
        """Launches are right, and at least so many values are compared."""
        path = RECORDED / f"{name}.json.xz"
        launches = [launch for launch in recording_at(path)["launches"] if launch["script"] not in LEFT_OUT]
        scripts = list(dict.fromkeys(launch["script"] for launch in launches))
        with tempfile.TemporaryDirectory() as folder:
            output = replayed(path, f"{folder}/a.db", scripts)
            self.assertEqual(output.splitlines(), [f"{script} right" for script in scripts])
            rows = counts.launches_of(PROGRAM, f"{folder}/a.db")
            self.assertEqual(len(rows), len(launches))
            for row, launch in zip(rows, launches):
                row["script"] = launch["script"]
            counts.write(f"{folder}/counts.csv", rows)
            found = counts.compared(self.of_h200(name, launches, folder), f"{folder}/counts.csv", scripts)
        self.assertEqual(found.differences, [])
        self.assertGreater(found.equal, least)

    def test_our_scripts_leave_what_an_h200_left_and_count_the_same(self):
        self.check("triton", 2500)

    def test_public_scripts_leave_what_an_h200_left_and_count_the_same(self):
        self.check("public", 9000)

    def test_notices_another_result(self):
        changed = recording_at(RECORDED / "triton.json.xz")
        launch = next(launch for launch in changed["launches"] if launch["script"] == "e_relu")
        digest = next(tensor["after"] for tensor in launch["tensors"] if tensor["after"])
        content = bytearray(base64.b64decode(changed["bytes"][digest]))
        content[3] ^= 0x40  # the first number's exponent
        changed["bytes"][digest] = base64.b64encode(content).decode()
        with tempfile.TemporaryDirectory() as folder:
            with lzma.open(f"{folder}/changed.xz", "wt", encoding="utf-8") as file:
                json.dump(changed, file)
            output = replayed(f"{folder}/changed.xz", f"{folder}/a.db", ["e_relu"])
        self.assertRegex(output, "^e_relu wrong: 1 of 3000 numbers differ")


if __name__ == "__main__":
    PROGRAM = sys.argv[1]
    unittest.main(argv=sys.argv[:1])
