# SPDX-License-Identifier: MIT
"""Holds the lines that a GPU measures to the model's; see lines_check.sh.

lines_check.py BUILD WORK [PROGRAM...]
"""
import csv
import os
import subprocess
import sys
import time

from checking import Checking

build, work, programs = sys.argv[1], sys.argv[2], sys.argv[3:]
warpmeter = os.path.join(build, "warpmeter")
check = Checking(warpmeter)

# Small sizes of every family: the lines are the same, and the model is done in seconds.
catalogue = [("transpose", "1024"), ("reduction", "1048576"), ("matmul", "256"), ("vector_add", "1000000"),
             ("smem_square", None), ("smem_rectangle", None)]


def run(words, **options):
    begin = time.monotonic()
    result = subprocess.run([str(word) for word in words], capture_output=True, text=True, **options)
    return result, time.monotonic() - begin


def lines_of(database, variant="family || '/' || variant"):
    """Lines of each launch by (variant, size, file, line, access)."""
    sql = (f"SELECT {variant} AS variant, kernel, coalesce(size, 0) AS size, file, line, text, access, "
           "requests, transactions, ideal, lines.grade AS grade FROM lines JOIN launches USING (run_id, launch_id)")
    return {(row["variant"], row["size"], row["file"], row["line"], row["access"]): row for row in check.rows(database, sql)}


def sums(lines):
    """Requests and transactions of each launch and kind of access, over its lines."""
    total = {}
    for (variant, size, _, _, access), row in lines.items():
        sum_of = total.setdefault((variant, size, access), [0, 0])
        sum_of[0] += int(row["requests"])
        sum_of[1] += int(row["transactions"])
    return total


class Comparison:
    """The lines that the model calls exact: requests and transactions. For inlined code of another file the model
    names the line of the call and CUPTI the code's own, so what one of them alone has is added up over the launch.
    The ideal is a definition, and NVIDIA's is another one where lanes are idle or share addresses: told, and no
    failure."""

    def __init__(self, measured, model, name):
        exact = {key: row for key, row in model.items() if row["grade"] == "exact"}
        common = exact.keys() & measured.keys()
        self.lines, self.at_place, self.equal, self.ideal = len(exact), len(common), 0, 0
        for key in sorted(common):
            differences = [f"{field} {measured[key][field]} measured, {exact[key][field]} model"
                           for field in ("requests", "transactions", "ideal") if measured[key][field] != exact[key][field]]
            self.ideal += measured[key]["ideal"] == exact[key]["ideal"]
            self.equal += not any(not text.startswith("ideal") for text in differences)
            if differences:
                print(f"     {name} {' '.join(key)}: {'; '.join(differences)}")
        moved = sums({key: exact[key] for key in exact.keys() - common})
        others = sums({key: measured[key] for key in measured.keys() - model.keys()})
        self.same_sums = moved == others
        if moved:
            print(f"     {name}: {self.lines - self.at_place} lines of the model are in inlined functions, sums by launch "
                  f"and access {'equal' if self.same_sums else f'differ: {moved} on the model, {others} measured'}")

    def holds(self):
        return self.lines > 0 and self.equal == self.at_place and self.same_sums

    def counts(self):
        return [self.lines, self.at_place, self.equal, self.ideal]

    def in_words(self):
        return (f"requests and transactions of {self.equal} of {self.at_place} exact lines equal the model's, the ideal "
                f"of {self.ideal}; {self.lines - self.at_place} more elsewhere")


def check_catalogue():
    counts, launches, with_lines, without = [0, 0, 0, 0], 0, 0.0, 0.0
    for family, size in catalogue:
        words = [warpmeter, "run", family, "--no-progress", "--counters-only"] + (["-n", size] if size else [])
        gpu, model, plain = (os.path.join(work, f"{family}.{kind}.db") for kind in ("gpu", "model", "plain"))
        result, seconds = run(words + ["-b", "cupti", "--lines", "--db", gpu])
        with_lines += seconds
        # Standard error says this about lines: a variant that has none, with the reason.
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
        comparison = Comparison(measured, lines_of(model), family)
        check(comparison.holds(), f"{family}: {comparison.in_words()}")
        check(all(row["grade"] == "measured" for row in measured.values()), f"{family}: the grade is 'measured'")
        check(all(row["text"] for row in measured.values()), f"{family}: every line has its text")
        coded = {row["form"]: int(row["n"]) for row in check.rows(
            gpu, "SELECT form, count(DISTINCT kernel) AS n FROM codes GROUP BY form")}
        kernels = len({row["kernel"] for row in measured.values()})
        check(all(coded.get(form, 0) >= kernels > 0 for form in ("PTX", "machine code")),
              f"{family}: PTX and machine code of {coded} kernels, {kernels} with lines")
        counts = [a + b for a, b in zip(counts, comparison.counts())]
        launches += len({(row["variant"], row["size"]) for row in measured.values()})
    return counts, launches, with_lines, without


def shares(database, variant):
    """The waits of a launch's warps: share of all samples by reason, and how many samples."""
    samples = {row["reason"]: int(row["samples"]) for row in check.rows(
        database, "SELECT stalls.reason, sum(samples) AS samples FROM stalls JOIN launches USING (run_id, launch_id) "
                  f"WHERE family || '/' || variant = '{variant}' GROUP BY stalls.reason")}
    total = sum(samples.values())
    return {reason: 100 * count / total for reason, count in samples.items()}, total


