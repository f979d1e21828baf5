# SPDX-License-Identifier: MIT
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

# Program, its exit code, launches. Those of graph are compared by compare_graph.
PROGRAMS = [
    ("shared_square", 0, 5),
    ("shared_square_dynamic", 0, 5),
    ("streams", 0, 16),
    ("threads", 0, 32),
    ("contexts", 0, None),  # six a device
    ("two_processes", 0, 3),
    ("in_place", 0, 6),
    ("managed", 0, 9),
    ("cooperative", 0, 3),
    ("launch_ex", 0, 6),
    ("late", 0, 3),
    ("crash", 128 + signal.SIGABRT, 3),
    ("ranges", 0, 4),
]
AIM_DEFAULT, AIM_FASTEST, AIM_SUMMARY, AIM_FLAT = 50, 10, 2, 1.25
AIM_TRACE, AIM_TRACE_MB = 2.5, 160

build, work = sys.argv[1:3]
only = sys.argv[3:]  # programs and parts; all when empty
warpmeter = os.path.join(build, "warpmeter")
failures = checks = 0


def check(name, ok, detail=""):
    global failures, checks
    checks += 1
    failures += not ok
    print(f"{'ok    ' if ok else 'FAILED'} {name}{': ' if detail else ''}{detail}", flush=True)


def run(command, limit=300, **variables):
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, cwd=work, timeout=limit,
                          env={**os.environ, **variables})
    return time.perf_counter() - begin, done


def profile(name, *options, arguments=(), command=None):
    database = os.path.join(work, name + ".db")
    if os.path.exists(database):
        os.unlink(database)
    return run([warpmeter, "profile", "--db", database, *options, *(command or ["./" + name]), *arguments])


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


def query(name, sql):
    _, done = run([warpmeter, "query", "--db", os.path.join(work, name + ".db"), "--format", "csv", sql])
    return done, [row for row in csv.reader(io.StringIO(done.stdout))][1:]


def devices():
    return len(run(["nvidia-smi", "-L"])[1].stdout.splitlines())


def by_ncu(name, *options, command=None, **variables):
    """The same from ncu."""
    _, done = run(["ncu", "--csv", "--page", "raw", "--print-units", "base", "--kernel-name-base", "mangled",
                   "--print-kernel-base", "mangled", "--target-processes", "all", "--graph-profiling", "node",
                   "--cache-control", "none", "--clock-control", "none", "--metrics", ",".join(EXACT), *options,
                   *(command or ["./" + name])], **variables)
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


def profiled(name, status):
    """Its launches, after a look at what the program itself did; and what was said."""
    _, done = profile(name, "--metrics", ",".join(EXACT))
    _, alone = run(["./" + name])
    code = alone.returncode if alone.returncode >= 0 else 128 - alone.returncode
    check(f"{name}: exit code and output pass through",
          done.returncode == status == code and done.stdout == alone.stdout,
          f"{done.returncode}, alone {code}" + ("" if done.returncode == status else "\n" + done.stderr[-1500:]))
    return stored(name), done


def compare(name, status, expected):
    mine, done = profiled(name, status)
    if expected is not None:
        theirs, ncu = by_ncu(name)
    else:  # ncu 2025.3 tells of one device's launches only: so each device by itself
        of_each = [by_ncu(name, CUDA_VISIBLE_DEVICES=str(device)) for device in range(devices())]
        theirs, ncu = [launch for launches, _ in of_each for launch in launches], of_each[0][1]
        expected = 6 * devices()
    check(f"{name}: {expected} launches", len(mine) == expected, str(len(mine)))
    ok = comparable(mine) == comparable(theirs)
    check(f"{name}: every count equals ncu's", ok and len(mine) > 0,
          f"{len(mine)} launches, {len(EXACT)} counts" if ok else
          f"\n  warpmeter {comparable(mine)[:3]}\n  ncu       {comparable(theirs)[:3]}\n"
          f"  {done.stderr[-800:]}\n  {ncu.stderr[-300:]}{ncu.stdout[-300:] if not theirs else ''}")


