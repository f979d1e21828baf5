# SPDX-License-Identifier: MIT
"""Databases, family files and programs that a stranger changed, read by the real program.

The databases are valid SQL with false contents. No command may end by a signal, take 20 s or 1 GB;
its exit code is one of the program's, and what it calls JSON is JSON. The kind and number of an input
are the seed of all that is random in it:  hostile_databases_test.py WARPMETER [KIND NUMBER]

Programs are few, for hostile_files_test reads as many as the others within its own process.
"""
import concurrent.futures
import json
import os
import random
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile

WARPMETER = os.path.abspath(sys.argv[1])
PROGRAM = os.path.join(os.path.dirname(WARPMETER), "tests/runtime/launches_shared")
IN_FULL = bool(os.environ.get("WARPMETER_IN_FULL"))
MOST_SECONDS, MOST_KILOBYTES = 20, 1_000_000

NUMBERS = [0, 1, -1, 2, 7, 255, 2**31 - 1, 2**31, 2**32, 2**53 + 1, 2**63 - 1, -(2**63), 0.5, -1e308, 1e308]
TEXTS = ["", " ", "{", "[", "null", "[1, \"a\"]", "[" * 100_000, "{\"width\": \"x\", \"lanes\": [{\"lane\": -1}]}",
         "{\"width\": 4000000000, \"lanes\": [{\"address\": 1}]}", "x" * 100_000, "\x1b[31m\r\n", "</script><b>", "%s%n{}",
         "../../../../etc/passwd", "/dev/zero", "vector 9223372036854775807", "done", "failed", "4294967295x1x1", "a/b[c=1]"]
COMMANDS = [["explain", "--format", "json"], ["explain"], ["explain", "--format", "html"], ["report"],
            ["report", "--format", "json"], ["report", "--format", "html"], ["check"], ["history", "transpose/naive"],
            ["query", "SELECT * FROM comparison"], ["query", "SELECT * FROM findings", "--format", "json"],
            ["compare", "1", "2"], ["list", "runs"]]
YAML = """family: a
file: {file}
sizes: [{size}]
arguments: ['out:f32[{count}]', 'in:f32[{count}]={fill}']
include: [{include}]
variants:
  k: {{kernel: k, grid: ['{grid}'], block: [{block}]}}
"""
PATHS = ["k.ptx", "k.cu", "/etc/passwd", "../../../../etc/passwd", "/dev/zero", "pipe", ".", "", "k.ptx/../..",
         "x" * 5000, "link"]


