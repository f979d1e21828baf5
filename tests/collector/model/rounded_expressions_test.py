# SPDX-License-Identifier: MIT
"""Twenty expressions of floats have the bits that their machine code computes.

    rounded_expressions_test.py WARPMETER
"""
import csv
import json
import os
import struct
import subprocess
import sys
import tempfile

FOLDER = os.path.join(os.path.dirname(__file__), "../../golden/rounded_expressions")


def main(program):
    wanted = {}
    with open(os.path.join(FOLDER, "results.csv"), encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            wanted.setdefault(row["expression"], []).append({name: int(row[name], 16) for name in ("a", "b", "c", "result")})
    assert len(wanted) == 20, sorted(wanted)
    with tempfile.TemporaryDirectory() as folder:
        count = len(next(iter(wanted.values())))
        inputs = next(iter(wanted.values()))
        for name in ("a", "b", "c"):
            with open(os.path.join(folder, name + ".bin"), "wb") as file:
                file.write(struct.pack(f"<{count}I", *(row[name] for row in inputs)))
        with open(os.path.join(FOLDER, "expressions.cu"), encoding="utf-8") as file:
            source = file.read()
        with open(os.path.join(folder, "expressions.cu"), "w", encoding="utf-8") as file:
            file.write(source)
        launches = [{"kernel": name, "grid": [1], "block": [count],
                     "args": [f"r:f32[{count}]"] + [f"{one}:f32[{count}]={one}.bin" for one in ("a", "b", "c")],
                     "save": {"r": name + ".bin"}} for name in wanted]
        with open(os.path.join(folder, "spec.json"), "w", encoding="utf-8") as file:
            json.dump({"file": "expressions.cu", "launches": launches}, file)
        subprocess.run([program, "model", "--spec", "spec.json", "--compiler", "nvcc", "-q", "-o", "table"], cwd=folder, check=True)
        wrong = []
        for name, rows in wanted.items():
            with open(os.path.join(folder, name + ".bin"), "rb") as file:
                found = struct.unpack(f"<{count}I", file.read())
            wrong += [f"{name}: {value:08x}, not {row['result']:08x}" for value, row in zip(found, rows) if value != row["result"]]
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]))
