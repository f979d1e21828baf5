"""Holds `warpmeter profile` to ncu, program by program, and times both; see profile_check.sh."""

import collections
import csv
import io
import os
import re
import signal
import subprocess
import sys
import time

SASS = "smsp__sass_"
EXACT = [
    SASS + "l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    SASS + "l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    SASS + "inst_executed_op_shared_ld.sum",
    SASS + "inst_executed_op_shared_st.sum",
    SASS + "l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum",
    SASS + "l1tex_t_sectors_pipe_lsu_mem_global_op_st.sum",
    SASS + "inst_executed_op_global_ld.sum",
    SASS + "inst_executed_op_global_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
]
TIMED = EXACT[:6] + ["gpu__time_duration.sum"]

# Program, its exit code, launches. Four of graph's are graphs, which CUPTI does not count.
PROGRAMS = [
    ("shared_square", 0, 5),
    ("shared_square_dynamic", 0, 5),
    ("streams", 0, 16),
    ("graph", 0, 5),
    ("two_processes", 0, 3),
    ("in_place", 0, 6),
    ("late", 0, 3),
    ("crash", 128 + signal.SIGABRT, 3),
    ("ranges", 0, 4),
]
AIM_DEFAULT, AIM_FASTEST, AIM_SUMMARY = 50, 10, 2

build, work = sys.argv[1:3]
warpmeter = os.path.join(build, "warpmeter")
failures = checks = 0


def check(name, ok, detail=""):
    global failures, checks
    checks += 1
    failures += not ok
    print(f"{'ok    ' if ok else 'FAILED'} {name}{': ' if detail else ''}{detail}", flush=True)


def run(command, limit=300):
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, cwd=work, timeout=limit)
    return time.perf_counter() - begin, done


def profile(name, *options, database=None, arguments=()):
    database = database or os.path.join(work, name + ".db")
    if os.path.exists(database):
        os.unlink(database)
    return run([warpmeter, "profile", "--db", database, *options, "./" + name, *arguments])


def stored(name):
    """(kernel, grid, block) → its launches' values, in order."""
    _, done = run([warpmeter, "query", "--db", os.path.join(work, name + ".db"), "--format", "csv",
                   "SELECT l.launch_id, l.kernel, l.grid, l.block, r.metric, r.value FROM results r JOIN launches l"
                   " USING (launch_id) ORDER BY l.launch_id"])
    launches = collections.OrderedDict()
    for row in csv.DictReader(io.StringIO(done.stdout)):
        key = (row["kernel"], row["grid"], row["block"])
        values = launches.setdefault(row["launch_id"], (key, {}))[1]
        if row["metric"] in EXACT:
            values[row["metric"]] = float(row["value"]) if row["value"] else None
    return list(launches.values())


def by_ncu(name):
    """The same from ncu."""
    _, done = run(["ncu", "--csv", "--page", "raw", "--print-units", "base", "--kernel-name-base", "mangled",
                   "--print-kernel-base", "mangled", "--target-processes", "all", "--graph-profiling", "node",
                   "--cache-control", "none", "--clock-control", "none", "--metrics", ",".join(EXACT), "./" + name])
    lines = [line for line in done.stdout.splitlines() if line.startswith('"')]
    launches = []
    for row in csv.DictReader(io.StringIO("\n".join(lines))):
        if not row.get("ID"):
            continue  # the row of units
        shape = ["x".join(re.findall(r"\d+", row[column])) for column in ("Grid Size", "Block Size")]
        values = {metric: float(row[metric].replace(",", "")) for metric in EXACT if row.get(metric)}
        launches.append(((row["Kernel Name"], *shape), values))
    return launches, done


def comparable(launches):
    return sorted((key, sorted(values.items())) for key, values in launches)


