# SPDX-License-Identifier: MIT
"""Records what the scripts of this folder print and how they end, one JSON object a line: on a GPU, or on the model.

    outcomes.py record RESULT PYTHON FOLDER [--model WARPMETER | --ranges] [--at-once N] [--seconds N] [--only REPOSITORY|SCRIPT]...
    outcomes.py compare GPU MODEL

`record`: the scripts of public.csv (FOLDER as for public.py) and our own lists of CuPy, Numba and Triton. Without --model each
runs natively; PyTorch computes its operators on the GPU then, and benchmarks are left out as on the model. With --ranges, for counts.py,
each is in an NVTX range of its name, and PyTorch's operators are on the CPU. `compare` prints a line for each script whose exit
code, verdict or text differs, and a table. Times, addresses, folders and warnings are not text.
"""
import argparse
import concurrent.futures
import csv
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time

from programs import programs
from public import HERE, environment, rows, script_and_arguments

KINDS = ("cupy", "numba", "triton")
MOST_TEXT = 3000
NOTHING_MEASURED = 3  # warpmeter's exit code where a program launches nothing


def native_words(words):
    """torch_on_cpu.py's scripts with PyTorch's operators where they belong."""
    return [HERE / "torch_on_gpu.py", *words[1:]] if words[0] == HERE / "torch_on_cpu.py" else words


def variables_of_a_range(words, variables):
    """CuPy's sums are kernels with PTX, as on the model."""
    by = "torch" if words[0] == HERE / "torch_on_cpu.py" else "cupy"
    return (variables or os.environ) | {"RANGES_BY": by, "CUPY_SEED": "1", "CUPY_ACCELERATORS": ""}


def ranged(name, words, variables):
    """Words and environment for the same in a range."""
    return [HERE / "in_range.py", name, *words], variables_of_a_range(words, variables)


def public_rows(chosen):
    """Names and rows of public.csv, in the order of `chosen`, which are repositories and names; all when it is empty."""
    named = {f"{row['repository']} {row['script']}": row for row in rows("", [])}
    names = [name for one in chosen for name, row in named.items() if one in (name, row["repository"])] if chosen else named
    return [(name, named[name]) for name in dict.fromkeys(names)]


def jobs(folder, chosen):
    """Name, words behind the interpreter, working folder, options and environment of each."""
    for name, row in public_rows(chosen):
        checkout = (pathlib.Path(folder) / row["repository"].split("/")[1]).resolve()
        path = checkout / row["script"]
        is_test = row["prints"] == "passed"
        yield (name, script_and_arguments(row, path),
               checkout if row["on_cpu"] and is_test else path.parent, shlex.split(row["options"]), environment(row, checkout))
    for kind in KINDS:
        if chosen and kind not in chosen:
            continue
        for name, source in programs(kind).items():
            path = pathlib.Path(folder) / "own" / f"{kind}_{name}.py"
            path.parent.mkdir(exist_ok=True)
            path.write_text(source)
            options = " ".join(re.findall(r"^# options: (.*)", source, re.MULTILINE))
            yield f"{kind} {name}", [path], path.parent, shlex.split(options), None