def ncu_shares(variant, size):
    family, name = variant.split("/")
    result, _ = run(["ncu", "--metrics", "group:smsp__pcsamp_warp_stall_reasons", "--csv", "--page", "raw",
                     "--print-units", "base", warpmeter, "run", variant, "-n", size, "-b", "cupti"],
                    env={**os.environ, "WARPMETER_RUN_ALONE": f"{family}\n{name}\n{size}"})
    table = list(csv.DictReader(line for line in result.stdout.splitlines() if line.startswith('"')))
    if len(table) < 2:
        return {}, 0
    prefix = "smsp__pcsamp_warps_issue_stalled_"
    samples = {name[len(prefix):]: float(value.replace(",", "")) for name, value in table[1].items()
               if name and name.startswith(prefix) and not name.endswith("_not_issued") and value}
    total = sum(samples.values())
    return ({reason: 100 * count / total for reason, count in samples.items()} if total else {}), int(total)


def check_stalls():
    """Samples by reason beside those of Nsight Compute, and that they lie on the lines that wait."""
    print("\nwhat warps wait for, % of the samples:")
    for variant, size in [("transpose/copy", "4096"), ("transpose/tiled", "4096"), ("transpose/tiled_padded", "4096"),
                          ("reduction/interleaved", "4194304"), ("matmul/registers_64x64", "1024"), ("vector_add/block_256", "16777216")]:
        database = os.path.join(work, variant.replace("/", ".") + ".stalls.db")
        result, seconds = run([warpmeter, "run", variant, "-n", size, "-b", "cupti", "--lines", "--no-progress",
                               "--max-samples", "20", "--db", database])
        ours, samples = shares(database, variant)
        if not ours:
            print(result.stderr[-800:])
        theirs, ncu_samples = ncu_shares(variant, size)
        both = sorted(set(ours) | set(theirs), key=lambda reason: -ours.get(reason, 0))
        largest = max((abs(ours.get(reason, 0) - theirs.get(reason, 0)) for reason in both), default=100)
        for reason in both[:5]:
            print(f"     {variant:22} {reason:22} {ours.get(reason, 0):6.1f} {theirs.get(reason, 0):6.1f} (ncu)")
        check(samples > 500, f"{variant} {size}: {samples} samples, Nsight Compute {ncu_samples}; {seconds:.1f} s")
        check(largest < 15, f"{variant} {size}: the reasons' shares are within {largest:.1f} points of Nsight Compute's")
        total = check.rows(database, "SELECT sum(share) AS share, sum(CASE WHEN line IS NULL THEN samples ELSE 0 END) AS lost, "
                               "sum(CASE WHEN line IS NOT NULL AND text = '' THEN 1 ELSE 0 END) AS without FROM stalls")[0]
        check(abs(float(total["share"] or 0) - 100) < 1e-6 and int(total["without"] or 1) == 0,
              f"{variant} {size}: shares add up, each line has its text; {total['lost']} samples have no line")
        for row in check.rows(database, "SELECT kind, line, share, evidence FROM findings WHERE kind IN ('waiting', 'below_copy')"):
            print(f"     {variant} {row['kind']} {row['line']}: {float(row['share']):.0f} % {row['evidence']}")


def check_program(program):
    name = os.path.basename(program)
    database, model = os.path.join(work, name + ".gpu.db"), os.path.join(work, name + ".model.db")
    result, with_lines = run([warpmeter, "profile", "--lines", "--db", database, program])
    plain, _ = run([program])
    _, summary = run([warpmeter, "profile", "-q", "--db", os.path.join(work, name + ".plain.db"), program])
    if name == "without_lines":
        check("-lineinfo" in result.stderr, "without -lineinfo it says so")
        return None
    check(result.returncode == plain.returncode, f"profile --lines {name} exits as the program ({plain.returncode})")
    run([warpmeter, "profile", "-q", "-b", "model", "--lines", "--db", model, program])
    # By their whole names: which of a template's instances is launched first is up to the threads.
    measured, counted = lines_of(database, "kernel"), {}
    # The model has the lines of every launch, the GPU those of the first of each kernel.
    for row in check.rows(model, "SELECT kernel AS variant, kernel, coalesce(size, 0) AS size, file, line, "
                           "text, access, requests, transactions, ideal, lines.grade AS grade FROM lines JOIN launches "
                           "USING (run_id, launch_id) WHERE launch_id IN (SELECT min(launch_id) FROM launches GROUP BY "
                           "kernel)"):
        counted[(row["variant"], row["size"], row["file"], row["line"], row["access"])] = row
    comparison = Comparison(measured, counted, name)
    if comparison.lines == 0:
        print(result.stderr[-1500:])
    check(comparison.holds(), f"profile {name}: {comparison.in_words()}")
    kernels = len({row["kernel"] for row in measured.values()})
    coded = int(check.rows(database, "SELECT count(*) AS n FROM codes WHERE form = 'PTX'")[0]["n"])
    # Instances of one template have their lines at one place.
    check(coded >= kernels > 0, f"profile {name}: PTX of {coded} kernels, {kernels} with lines")
    return name, comparison.counts(), kernels, with_lines, summary


check_stalls()
table = [("catalogue", *check_catalogue())]
for program in programs:
    row = check_program(program)
    if row:
        table.append(row)
print(f"\n{'':16} {'exact lines':>12} {'at the place':>13} {'equal':>6} {'ideal too':>10} {'launches':>9} "
      f"{'with --lines':>13} {'without':>8} {'each':>7}")
for name, (lines, at_place, equal, ideal), count, seconds, base in table:
    each = (seconds - base) / count if count else 0
    print(f"{name:16} {lines:12} {at_place:13} {equal:6} {ideal:10} {count:9} {seconds:11.1f} s {base:6.1f} s {each:5.2f} s")
check.end()
