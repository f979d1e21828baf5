# SPDX-License-Identifier: MIT
"""The scripts of this folder by kind and name, and the judgement of what they print."""
import importlib
import pathlib
import re

HERE = pathlib.Path(__file__).parent
HEAD = """import numpy as np
{imports}
R = np.random.default_rng(1)
def host(x): return x.get() if hasattr(x, "get") else np.asarray(x)
def eq(a, b): assert np.array_equal(host(a), host(b)), (host(a), host(b))
def close(a, b):
    error = 1e-2 if host(b).dtype == np.float16 else 1e-5
    assert np.allclose(host(a), host(b), error), (host(a), host(b))
"""
IMPORTS = {
    "cupy": "import cupy as cp",
    "numba": "import math\nfrom numba import cuda, float32, int32, vectorize, guvectorize",
}
FINDING = re.compile(r"^\w.*  (mistake|risk|doubt) ", re.MULTILINE)
FOUND_MISTAKES = 6  # the exit code of --check


def programs(kind):
    if kind not in IMPORTS:
        return importlib.import_module(f"{kind}_programs").PROGRAMS
    parts = (HERE / f"{kind}.txt").read_text().split("## ")[1:]
    head = HEAD.format(imports=IMPORTS[kind])
    return {
        name: head + body + 'print("right")\n'
        for name, body in (part.split("\n", 1) for part in parts)
    }


def is_right(name, source, path, output, exit_code):
    """True if it prints that it is right; of planted ones if the finding is at its line, and the exit code tells of it."""
    if "HERE" not in source:
        return "\nright" in "\n" + output
    if exit_code != (0 if name.endswith("_good") else FOUND_MISTAKES):
        return False
    findings = [line for line in output.splitlines() if FINDING.match(line)]
    if name.endswith("_good"):
        return not findings and "Error" not in output
    line = 1 + source[: source.index("HERE")].count("\n")
    return any(f"{path.name}:{line}" in finding for finding in findings)
