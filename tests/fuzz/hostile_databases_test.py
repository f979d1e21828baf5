# SPDX-License-Identifier: MIT
"""Databases, files with paths in them and programs that a stranger changed, read by warpmeter's commands.

The databases are valid SQL with false contents. No command may end by a signal, take 20 s or 1 GB;
its exit code is one of the program's, and what it calls JSON is JSON. The kind and number of an input
are the seed of all that is random in it:  hostile_databases_test.py WARPMETER FORKED_COMMANDS [KIND NUMBER]

FORKED_COMMANDS is the program of forked_commands.cpp, which spares the commands their start. Programs need a
start each, and are few: hostile_files_test reads as many as the others within its own process.
"""
import concurrent.futures
import json
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile

WARPMETER, FORKED_COMMANDS = (os.path.abspath(path) for path in sys.argv[1:3])
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
            ["query", "SELECT * FROM results"], ["query", "SELECT * FROM launches", "--format", "json"],
            ["query", "SELECT * FROM lines"], ["query", "SELECT * FROM remedies"], ["explain", "--run", "3"],
            ["report", "--run", "3"], ["compare", "1", "3"], ["compare", "--run", "3", "--by", "variant", "naive", "copy"], ["list", "runs"]]
FAMILY = """family: a
file: {file}
{more}sizes: [{size}]
arguments: ['out:f32[{count}]', 'in:f32[{count}]={fill}']
variants:
  k: {{kernel: k, grid: ['{grid}'], block: [{block}]}}
"""
SPEC = """file: {file}
{more}launches:
  - {{kernel: k, grid: [1], block: [{block}], args: ['f32[64]', 'p:f32[64]={fill}']}}
"""
PATHS = ["k.ptx", "k.cu", "/etc/passwd", "../../../../etc/passwd", "/dev/zero", "pipe", ".", "", "k.ptx/../..",
         "x" * 5000, "link"]


class Commands:
    """The program that runs command lines, with the folder that its answers lie in."""

    def __init__(self, folder):
        self.folder = folder
        self.process = subprocess.Popen([FORKED_COMMANDS, os.path.join(folder, "base.db"), str(MOST_SECONDS)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")

    def run(self, words):
        """The exit code and output; fails for a signal, and for what takes too long or too much."""
        output = os.path.join(self.folder, "output")
        self.process.stdin.write(json.dumps({"folder": self.folder, "output": output, "words": words}) + "\n")
        self.process.stdin.flush()
        code, kilobytes = map(int, self.process.stdout.readline().split())
        with open(output, "rb") as file, open(output + ".error", "rb") as messages:
            text, message = file.read(), messages.read()
        assert code != -signal.SIGALRM, f"{words} took more than {MOST_SECONDS} s"
        assert 0 <= code <= 6, f"{words} ended with {code}: {message[-2000:]!r}"
        assert kilobytes < MOST_KILOBYTES, f"{words} took {kilobytes} kB"
        return code, text


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
    database.execute("PRAGMA synchronous = OFF")
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


def test_database(commands, rand):
    path = os.path.join(commands.folder, "a.db")
    shutil.copy(os.path.join(commands.folder, "base.db"), path)
    change(path, rand)
    words = rand.choice(COMMANDS)
    code, output = commands.run(words + ["--db", "a.db"])
    if code == 0 and "json" in words:
        json.loads(output)


def test_yaml(commands, rand):
    """A family file, or launches for `model --spec`, whose paths lead anywhere."""
    def usually(right, wrong):  # most files are read beyond their first fault
        return right if rand.random() < 0.8 else rand.choice(wrong)

    def path(right):
        return json.dumps(usually(right, PATHS))

    is_family = rand.random() < 0.7
    more = rand.choice(["", "", f"include: [{path('.')}]\n", f"cubin: {path('k.cubin')}\n", f"define: {{N: {path('1')}}}\n",
                        f"set: {{g: {path('1')}}}\n"])
    text = (FAMILY if is_family else SPEC).format(
        file=path("k.ptx"), more=more, size=usually(64, NUMBERS), count=usually("n", ["n*n", 2**62, "-1"]),
        fill=usually("iota", ["random"] + [name + ".npy" for name in PATHS]),
        grid=usually("n/32", ["n", "1 << 62", "0"]), block=usually(32, NUMBERS))
    with open(os.path.join(commands.folder, "a.yaml"), "w", encoding="utf-8") as file:
        file.write(text)
    if is_family:
        commands.run(["run", "a.yaml", "--dry-run", "-b", "model"])
    else:
        _, output = commands.run(["model", "--spec", "a.yaml", "--db", "yaml.db"])
        assert b"root:" not in output, output


def test_program(commands, rand):
    folder = commands.folder
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
KINDS = {"database": (test_database, 1000, 20_000), "yaml": (test_yaml, 1000, 20_000), "program": (test_program, 8, 1000)}


def prepare(folder):
    for size in ("32", "64", "32"):
        code, output = run(["run", "transpose", "-n", size, "-b", "model", "-q", "--lines", "--db", "base.db"], folder)
        assert code == 0, output
    code, output = run(["profile", "-b", "model", "-q", "-m", "@default", "--check", "--db", "base.db", PROGRAM], folder)
    assert code in (0, 6), output
    os.mkfifo(os.path.join(folder, "pipe"))
    os.symlink("/etc/passwd", os.path.join(folder, "link"))
    with open(os.path.join(folder, "k.ptx"), "w", encoding="utf-8") as file:
        file.write(".version 8.0\n.target sm_90\n.address_size 64\n.visible .global .u32 g;\n.visible .entry k(.param .u64 p, .param .u64 q)\n{\nret;\n}\n"
                   ".file 1 \"/etc/passwd\"\n")


def test_all(inputs):
    """Runs the inputs in a folder of its own. Returns a sentence for each wrong one, and the most memory of a command."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        prepare(folder)
        commands = Commands(folder)
        for kind, number in inputs:
            try:
                KINDS[kind][0](commands, random.Random(f"{kind} {number}"))
            except (AssertionError, ValueError) as wrong:
                found.append(f"{kind} {number}: {wrong}")
    return found, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss


def main():
    if len(sys.argv) > 4:
        inputs = [(sys.argv[3], int(sys.argv[4]))]
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