def compare_graph():
    """Each kernel of a graph is a launch with ncu's counts, in ncu's order."""
    mine, _ = profiled("graph", 0)
    theirs, _ = by_ncu("graph")
    ok = mine == theirs and len(mine) == 17
    check("graph: four graphs of four kernels and one launch beside them have ncu's counts", ok,
          f"{len(mine)} launches, {len(EXACT)} counts" if ok else f"\n  warpmeter {mine}\n  ncu {theirs}")
    profile("graph", "-m", EXACT[6], "-k", "count", "-c", "3")
    chosen = [key[0] for key, _ in stored("graph")]
    check("graph: -k and -c choose among its kernels", len(chosen) == 3 and len(set(chosen)) == 1, str(chosen))
    mine, done = profiled("graph_change", 0)
    counted = [values[EXACT[7]] for _, values in mine]
    check("graph_change: an updated graph is counted; one with a changed node of the graph before, or a host function, is refused",
          len(mine) == 4 and counted[:2] == [4, 4] and counted[2:] == [None, None] and
          "was changed after" in done.stderr and "holds a host function" in done.stderr,
          f"{counted} {done.stderr[-700:] if len(mine) != 4 else ''}")
    mine, _ = profiled("graph_nodes", 0)
    counted = [values[EXACT[7]] for _, values in mine]
    check("graph_nodes: a graph is counted before and after its nodes are changed", counted == [4, 8], str(counted))


def endings():
    for how, status in [("abort", 128 + signal.SIGABRT), ("_exit", 3), ("kill", 128 + signal.SIGKILL),
                        ("segfault", 128 + signal.SIGSEGV)]:
        for options in ([], ["--metrics", EXACT[0]]):
            _, done = profile("crash", "-q", *options, arguments=[how])
            _, answer = query("crash", "SELECT count(*) FROM launches")
            check(f"crash by {how}, {'counters' if options else 'summary'}: nothing is lost",
                  done.returncode == status and answer == [["3"]], f"{done.returncode}, {answer}")


def other_profiler():
    if run(["./own_cupti"])[1].returncode == 77:
        return print("       own_cupti: there is no libcupti.so.13 in the loader's path")
    for options in ([], ["--metrics", EXACT[0]]):
        _, done = profile("own_cupti", *options)
        check("own_cupti: exit code 4 with the reason, the program unharmed",
              done.returncode == 4 and "another profiler holds CUPTI" in done.stderr and done.stdout == "unharmed\n",
              f"{done.returncode}, {done.stderr.strip()[-200:]}")


def pytorch():
    """Python, which loads CUDA, CUPTI and all kernels late, and launches a graph."""
    command = ["python3", "pytorch.py"]
    _, alone = run(command)
    if alone.returncode != 0:
        return print("       pytorch: python3 has no torch that works here")
    _, done = profile("pytorch", command=command)
    _, answer = query("pytorch", "SELECT count(*), min(duration_ns) > 0 FROM comparison")
    check("pytorch: the summary leaves its output alone and shows its kernels",
          (done.returncode, done.stdout) == (0, alone.stdout) and int(answer[0][0]) >= 16 and answer[0][1] == "1",
          f"{answer}" + ("" if done.returncode == 0 else done.stderr[-800:]))
    _, done = profile("pytorch", "-m", ",".join(EXACT), "-c", "18", command=command)
    mine = stored("pytorch")
    theirs, ncu = by_ncu("pytorch", "-c", "18", command=command)
    ok = len(mine) == 18 and comparable(mine) == comparable(theirs) and done.stdout == alone.stdout
    check("pytorch: the first 18 launches have ncu's counts", ok, f"{len(EXACT)} counts" if ok else
          f"{len(mine)} {len(theirs)}\n" + "\n".join(f"  {a}\n  {b}" for a, b in zip(mine, theirs) if a != b)[:3000]
          + done.stderr[-800:])
    _, done = profile("pytorch", "-m", EXACT[6], command=command)
    mine = stored("pytorch")
    theirs, ncu = by_ncu("pytorch", command=command)
    ours, ncus = ([(key, values[EXACT[6]]) for key, values in launches] for launches in (mine, theirs))
    check("pytorch: with the kernels of its graph the launches and their counts are ncu's, and it computes the same",
          sorted(ours) == sorted(ncus) and done.stdout == alone.stdout,
          f"{len(mine)} launches" if sorted(ours) == sorted(ncus) else
          f"{len(theirs)} of ncu\n  {set(ours) ^ set(ncus)} {done.stderr[-500:]}{ncu.stderr[-300:]}")


