# SPDX-License-Identifier: MIT
"""Triton's kernels on the model, without Triton: launches that an H200 executed (recorded/triton.json.xz) leave in memory
what they left there, and `exact` counts are the H200's (recorded/h200_triton.csv).

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


def recording():
    return recording_at(RECORDED / "triton.json.xz")


def replayed(path, database, scripts):
    done = subprocess.run(
        [PROGRAM, "profile", "-b", "model", "-q", "-m", ",".join(counts.METRICS), "--db", database,
         sys.executable, "-B", str(HERE / "replay.py"), str(path), *scripts],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=300)
    return done.stdout


class Replay(unittest.TestCase):
    def test_leaves_what_an_h200_left_and_counts_the_same(self):
        launches = [launch for launch in recording()["launches"] if launch["script"] not in LEFT_OUT]
        scripts = list(dict.fromkeys(launch["script"] for launch in launches))
        with tempfile.TemporaryDirectory() as folder:
            output = replayed(RECORDED / "triton.json.xz", f"{folder}/a.db", scripts)
            self.assertEqual(output.splitlines(), [f"{script} right" for script in scripts])
            rows = counts.launches_of(PROGRAM, f"{folder}/a.db")
            self.assertEqual(len(rows), len(launches))
            for row, launch in zip(rows, launches):
                row["script"] = launch["script"]
            counts.write(f"{folder}/counts.csv", rows)
            found = counts.compared(RECORDED / "h200_triton.csv", f"{folder}/counts.csv", scripts)
        self.assertEqual(found.differences, [])
        self.assertGreater(found.equal, 2500)

    def test_notices_another_result(self):
        changed = recording()
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