def run(arguments, job, end):
    name, words, where, options, variables = job
    before = []
    with tempfile.TemporaryDirectory() as work:
        if arguments.model:
            before = [arguments.model, "profile", "-b", "model", "-q", "--db", f"{work}/w.db", *options]
        elif arguments.ranges:
            words, variables = ranged(name, words, variables)
        else:
            words = native_words(words)
        begin = time.monotonic()
        try:
            done = subprocess.run([*before, arguments.python, "-W", "ignore", *words], text=True, errors="replace", cwd=where, env=variables,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                                  timeout=max(1.0, min(arguments.limit, end - begin)))
            code, output, errors = done.returncode, done.stdout, done.stderr
            if arguments.model and code == NOTHING_MEASURED and "launched no kernel" in errors:
                code = 0
        except subprocess.TimeoutExpired as late:
            code, output, errors = "late", (late.stdout or b"").decode(errors="replace"), ""
    return {"program": name, "code": code, "text": output[-MOST_TEXT:], "errors": errors[-MOST_TEXT // 3:],
            "seconds": round(time.monotonic() - begin, 1)}


def record(arguments):
    end = time.monotonic() + arguments.seconds
    known = set()
    if pathlib.Path(arguments.result).exists():
        known = {json.loads(line)["program"] for line in pathlib.Path(arguments.result).read_text().splitlines()}
    left = [job for job in jobs(arguments.folder, arguments.chosen) if job[0] not in known]
    with open(arguments.result, "a", encoding="utf-8") as file, \
            concurrent.futures.ThreadPoolExecutor(arguments.at_once) as pool:
        def one(job):
            return run(arguments, job, end) if time.monotonic() < end else None
        for outcome in pool.map(one, left):
            if outcome:
                print(json.dumps(outcome, ensure_ascii=False), file=file, flush=True)
                print(outcome["program"], outcome["code"], outcome["seconds"], flush=True)


NOT_TEXT = [
    (r"\x1b\[[0-9;]*m", ""),
    (r"(in )?\d+(\.\d+)?(e-?\d+)? ?(s|sec|seconds|ms|us|µs)\b( \(\d+:\d+:\d+\))?", "TIME"),
    (r"0x[0-9a-f]+", "ADDRESS"),
    (r"(/[\w.+-]+)+/", ""),
    (r", \d+ warnings?", ""),
    (r"=+ warnings summary =+.*?(?==+ |\d+ passed|\Z)", ""),
]


def text_of(outcome):
    text = outcome["text"]
    for pattern, instead in NOT_TEXT:
        text = re.sub(pattern, instead, text, flags=re.DOTALL)
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def numbers_apart(one, other):
    """The largest relative difference, where the texts are the same but for floating-point numbers; else None."""
    number = r"-?\d+\.\d*(?:e[+-]?\d+)?"
    if re.sub(number, "#", one) != re.sub(number, "#", other):
        return None
    pairs = zip(map(float, re.findall(number, one)), map(float, re.findall(number, other)))
    return max((abs(a - b) / max(abs(a), abs(b), 1e-30) for a, b in pairs), default=0.0)


def verdict(gpu, model):
    if gpu["code"] != model["code"]:
        return f"ends with {model['code']} instead of {gpu['code']}"
    one, other = "\n".join(text_of(gpu)), "\n".join(text_of(model))
    if one == other:
        return "same"
    apart = numbers_apart(one, other)
    return "other text" if apart is None else f"numbers differ by {apart:.0e}"


def compare(arguments):
    def read(path):
        return {one["program"]: one for one in map(json.loads, pathlib.Path(path).read_text().splitlines())}
    gpu, model = read(arguments.gpu), read(arguments.on_model)
    table = {}
    for name in gpu:
        kind = name.split()[0]
        what = verdict(gpu[name], model[name]) if name in model else "was not run"
        counts = table.setdefault(kind, {"same": 0, "numbers differ": 0, "other": 0})
        counts["same" if what == "same" else "numbers differ" if what.startswith("numbers") else "other"] += 1
        if what != "same":
            print(f"{name}: {what}")
            if what == "other text":
                print(f"  GPU: {text_of(gpu[name])[-3:]}\n  model: {text_of(model[name])[-3:]}")
    writer = csv.writer(sys.stdout)
    writer.writerow(["scripts", "same", "numbers differ", "other"])
    writer.writerows([kind, *counts.values()] for kind, counts in table.items())


def main():
    parser = argparse.ArgumentParser()
    verbs = parser.add_subparsers(required=True)
    verb = verbs.add_parser("record")
    verb.add_argument("result")
    verb.add_argument("python")
    verb.add_argument("folder")
    verb.add_argument("--only", action="append", dest="chosen", default=[])
    verb.add_argument("--model")
    verb.add_argument("--ranges", action="store_true")
    verb.add_argument("--at-once", type=int, default=1)
    verb.add_argument("--seconds", type=float, default=1e6)
    verb.add_argument("--limit", type=float, default=600)
    verb.set_defaults(act=record)
    verb = verbs.add_parser("compare")
    verb.add_argument("gpu")
    verb.add_argument("on_model")
    verb.set_defaults(act=compare)
    arguments = parser.parse_args()
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    os.environ.setdefault("CUPY_ACCELERATORS", "")  # CuPy's sums are its own kernels, as on the model
    arguments.act(arguments)


if __name__ == "__main__":
    main()