def compare(name, status, expected):
    _, done = profile(name, "--metrics", ",".join(EXACT))
    _, alone = run(["./" + name])
    code = alone.returncode if alone.returncode >= 0 else 128 - alone.returncode
    check(f"{name}: exit code and output pass through",
          done.returncode == status == code and done.stdout == alone.stdout,
          f"{done.returncode}, alone {code}" + ("" if done.returncode == status else "\n" + done.stderr[-1500:]))
    mine = stored(name)
    check(f"{name}: {expected} launches", len(mine) == expected, str(len(mine)))
    theirs, ncu = by_ncu(name)
    if name == "graph":
        graphs = [launch for launch in mine if launch[0][0].startswith("graph")]
        check("graph: graphs are named and refused with the reason",
              len(graphs) == 4 and graphs[0][0][0] == "graph(fill, 2 × scale)" and "4 launches" in done.stderr,
              f"{len(graphs)}, {graphs[:1]}")
        # ncu counts the kernels inside, too; the one outside is the same kernel.
        mine = [launch for launch in mine if launch not in graphs]
        theirs = [launch for launch in theirs if launch[0] == mine[-1][0]][-1:]
    ok = comparable(mine) == comparable(theirs)
    check(f"{name}: every count equals ncu's", ok and len(mine) > 0,
          f"{len(mine)} launches, {len(EXACT)} counts" if ok else
          f"\n  warpmeter {comparable(mine)[:3]}\n  ncu       {comparable(theirs)[:3]}\n"
          f"  {done.stderr[-800:]}\n  {ncu.stderr[-300:]}{ncu.stdout[-300:] if not theirs else ''}")


def filters():
    def grids(*options):
        profile("ranges", "-m", "@shared", *options)
        _, done = run([warpmeter, "query", "--db", os.path.join(work, "ranges.db"), "--format", "csv",
                       "SELECT block, variant, nvtx_range FROM launches ORDER BY launch_id"])
        return [tuple(row) for row in csv.reader(io.StringIO(done.stdout))][1:]
    check("ranges: --nvtx-include takes its launches and labels them",
          grids("--nvtx-include", "solve") == [("64x1x1", "step", "solve"), ("96x1x1", "step", "solve")],
          str(grids("--nvtx-include", "solve")))
    check("ranges: a range from before CUDA is known", len(grids("--nvtx-include", "whole")) == 4)
    check("ranges: -s 1 -c 2", [g for g, *_ in grids("-s", "1", "-c", "2")] == ["64x1x1", "96x1x1"])
    _, done = profile("streams", "-m", "@shared", "-k", "regex:^nothing")
    check("streams: a filter that matches nothing ends with 3 and names the kernels",
          done.returncode == 3 and "strided" in done.stderr, done.stderr.strip()[-200:])


def replays():
    """The program run once a pass gives what repeated launches give, on the very same launches."""
    for name in ("shared_square", "in_place", "streams", "two_processes", "crash"):
        profile(name, "-m", ",".join(EXACT))
        by_kernel = comparable(stored(name))
        _, done = profile(name, "-m", ",".join(EXACT), "--replay", "application")
        by_program = comparable(stored(name))
        check(f"{name}: --replay application counts what --replay kernel counts",
              by_kernel == by_program and "lacks" not in done.stderr,
              f"{len(by_program)} launches" if by_kernel == by_program else
              f"\n  kernel      {by_kernel[:2]}\n  application {by_program[:2]}\n  {done.stderr[-600:]}")