def filters():
    def grids(*options):
        profile("ranges", "-m", "@shared", *options)
        _, done = run([warpmeter, "query", "--db", os.path.join(work, "ranges.db"), "--format", "csv",
                       "SELECT block, variant, nvtx_range FROM launches ORDER BY launch_id"])
        return [tuple(row) for row in csv.reader(io.StringIO(done.stdout))][1:]
    check("ranges: --nvtx-include takes its launches and labels them",
          grids("--nvtx-include", "solve") == [("64x1x1", "step", "solve"), ("96x1x1", "step", "solve")],
          str(grids("--nvtx-include", "solve")))
    _, done = profile("ranges", "--nvtx-include", "solve")
    _, rows = query("ranges", "SELECT block, nvtx_range FROM launches ORDER BY block")
    check("ranges: --nvtx-include chooses and labels the launches of a summary too",
          rows == [["64x1x1", "solve"], ["96x1x1", "solve"]], f"{rows} {done.stderr[-600:] if not rows else ''}")
    check("ranges: a range from before CUDA is known", len(grids("--nvtx-include", "whole")) == 4)
    check("ranges: -s 1 -c 2", [g for g, *_ in grids("-s", "1", "-c", "2")] == ["64x1x1", "96x1x1"])
    _, done = profile("streams", "-m", "@shared", "-k", "regex:^nothing")
    check("streams: a filter that matches nothing ends with 3 and names the kernels",
          done.returncode == 3 and "strided" in done.stderr, done.stderr.strip()[-200:])


def replays():
    """The program run once a pass gives what repeated launches give, on the very same launches."""
    for name in ("shared_square", "in_place", "streams", "threads", "two_processes", "crash", "graph"):
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
    for name, kernels in [("shared_square", 5), ("crash", 3), ("graph", 17), ("contexts", None), ("two_processes", 3)]:
        _, done = profile(name)
        _, answer = run([warpmeter, "query", "--db", os.path.join(work, name + ".db"), "--format", "csv",
                         "SELECT count(*), min(duration_ns) FROM comparison"])
        row = answer.stdout.splitlines()[-1].split(",") if answer.returncode == 0 else ["none"]
        kernels = kernels or 6 * devices()
        check(f"{name}: {kernels} kernels in the summary", row[0] == str(kernels), ",".join(row))
        if name == "shared_square":
            print(done.stderr)


def costs():
    """The cost of one more launch: the program measures its loop itself, without its start."""
    options = ["--metrics", ",".join(TIMED)]
    fastest = ["--replay-mode", "application", "--cache-control", "none", "--clock-control", "none"]
    tools = {
        "warpmeter": lambda n: profile("launches", "-q", *options, arguments=[n]),
        "ncu": lambda n: run(["ncu", "--csv", "--clock-control", "none", *options, "./launches", n]),
        "ncu fastest": lambda n: run(["ncu", "--csv", *fastest, *options, "./launches", n]),
    }
    marginal = {}
    for tool, measure in tools.items():
        for n in (6, 60, 600):
            best = []
            for _ in range(5 if tool == "warpmeter" else 1):
                wall, done = measure(str(n))
                loops = [float(line) for line in done.stdout.splitlines() if re.fullmatch(r"[0-9]+\.[0-9]{6}", line)]
                if done.returncode == 0 and loops:
                    best.append((sum(loops) / n * 1000, wall))  # application replay: one loop a pass
            marginal[tool, n], wall = min(best, default=(float("nan"), 0))
            check(f"{tool}: {n} launches", len(best) > 0,
                  f"{marginal[tool, n]:.3f} ms each, {wall:.2f} s in all" if best else done.stderr[-500:])
    mine = [marginal["warpmeter", n] for n in (6, 60, 600)]
    check(f"the cost of a launch is flat (within {AIM_FLAT})", max(mine[1:]) <= AIM_FLAT * min(mine[1:]) and
          mine[0] <= 2 * min(mine), ", ".join(f"{cost:.3f}" for cost in mine) + " ms at 6, 60, 600")
    for tool, aim in [("ncu", AIM_DEFAULT), ("ncu fastest", AIM_FASTEST)]:
        ratios = [marginal[tool, n] / marginal["warpmeter", n] for n in (6, 60, 600)]
        check(f"a launch costs {aim} times less than with {tool}", min(ratios) >= aim,
              ", ".join(f"{ratio:.0f}" for ratio in ratios) + " times at 6, 60, 600")


def overhead():
    def best(measure):
        pairs = [measure() for _ in range(5)]
        return min(wall for wall, _ in pairs), min(float(done.stdout.split()[0]) for _, done in pairs)
    alone = best(lambda: run(["./launches", "100000"]))
    under = best(lambda: profile("launches", "-q", arguments=["100000"]))
    for what, before, after in [("as a whole", alone[0], under[0]), ("in its launches", alone[1], under[1])]:
        check(f"a program of 100,000 launches takes less than {AIM_SUMMARY} times as long {what}",
              after < AIM_SUMMARY * before,
              f"{before:.3f} s alone, {after:.3f} s summarised: {after / before:.2f} times")


