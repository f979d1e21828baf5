"""Holds the lines that a GPU measures to the model's; see lines_check.sh.

lines_check.py BUILD WORK [PROGRAM...]
"""
import csv
import io
import os
import subprocess
import sys
import time

build, work, programs = sys.argv[1], sys.argv[2], sys.argv[3:]
warpmeter = os.path.join(build, "warpmeter")
failures = 0

# Small sizes of every family: the lines are the same, and the model is done in seconds.
catalogue = [("transpose", "1024"), ("reduction", "1048576"), ("matmul", "256"), ("vector_add", "1000000"),
             ("smem_square", None), ("smem_rectangle", None)]


def run(words, **options):
    begin = time.monotonic()
    result = subprocess.run([str(word) for word in words], capture_output=True, text=True, **options)
    return result, time.monotonic() - begin


def rows(database, sql):
    result, _ = run([warpmeter, "query", "--db", database, "--format", "csv", sql])
    if result.returncode != 0:
        sys.exit(f"lines_check: {result.stderr}")
    return list(csv.DictReader(io.StringIO(result.stdout)))


def check(holds, text):
    global failures
    failures += not holds
    print(f"{'ok  ' if holds else 'FAIL'} {text}", flush=True)


def lines_of(database):
    """Lines of each launch by (variant, size, file, line, access)."""
    sql = ("SELECT family || '/' || variant AS variant, kernel, coalesce(size, 0) AS size, file, line, text, access, "
           "requests, transactions, ideal, lines.grade AS grade FROM lines JOIN launches USING (run_id, launch_id)")
    return {(row["variant"], row["size"], row["file"], row["line"], row["access"]): row for row in rows(database, sql)}


def compare(measured, model, name):
    """Prints what differs; returns how many of the model's exact lines were compared, and how many were equal."""
    compared = equal = 0
    for key, row in sorted(model.items()):
        if row["grade"] != "exact":
            continue
        compared += 1
        other = measured.get(key)
        fields = ("requests", "transactions", "ideal")
        differences = [f"{field} {other[field]} measured, {row[field]} model" for field in fields
                       if other is not None and other[field] != row[field]]
        if other is None:
            differences = [f"not measured: {row['requests']} requests on the model"]
        equal += not differences
        if differences:
            print(f"     {name} {' '.join(key)}: {'; '.join(differences)}")
    for key, row in sorted(measured.items()):
        if key not in model:
            print(f"     {name} {' '.join(key)}: only measured, {row['requests']} requests")
    return compared, equal


def check_catalogue():
    total = same = launches = 0
    with_lines = without = 0.0
    for family, size in catalogue:
        words = [warpmeter, "run", family, "--no-progress", "--counters-only"] + (["-n", size] if size else [])
        gpu, model, plain = (os.path.join(work, f"{family}.{kind}.db") for kind in ("gpu", "model", "plain"))
        result, seconds = run(words + ["-b", "cupti", "--lines", "--db", gpu])
        with_lines += seconds
        # What is said of lines on standard error: a variant that has none, with the reason.
        for text in result.stderr.splitlines():
            if "no lines" in text:
                print(f"     {text}")
        check(result.returncode == 0, f"run {family} --lines exits 0 (it said {result.returncode})")
        if result.returncode != 0:
            print(result.stderr[-2000:])
        _, seconds = run(words + ["-b", "cupti", "--db", plain])
        without += seconds
        run(words + ["-b", "model", "--arch", "sm_90", "--db", model])
        measured = lines_of(gpu)
        compared, equal = compare(measured, lines_of(model), family)
        check(compared > 0 and equal == compared, f"{family}: {equal} of {compared} exact lines of the model measured")
        check(all(row["grade"] == "measured" for row in measured.values()), f"{family}: the grade is 'measured'")
        check(all(row["text"] for row in measured.values()), f"{family}: every line has its text")
        total, same = total + compared, same + equal
        launches += len({(row["variant"], row["size"]) for row in measured.values()})
    return total, same, launches, with_lines, without


def check_program(program):
    name = os.path.basename(program)
    database, model = os.path.join(work, name + ".gpu.db"), os.path.join(work, name + ".model.db")
    result, with_lines = run([warpmeter, "profile", "--lines", "--db", database, program])
    plain, without = run([program])
    _, summary = run([warpmeter, "profile", "-q", "--db", os.path.join(work, name + ".plain.db"), program])
    if name == "without_lines":
        check("-lineinfo" in result.stderr, "without -lineinfo it says so")
        return None
    check(result.returncode == plain.returncode, f"profile --lines {name} exits as the program ({plain.returncode})")
    run([warpmeter, "profile", "-q", "-b", "model", "--lines", "--db", model, program])
    measured, counted = lines_of(database), {}
    # The model has the lines of every launch, the GPU those of the first of each kernel.
    for row in rows(model, "SELECT family || '/' || variant AS variant, kernel, coalesce(size, 0) AS size, file, line, "
                           "text, access, requests, transactions, ideal, lines.grade AS grade FROM lines JOIN launches "
                           "USING (run_id, launch_id) WHERE launch_id IN (SELECT min(launch_id) FROM launches GROUP BY "
                           "kernel)"):
        counted[(row["variant"], row["size"], row["file"], row["line"], row["access"])] = row
    compared, equal = compare(measured, counted, name)
    if compared == 0:
        print(result.stderr[-1500:])
    check(compared > 0 and equal == compared, f"profile {name}: {equal} of {compared} exact lines of the model measured")
    kernels = len({row["kernel"] for row in measured.values()})
    return name, compared, equal, kernels, plain and with_lines, summary


total, same, launches, with_lines, without = check_catalogue()
table = [("catalogue", total, same, launches, with_lines, without)]
for program in programs:
    row = check_program(program)
    if row:
        table.append(row)
print(f"\n{'':20} {'exact lines':>12} {'equal':>6} {'launches':>9} {'with --lines':>13} {'without':>8} {'each':>7}")
for name, compared, equal, count, seconds, base in table:
    each = (seconds - base) / count if count else 0
    print(f"{name:20} {compared:12} {equal:6} {count:9} {seconds:11.1f} s {base:6.1f} s {each:5.2f} s")
print(f"lines_check: {failures} failed" if failures else "lines_check: all hold")
sys.exit(1 if failures else 0)