def timing():
    """Clean times beside counters are the summary's; the times of a counter pass are there too."""
    def durations(name, metric, *options):
        _, done = profile(name, *options)
        _, answer = run([warpmeter, "query", "--db", os.path.join(work, name + ".db"), "--format", "csv",
                         f"SELECT value FROM results WHERE metric = '{metric}' ORDER BY launch_id"])
        return [float(line) for line in answer.stdout.splitlines()[1:] if line], done
    for name, launches in (("shared_square", 5), ("streams", 16)):
        clean, done = durations(name, "duration", "-m", "@default", "--timing")
        summed, _ = durations(name, "duration")
        profiled, _ = durations(name, "duration_profiled", "-m", "@default")
        # A first launch on a cold device varies: the middle is what is held.
        middle, expected = sorted(clean)[len(clean) // 2] if clean else 0, sorted(summed)[len(summed) // 2]
        check(f"{name}: --timing gives the summary's durations",
              len(clean) == launches and abs(middle - expected) <= max(0.25 * expected, 1000),
              f"{len(clean)} launches, median {middle:.0f} ns, summary {expected:.0f} ns"
              + ("" if len(clean) == launches else "\n" + done.stderr[-600:]))
        check(f"{name}: duration_profiled is there without --timing", len(profiled) == launches, str(profiled[:5]))
    profile("streams", "-m", "@default", "--timing", "-s", "3", "-c", "4")
    _, answer = run([warpmeter, "query", "--db", os.path.join(work, "streams.db"), "--format", "csv",
                     "SELECT count(*), count(duration_ns) FROM comparison"])
    check("streams: --timing finds the launches that -s and -c chose", answer.stdout.split()[-1:] == ["4,4"],
          answer.stdout)


def summary():
    for name, kernels in [("shared_square", 5), ("crash", 3), ("graph", 13), ("two_processes", 3)]:
        _, done = profile(name)
        _, answer = run([warpmeter, "query", "--db", os.path.join(work, name + ".db"), "--format", "csv",
                         "SELECT count(*), min(duration_ns) FROM comparison"])
        row = answer.stdout.splitlines()[-1].split(",") if answer.returncode == 0 else ["none"]
        check(f"{name}: {kernels} kernels in the summary", row[0] == str(kernels), ",".join(row))
        if name == "shared_square":
            print(done.stderr)


def costs():
    options = ["--metrics", ",".join(TIMED)]
    fastest = ["--replay-mode", "application", "--cache-control", "none", "--clock-control", "none"]
    tools = {
        "warpmeter": lambda n: profile("launches", "-q", *options, arguments=[str(n)]),
        "ncu": lambda n: run(["ncu", "--csv", *options, "./launches", str(n)]),
        "ncu fastest": lambda n: run(["ncu", "--csv", *fastest, *options, "./launches", str(n)]),
    }
    marginal = {}
    for tool, measure in tools.items():
        seconds = {}
        for n in (6, 60, 600):
            seconds[n], done = measure(n)
            if done.returncode != 0:
                check(f"{tool}: {n} launches", False, done.stderr[-500:] + done.stdout[-200:])
        first = (seconds[60] - seconds[6]) / 54 * 1000
        marginal[tool] = (seconds[600] - seconds[60]) / 540 * 1000
        print(f"       {tool}: 6, 60, 600 launches in {seconds[6]:.2f}, {seconds[60]:.2f}, {seconds[600]:.2f} s;"
              f" a launch {first:.2f} ms (6 to 60), {marginal[tool]:.2f} ms (60 to 600)", flush=True)
    for tool, aim in [("ncu", AIM_DEFAULT), ("ncu fastest", AIM_FASTEST)]:
        ratio = marginal[tool] / marginal["warpmeter"]
        check(f"a launch costs {aim} times less than with {tool}", ratio >= aim, f"{ratio:.0f} times")


def overhead():
    def best(measure):
        pairs = [measure() for _ in range(3)]
        return min(wall for wall, _ in pairs), min(float(done.stdout.split()[0]) for _, done in pairs)
    alone = best(lambda: run(["./launches", "100000"]))
    under = best(lambda: profile("launches", "-q", arguments=["100000"]))
    check(f"the summary of 100,000 launches costs under {AIM_SUMMARY} times", under[0] < AIM_SUMMARY * alone[0],
          f"program {alone[0]:.2f} s alone, {under[0]:.2f} s profiled ({under[0] / alone[0]:.2f} times);"
          f" its launches {alone[1]:.3f} s, {under[1]:.3f} s ({under[1] / alone[1]:.2f} times)")


for program in PROGRAMS:
    compare(*program)
filters()
replays()
timing()
summary()
overhead()
costs()
print(f"{checks - failures} of {checks} checks hold")
sys.exit(1 if failures else 0)