def trace():
    """Work in a known order; its two long kernels note their times by the GPU's own clock."""
    _, done = profile("trace", "-q", "--trace")
    spins = [tuple(map(int, line.split()[1:])) for line in done.stdout.splitlines() if line.startswith("spin")]
    _, rows = query("trace", "SELECT name, bytes, source_memory, target_memory, start_ns, duration_ns, stream"
                    " FROM activities WHERE kind IN ('kernel', 'copy', 'set') ORDER BY start_ns")
    expected = [("[CUDA memcpy HtoD]", "1048576", "Pageable", "Device"), ("[CUDA memcpy HtoD]", "524288", "Pinned", "Device"),
                ("[CUDA memcpy DtoD]", "262144", "Device", "Device"), ("[CUDA memset]", "131072", "", "Device"),
                ("spin(int, unsigned long long)", "", "", ""), ("spin(int, unsigned long long)", "", "", ""),
                ("[CUDA memcpy DtoH]", "65536", "Device", "Pinned"), ("touch(char*, unsigned long)", "", "", "")]
    check("trace: work of every kind in its order, with bytes and memory", [tuple(row[:4]) for row in rows[:8]] == expected,
          str([row[:4] for row in rows]) if [tuple(row[:4]) for row in rows[:8]] != expected else f"{len(rows)} rows")
    traced = [(int(row[4]), int(row[5]), row[6]) for row in rows if row[0].startswith("spin")]
    if len(traced) == len(spins) == 2:
        (a, b), (c, d) = traced[:2], spins
        check("trace: kernels take as long as by the GPU's clock", all(
            abs(kernel[1] - (end - begin)) < 20_000 for kernel, (begin, end) in zip(traced, spins)), f"{traced} {spins}")
        check("trace: and begin as far apart", abs((b[0] - a[0]) - (d[0] - c[0])) < 20_000,
              f"{b[0] - a[0]} ns, by the GPU's clock {d[0] - c[0]}")
        check("trace: on two streams", a[2] != b[2], f"{a[2]}, {b[2]}")
    _, rows = query("trace", "SELECT kind, name, sum(bytes), sum(faults) FROM activities WHERE kind IN"
                    " ('page fault', 'migration') GROUP BY kind, name ORDER BY name")
    moved = {row[1]: int(row[2] or row[3]) for row in rows}
    check("trace: managed memory goes to the GPU and back, after faults of both sides",
          moved.get("[Unified Memory Memcpy HtoD]", 0) == 8 << 20 and moved.get("[Unified Memory Memcpy DtoH]", 0) > 0 and
          moved.get("[Unified Memory GPU page faults]", 0) > 0 and moved.get("[Unified Memory CPU page faults]", 0) > 0,
          str(moved))
    _, rows = query("trace", "SELECT (SELECT sum(duration_ns) FROM activities WHERE kind = 'kernel'),"
                    " (SELECT sum(duration_ns) FROM samples)")
    check("trace: the samples of its launches are the kernels' durations", float(rows[0][0]) == float(rows[0][1]), str(rows))


def start_stop():
    """Launches before, between and after the calls of the profiler; nothing waits for them."""
    sql = "SELECT grid, sum(coalesce(t.samples, 1)) FROM launches LEFT JOIN timings t USING (launch_id) GROUP BY grid"
    for options in (["--trace"], [], ["-m", "gst_transactions"]):
        for from_start, expected in (("on", [["1x1x1", "5"], ["2x1x1", "10"]]), ("off", [["2x1x1", "10"]])):
            profile("start_stop", "-q", "--from-start", from_start, *options)
            _, rows = query("start_stop", sql)
            check(f"start_stop: --from-start {from_start} {' '.join(options)}", rows == expected, str(rows))


def trace_costs():
    """A trace of a million launches, printed to a file."""
    launches, rows = 1_000_000, os.path.join(work, "rows.txt")
    alone = min(run(["./launches", str(launches)])[0] for _ in range(3))
    under = min(profile("launches", "--trace", "-o", rows, arguments=[str(launches)])[0] for _ in range(3))
    size = os.path.getsize(os.path.join(work, "launches.db"))
    check(f"a trace of {launches:,} launches takes less than {AIM_TRACE} times as long", under <= AIM_TRACE * alone,
          f"{alone:.3f} s alone, {under:.3f} s: {under / alone:.2f} times")
    check(f"its database has less than {AIM_TRACE_MB} MB", size <= AIM_TRACE_MB * 1_000_000, f"{size / 1e6:.1f} MB")


for program in PROGRAMS:
    if not only or program[0] in only:
        compare(*program)
for part in (compare_graph, pytorch, filters, replays, timing, endings, other_profiler, summary, trace,
             start_stop, overhead, trace_costs, costs):
    if not only or part.__name__ in only:
        part()
print(f"{checks - failures} of {checks} checks hold")
sys.exit(1 if failures else 0)
