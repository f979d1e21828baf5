# SPDX-License-Identifier: MIT
"""Runs the programs of this folder on the model and says how many are right.

    run.py WARPMETER PYTHON cupy|numba|triton|planted [NAME...]

A script's line `# options: …` has options of `warpmeter profile`: Thrust's sort has PTX for sm_120 alone.
PYTHON is an interpreter that has the frameworks: cupy-cuda13x, numba-cuda[cu13], or torch and
triton. Triton's scripts need PyTorch's CUDA wheel, no GPU.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

from programs import is_right, programs


def main():
    warpmeter, python, kind, *names = sys.argv[1:]
    options = ["--check"] if kind == "planted" else []
    right, all_programs = 0, programs(kind)
    chosen = {name: all_programs[name] for name in names or all_programs}
    with tempfile.TemporaryDirectory() as folder:
        for name, source in chosen.items():
            path = pathlib.Path(folder) / f"{name}.py"
            path.write_text(source)
            own = re.findall(r"^# options: (.*)", source, re.MULTILINE)
            words = [warpmeter, "profile", "-b", "model", "--db", f"{folder}/w.db", *options, *" ".join(own).split()]
            done = subprocess.run(
                words + [python, path], text=True, timeout=300, check=False,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            )
            if is_right(name, source, path, done.stdout, done.returncode):
                right += 1
            else:
                print(f"{name} is wrong\n{done.stdout[-1500:]}")
    print(f"{right} of {len(chosen)} right")
    return 0 if right == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
