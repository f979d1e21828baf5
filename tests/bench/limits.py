# SPDX-License-Identifier: MIT
"""Limits on databases of a million metric rows and 10,000 launches: how long the commands take and how
much memory they need, as processes, against their limits. Exits 1 when one is not kept.

    limits.py WARPMETER MAKE_DATABASE [FOLDER]

The database has 100 runs of 100 launches, or one run of 10,000 (as of a profiled program); two runs of 5,000
are compared. FOLDER (else a temporary one) keeps the databases for the next call.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

MEMORY_LIMIT_MB = 300


def measured(words, repeats, exit_code=0):
    """The best time and processor time, in seconds, and the peak memory, in MB (10⁶ bytes)."""
    seconds, processor, memory = [], [], 0
    for _ in range(repeats):
        begin = time.monotonic()
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        seconds.append(time.monotonic() - begin)
        processor.append(usage.ru_utime + usage.ru_stime)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != exit_code:
            sys.exit(f"{' '.join(words)}: exit code {process.returncode}")
        memory = max(memory, usage.ru_maxrss * 1024 / 1e6)
    return min(seconds), min(processor), memory


def databases(make, folder):
    shapes = {"runs": [100, 100, 100], "again": [100, 100, 100], "one": [1, 10_000, 1000], "two": [2, 5000, 1000]}
    for name, shape in shapes.items():
        path = folder / f"{name}.db"
        if not path.exists():
            subprocess.run([make, path, *map(str, shape), "100"], check=True)
        yield str(path)


def main(program, make, folder):
    runs, again, one, two = databases(make, folder)
    merged = folder / "merged.db"
    page = str(folder / "page.html")
    limits = [
        ("report, 100 runs", ["report", "--db", runs], 1),
        ("report, one run", ["report", "--db", one], 1),
        ("report --format html, one run", ["report", "--db", one, "--format", "html", "-o", page], 1),
        ("explain, one run", ["explain", "--db", one], 1),
        ("explain --what-if, one run", ["explain", "--what-if", "--db", one], None),
        ("compare, 100 runs", ["compare", "--db", runs, "last~1", "last"], 1),
        ("compare, two runs", ["compare", "--db", two, "last~1", "last"], 1),
        ("query comparison, one run", ["query", "comparison", "--db", one, "--format", "csv"], 0.2),
        ("query comparison, one family",
         ["query", "comparison", "--db", runs, "--where", "family='family_3'", "--format", "markdown"], 0.2),
        ("merge of two", ["merge", runs, again, "-o", str(merged), "-q"], 10),
        ("history", ["history", "family_3/variant_3", "--db", runs], None),
        ("results as CSV, one run", ["query", "results", "--db", one, "--format", "csv"], None),
    ]
    print("| a million rows                | time (s) | limit (s) | on processors (s) | memory (MB) | limit (MB) |")
    print("| ----------------------------- | -------: | --------: | ----------------: | ----------: | ---------: |")
    broken = 0
    for name, words, limit in limits:
        for ending in ["", "-wal", "-shm"]:
            pathlib.Path(f"{merged}{ending}").unlink(missing_ok=True)
        # A second merge would find everything there.
        seconds, processor, memory = measured([program, *words], 1 if words[0] == "merge" else 3)
        broken += (limit is not None and seconds > limit) or memory > MEMORY_LIMIT_MB
        shown = "–" if limit is None else f"{limit:g}"
        print(f"| {name:<29} | {seconds:8.3f} | {shown:>9} | {processor:17.3f} | {memory:11.0f} | {MEMORY_LIMIT_MB:10} |",
              flush=True)
    return 1 if broken else 0


if __name__ == "__main__":
    if len(sys.argv) == 4:
        pathlib.Path(sys.argv[3]).mkdir(parents=True, exist_ok=True)
        sys.exit(main(sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])))
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as temporary:
        sys.exit(main(sys.argv[1], sys.argv[2], pathlib.Path(temporary)))