def run(words, folder):
    """Its exit code and output; fails for a signal, and for what takes too long or too much."""
    child = subprocess.Popen([WARPMETER] + words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT if "json" not in words else subprocess.DEVNULL)
    try:
        output, _ = child.communicate(timeout=MOST_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()
        raise AssertionError(f"{words} took more than {MOST_SECONDS} s") from None
    assert 0 <= child.returncode <= 6, f"{words} ended with {child.returncode}: {output[-2000:]!r}"
    return child.returncode, output


def change(path, rand):
    """Puts one to three false values into the database's tables."""
    database = sqlite3.connect(path)
    database.execute("PRAGMA ignore_check_constraints = ON")
    tables = [row[0] for row in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 't_%'")]
    changes = 0
    while changes < rand.randint(1, 3):
        table = rand.choice(tables)
        columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
        column = rand.choice(columns)
        value = rand.choice(rand.choice([NUMBERS, TEXTS, [None]]))
        where = rand.choice(["", "WHERE rowid % 3 = 0", f"WHERE {column} IS NOT NULL"])
        try:
            if rand.random() < 0.1:
                value = rand.choice(["DELETE", "OTHERS"])
                database.execute(f"DELETE FROM {table} {where}")
            elif rand.random() < 0.1:
                database.execute(f"UPDATE {table} SET {column} = CAST(x'fffe41' AS TEXT) {where}")
            else:
                database.execute(f"UPDATE {table} SET {column} = ? {where}", (value,))
            changes += 1
        except sqlite3.Error:  # another type, or a key that is there already
            pass
    database.commit()
    database.close()


def test_database(folder, rand):
    shutil.copy(os.path.join(folder, "base.db"), os.path.join(folder, "a.db"))
    change(os.path.join(folder, "a.db"), rand)
    words = rand.choice(COMMANDS)
    code, output = run(words + ["--db", "a.db"], folder)
    if code == 0 and "json" in words:
        json.loads(output)


def test_yaml(folder, rand):
    text = YAML.format(file=json.dumps(rand.choice(PATHS)), size=rand.choice(NUMBERS), count=rand.choice(["n", "n*n", 2**62, "-1"]),
                       fill=rand.choice(["iota", "random"] + [path + ".npy" for path in PATHS[:6]]),
                       include=json.dumps(rand.choice(PATHS)), grid=rand.choice(["n/32", "n", "1 << 62", "0"]),
                       block=rand.choice(NUMBERS))
    with open(os.path.join(folder, "a.yaml"), "w", encoding="utf-8") as file:
        file.write(text)
    run(["run", "a.yaml", "--dry-run", "-b", "model"], folder)


def test_program(folder, rand):
    with open(PROGRAM, "rb") as file:
        code = bytearray(file.read())
    places = [at for at in range(0, len(code) - 80, 8) if code[at:at + 4] == b"\x50\xed\x55\xba"]
    for _ in range(rand.randint(1, 3)):
        at, width = rand.choice(places), rand.choice([2, 4, 8])
        at += rand.choice([6, 8, 16, 20, 24, 32, 40, 44, 56, 72])
        code[at:at + width] = (rand.choice(NUMBERS[:12]) % 2**(8 * width)).to_bytes(width, "little")
    path = os.path.join(folder, "program")
    with open(path, "wb") as file:
        file.write(code)
    os.chmod(path, 0o755)
    run(["doctor", "./program"], folder)
    run(["profile", "-b", "model", "--db", "p.db", "./program"], folder)


# Each with its inputs in every test run, and in full.
KINDS = {"database": (test_database, 56, 20_000), "yaml": (test_yaml, 16, 20_000), "program": (test_program, 8, 1000)}


def prepare(folder):
    for size in ("32", "64"):
        code, output = run(["run", "transpose", "-n", size, "-b", "model", "-q", "--lines", "--db", "base.db"], folder)
        assert code == 0, output
    os.mkfifo(os.path.join(folder, "pipe"))
    os.symlink("/etc/passwd", os.path.join(folder, "link"))
    with open(os.path.join(folder, "k.ptx"), "w", encoding="utf-8") as file:
        file.write(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\nret;\n}\n"
                   ".file 1 \"/etc/passwd\"\n")


def test_all(inputs):
    """Runs the inputs in a folder of its own. Returns a sentence for each wrong one, and the most memory of a command."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        prepare(folder)
        for kind, number in inputs:
            try:
                KINDS[kind][0](folder, random.Random(f"{kind} {number}"))
            except (AssertionError, ValueError) as wrong:
                found.append(f"{kind} {number}: {wrong}")
    return found, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss


def main():
    if len(sys.argv) > 3:
        inputs = [(sys.argv[2], int(sys.argv[3]))]
    else:
        inputs = [(kind, number) for kind, (_, some, all_of_them) in KINDS.items()
                  for number in range(all_of_them if IN_FULL else some)]
    workers = len(os.sched_getaffinity(0)) if IN_FULL else 1
    parts = [inputs[first::workers] for first in range(workers)]
    with concurrent.futures.ProcessPoolExecutor(workers) as pool:
        results = list(pool.map(test_all, parts))
    wrong = [sentence for found, _ in results for sentence in found]
    most = max(memory for _, memory in results)
    if most >= MOST_KILOBYTES:
        wrong.append(f"a command took {most} kB")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
