# SPDX-License-Identifier: MIT
"""Runs scripts that others wrote (public.csv), unmodified, on the model, and says how many are right.

    public.py WARPMETER PYTHON FOLDER [REPOSITORY [SCRIPT...]]

FOLDER holds a checkout of each repository at its commit, in a folder of the repository's name. PYTHON has the
framework, pytest and filecheck. A script is right if it ends with 0, as those do that assert, and prints what the table
says. It ends with 3 where it launches nothing but cuRAND's generators.
The columns: `on_cpu`, the framework whose own operators are computed on the CPU (torch_on_cpu.py); `options`, those of
`warpmeter profile`; `needs`, a library that has no PTX or an instruction that the model has not: without a GPU the script ends
with an error. Liger-Kernel's tests also need transformers. Triton's tutorials need tabulate, and the libdevice in their
repository's third_party. FOLDER holds only numba_cuda/numba/cuda/tests and testing of numba-cuda: else pytest imports it.
"""
import csv
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent


def rows(repository, scripts):
    with open(HERE / "public.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if repository in ("", row["repository"]) and (not scripts or row["script"] in scripts):
                yield row


def environment(row, checkout):
    """With the folders on PYTHONPATH that the repository's tests import from."""
    folder = {"linkedin/Liger-Kernel": "src", "NVIDIA/numba-cuda": "testing"}.get(row["repository"])
    if folder is None:
        return None
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [str(checkout / folder), os.environ.get("PYTHONPATH")]))}


def script_and_arguments(row, path):
    """The words behind the interpreter."""
    arguments = shlex.split(row["arguments"])
    is_test = row["prints"] == "passed"
    plugin = ["-p", "conftest"] if row["repository"] == "NVIDIA/numba-cuda" else []
    words = ["-m", "pytest", "-q", *plugin, path, *arguments] if is_test else [*arguments, path] if row["on_cpu"] else [path, *arguments]
    return [HERE / "torch_on_cpu.py", *words] if row["on_cpu"] else words


def main():
    warpmeter, python, folder, *chosen = sys.argv[1:]
    repository, scripts = (chosen[0], chosen[1:]) if chosen else ("", [])
    right = count = expected = 0
    unexpected = []
    with tempfile.TemporaryDirectory() as work:
        for row in rows(repository, scripts):
            checkout = (pathlib.Path(folder) / row["repository"].split("/")[1]).resolve()
            path = checkout / row["script"]
            begin = time.monotonic()
            try:
                done = subprocess.run(
                    [warpmeter, "profile", "-b", "model", "-q", "--db", f"{work}/w.db", *shlex.split(row["options"]),
                     python, "-W", "ignore", *script_and_arguments(row, path)],
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600, check=False,
                    env=environment(row, checkout), cwd=checkout if row["on_cpu"] and row["prints"] == "passed" else path.parent)
                ended_well = done.returncode == 0 or (done.returncode == 3 and "launched no kernel" in done.stdout)
                is_right = ended_well and row["prints"] in done.stdout
                lines = [line for line in done.stdout.splitlines() if re.search(r"Error|FAILED|first CUDA call", line)]
            except subprocess.TimeoutExpired:
                is_right, lines = False, ["it did not end in 600 s"]
            count, right = count + 1, right + is_right
            expected += not row["needs"]
            if is_right == bool(row["needs"]):
                unexpected.append(row["script"])
            print(f"{row['script']} {'right' if is_right else 'wrong: ' + ' | '.join(lines[-2:])[:300]} "
                  f"({time.monotonic() - begin:.0f} s)", flush=True)
    print(f"{right} of {count} right, {expected} expected")
    print(*(f"not as the table says: {script}" for script in unexpected), sep="\n")
    return 0 if count and not unexpected else 1


if __name__ == "__main__":
    sys.exit(main())
