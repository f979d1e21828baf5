# SPDX-License-Identifier: MIT
"""Checks of own_kernels.sh."""

import csv
import io
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent
ROUNDS = 5
FAMILIES = ["matmul", "reduction", "smem_rectangle", "smem_square", "transpose", "vector_add"]
SASS = "smsp__sass_"
COUNTERS = {
    "shared_load_wavefronts": SASS + "l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_store_wavefronts": SASS + "l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "shared_load_requests": SASS + "inst_executed_op_shared_ld.sum",
    "shared_store_requests": SASS + "inst_executed_op_shared_st.sum",
    "global_load_sectors": SASS + "l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_store_sectors": SASS + "l1tex_t_sectors_pipe_lsu_mem_global_op_st.sum",
    "global_load_requests": SASS + "inst_executed_op_global_ld.sum",
    "global_store_requests": SASS + "inst_executed_op_global_st.sum",
}

build, work = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
passed = failed = 0


def check(holds, what, detail=""):
    global passed, failed
    passed, failed = passed + bool(holds), failed + (not holds)
    print(f"{'ok  ' if holds else 'FAIL'}  {what}{': ' + detail if detail else ''}", flush=True)


def warpmeter(*words, database="own.db"):
    begin = time.perf_counter()
    done = subprocess.run([build / "warpmeter", words[0], "--db", work / database, *words[1:]], cwd=ROOT, text=True,
                          capture_output=True)
    done.seconds = time.perf_counter() - begin
    return done


def rows(sql, database="own.db"):
    done = warpmeter("query", "--format", "csv", sql, database=database)
    return list(csv.DictReader(io.StringIO(done.stdout)))


def catalogue_as_files():
    built_in = warpmeter("run", "-b", "cupti", "-q")
    check(built_in.returncode == 0, "the catalogue", f"exit {built_in.returncode}")
    files = warpmeter("run", *[f"kernels/{f}.yaml" for f in FAMILIES], "-b", "cupti", "-q")
    check(files.returncode == 0, "its families as files", f"exit {files.returncode} {files.stderr.strip()[:300]}")
    both = rows("SELECT a.family || '/' || a.variant || ' ' || coalesce(a.size, '') AS name, a.metric, a.value AS built, "
                "b.value AS file FROM results a JOIN results b ON a.family = b.family AND a.variant = b.variant AND "
                "a.size IS b.size AND a.metric = b.metric WHERE a.run_id = 1 AND b.run_id = 2 AND a.unit <> 'ns' AND "
                "a.metric NOT LIKE '%bandwidth%' AND a.metric NOT LIKE '%throughput%' AND a.value IS NOT NULL")
    names = {row["name"] for row in both}
    different = [f"{r['name']} {r['metric']} {r['built']} {r['file']}" for r in both if r["built"] != r["file"]]
    check(not different and len(names) >= 36, "counts of the files equal the built-in ones",
          "; ".join(different[:5]) or f"{len(both)} figures of {len(names)} launches")
    # Between two processes medians move; rounds in turns tell that from a difference.
    for _ in range(ROUNDS):
        # Without cuBLAS: what it leaves on the device moves the others by a per cent.
        own = ["matmul/[!c]*", *FAMILIES[1:]]
        files = [*(f"kernels/{f}.yaml" for f in FAMILIES), *own]
        for label, what in (("built", own), ("files", files), ("nvrtc", [*files, "--compiler", "nvrtc"])):
            warpmeter("run", *what, "-b", "cupti", "-q", "--timing-only", "--label", label, database="turns.db")
    told, others = compared_with("files")
    check(sum(told.values()) > 0 and not others, "compare calls no row faster or slower",
          f"{told} {others}")
    # NVRTC, by which nothing is timed unless somebody asks, writes other code: what that makes of times is told.
    told, others = compared_with("nvrtc")
    print(f"      compiled by NVRTC: {told} {others}")


def compared_with(label):
    compared = warpmeter("compare", "--by", "label", "built", label, "--format", "csv", database="turns.db")
    table = list(csv.DictReader(io.StringIO(compared.stdout)))
    verdicts = [row.get("verdict", "") for row in table]
    others = [f"{row['family']}/{row['variant']} {row['size']} {float(row['ratio']):.4f}" for row in table
              if row.get("verdict") in ("faster", "slower")]
    return {word: verdicts.count(word) for word in ("faster", "slower", "same", "unclear")}, others


def others():
    for name in ("sgemm", "softmax"):
        file = f"tests/device/third_party/{name}.yaml"
        done = warpmeter("run", file, "-b", "cupti", "-q", "-m", ",".join(COUNTERS), database=f"{name}.db")
        check(done.returncode == 0, f"{name}: kernels of others run and are verified",
              f"exit {done.returncode} {done.stderr.strip()[:300]}")
        launches = rows("SELECT variant, size FROM launches ORDER BY launch_id", f"{name}.db")
        for launch in launches:
            found = {r["metric"]: float(r["value"]) for r in rows(
                f"SELECT metric, value FROM results WHERE variant = '{launch['variant']}' AND size = {launch['size']} "
                "AND value IS NOT NULL", f"{name}.db")}
            ncu = subprocess.run(["ncu", "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none",
                                  "--metrics", ",".join(COUNTERS.values()), build / "launcher", file,
                                  launch["variant"], launch["size"], "1"], cwd=ROOT, text=True, capture_output=True)
            lines = [line for line in ncu.stdout.splitlines() if line.startswith('"')]
            if len(lines) < 3:
                check(False, f"{name}/{launch['variant']} {launch['size']}", ncu.stdout[-300:] + ncu.stderr[-300:])
                continue
            row = list(csv.DictReader(lines))[1]
            differences = [f"{own} {found.get(own)} instead of {row[theirs]}" for own, theirs in COUNTERS.items()
                           if found.get(own) != float(row[theirs].replace(",", ""))]
            check(not differences, f"{name}/{launch['variant']} {launch['size']} counts what ncu counts",
                  "; ".join(differences) or f"{len(COUNTERS)} counters")


def sweep():
    file = "tests/device/sweep.yaml"
    done = warpmeter("run", file, "-b", "cupti", "--no-progress", "--best", "duration", database="sweep.db")
    count = rows("SELECT count(*) AS n, sum(outcome = 'failed') AS bad FROM launches WHERE variant LIKE 'tiled%'",
                 "sweep.db")[0]
    failures = rows("SELECT DISTINCT reason FROM launches WHERE outcome = 'failed'", "sweep.db")
    check(int(count["n"]) == 128 and done.seconds <= 90, "a sweep of 128 configurations in 90 s",
          f"{count['n']} in {done.seconds:.1f} s, {count['bad']} failed {[f['reason'][:90] for f in failures][:2]}")
    best = [line.split()[2] for line in done.stdout.split("Best by")[-1].splitlines() if line.startswith("sweep")]
    print("      best:", " ".join(best[:5]))
    again = warpmeter("run", file, *[f"sweep/{b}" for b in best[:5]], "-b", "cupti", "-q", database="sweep.db")
    second = rows("SELECT variant, median_ns FROM timings JOIN launches USING (run_id, launch_id) WHERE run_id = 2 "
                  "ORDER BY median_ns", "sweep.db")
    first = {r["variant"]: float(r["median_ns"]) for r in rows(
        "SELECT variant, median_ns FROM timings JOIN launches USING (run_id, launch_id) WHERE run_id = 1", "sweep.db")}
    near = second and float(second[0]["median_ns"]) >= 0.97 * first[best[0]]
    check(again.returncode == 0 and near and second[0]["variant"] in best[:3], "a second run confirms the best",
          ", ".join(f"{r['variant']} {float(r['median_ns']):.0f} ns, before {first[r['variant']]:.0f}" for r in second[:3]))

    # And of the whole sweep: each of the two runs' best is in the other the best or marked as good, which has to leave
    # few. Where several are equal, the line above is theirs by chance.
    first = best_of(done)
    second = best_of(warpmeter("run", file, "-b", "cupti", "--no-progress", "--best", "duration", database="sweep.db"))
    check(first and second and first[0] in second and second[0] in first and max(len(first), len(second)) <= 16,
          "a second sweep confirms those that it may be", f"{first[0]} of {len(first)} that one run cannot tell apart, then "
          f"{second[0]} of {len(second)}; in both: {len(set(first) & set(second))}")


def best_of(run):
    """The best of a run and those that it marks as good, in the order of the table."""
    lines = [line for line in run.stdout.split("Best by")[-1].splitlines() if line.startswith("sweep")]
    return [line.split()[2] for i, line in enumerate(lines) if i == 0 or "≈" in line or "★" in line]


def watching():
    folder = work / "watch"
    folder.mkdir()
    for name in ("sweep.cu",):
        shutil.copy(HERE / name, folder)
    text = (HERE / "sweep.yaml").read_text()
    text = re.sub(r"parameters: .*", "parameters: { TILE: [32], PAD: [0, 1], ROWS: [4] }", text)
    (folder / "sweep.yaml").write_text(text)
    for backend, limit in (("cupti", 2.0), ("model", 1.0)):
        log = folder / f"{backend}.txt"
        with open(log, "w") as out:
            process = subprocess.Popen([build / "warpmeter", "run", "sweep.yaml", "-b", backend, "--watch",
                                        "--no-progress", "--db", folder / f"{backend}.db"], cwd=folder, stdout=out,
                                       stderr=subprocess.STDOUT)
            tables = lambda: log.read_text().count("watching, Ctrl-C ends")
            wait_until(lambda: tables() == 1, 60)
            source = (folder / "sweep.cu").read_text()
            begin = time.perf_counter()
            (folder / "sweep.cu").write_text(source.replace("[TILE + PAD]", f"[TILE + PAD + {1 + (backend == 'model')}]")
                                             if "[TILE + PAD]" in source
                                             else source.replace("[TILE + PAD + 1]", "[TILE + PAD + 2]"))
            wait_until(lambda: tables() == 2, 60)
            seconds = time.perf_counter() - begin
            process.send_signal(signal.SIGINT)
            process.wait(30)
        changed = re.findall(r"(\d+) of (\d+) launches changed", log.read_text())
        check(seconds < limit and len(changed) == 2 and changed[1][0] == "2",
              f"from a save to the table under {limit:g} s, {backend}", f"{seconds:.2f} s, changed {changed}")


def wait_until(holds, seconds):
    end = time.perf_counter() + seconds
    while not holds() and time.perf_counter() < end:
        time.sleep(0.005)


def broken():
    done = warpmeter("run", "tests/device/broken.yaml", "-b", "cupti", "--no-progress", "--timeout", "3",
                     database="broken.db")
    if done.returncode == 4:
        print(done.stderr)
        sys.exit(4)
    outcomes = {r["variant"]: (r["outcome"], r["reason"]) for r in rows("SELECT variant, outcome, reason FROM launches",
                                                                        "broken.db")}
    good = all(outcomes.get(v, ("",))[0] == "done" for v in ("first", "second", "third"))
    check(done.returncode == 6 and good and len(outcomes) == 5, "after a broken kernel and one that hangs the rest runs",
          f"exit {done.returncode}, {outcomes}")
    runs = rows("SELECT outcome FROM runs", "broken.db")
    check(len(runs) == 1 and runs[0]["outcome"] == "failed", "all in one run", str(runs))


def counts_of_the_model():
    done = warpmeter("run", "kernels/transpose.yaml", "-n", "1024", "-b", "cupti", "--counts", "model", "-q",
                     database="counts.db")
    grades = rows("SELECT DISTINCT grade FROM results WHERE metric = 'shared_load_transactions_per_request' AND "
                  "value IS NOT NULL UNION SELECT grade FROM results WHERE metric = 'duration'", "counts.db")
    found = sorted(g["grade"] for g in grades)
    check(done.returncode == 0 and found == ["exact", "measured"], "times of the GPU beside counts of the model",
          f"exit {done.returncode} {found} {done.stderr.strip()[:200]}")


SCALED = """__constant__ float factors[4];
template <int STEP> __global__ void scaled(float* out, const float* in, int n) {
  const int i = (blockIdx.x * blockDim.x + threadIdx.x) * STEP;
  if (i < n) out[i] = in[i] * factors[i % 4];
}
template __global__ void scaled<1>(float*, const float*, int);
template __global__ void scaled<2>(float*, const float*, int);
"""


def nvcc(source, cubin, *more):
    compiler = shutil.which("nvcc") or str(pathlib.Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "bin/nvcc")
    done = subprocess.run([compiler, "-cubin", "-O3", "-std=c++17", *more, "-o", cubin, source], cwd=ROOT, text=True,
                          capture_output=True)
    if done.returncode != 0:
        check(False, f"nvcc makes {cubin.name}", done.stderr.strip()[:300])
        sys.exit(1)


def machine_code():
    folder = work / "cubins"
    folder.mkdir()
    sources = warpmeter("run", *[f"kernels/{f}.yaml" for f in FAMILIES], "-b", "cupti", "-q", database="cubin.db")
    if sources.returncode == 4:
        print(sources.stderr)
        sys.exit(4)
    check(sources.returncode == 0, "the families as sources", f"exit {sources.returncode} {sources.stderr.strip()[:300]}")
    capability = int(rows("SELECT compute_capability FROM devices LIMIT 1", "cubin.db")[0]["compute_capability"])
    own, other = f"-arch=sm_{capability}", f"-arch=sm_{80 if capability >= 90 else 90}"
    for family in FAMILIES:
        nvcc(f"kernels/{family}.cu", folder / f"{family}.cubin", own, "-lineinfo")
        text = (ROOT / "kernels" / f"{family}.yaml").read_text()
        (folder / f"{family}.yaml").write_text(text.replace(f"file: {family}.cu", f"file: {family}.cubin"))
    cubins = warpmeter("run", *[folder / f"{f}.yaml" for f in FAMILIES], "-b", "cupti", "-q", database="cubin.db")
    check(cubins.returncode == 0, "the families as cubins", f"exit {cubins.returncode} {cubins.stderr.strip()[:300]}")
    verified = [int(rows(f"SELECT count(*) AS n FROM launches WHERE run_id = {run} AND verified = 1 AND outcome = 'done'",
                         "cubin.db")[0]["n"]) for run in (1, 2)]
    check(verified[0] == verified[1] > 0, "as many launches of cubins are verified as of sources", str(verified))
    both = rows("SELECT a.family || '/' || a.variant || ' ' || coalesce(a.size, '') AS name, a.metric, a.value AS source, "
                "b.value AS cubin FROM results a JOIN results b ON a.family = b.family AND a.variant = b.variant AND "
                "a.size IS b.size AND a.metric = b.metric WHERE a.run_id = 1 AND b.run_id = 2 AND a.unit <> 'ns' AND "
                "a.metric NOT LIKE '%bandwidth%' AND a.metric NOT LIKE '%throughput%' AND a.value IS NOT NULL", "cubin.db")
    names = {row["name"] for row in both}
    different = [f"{r['name']} {r['metric']} {r['source']} {r['cubin']}" for r in both if r["source"] != r["cubin"]]
    check(not different and len(names) >= 36, "counts of the cubins equal those of their sources",
          "; ".join(different[:5]) or f"{len(both)} figures of {len(names)} launches")
    timed = rows("SELECT count(*) AS n, sum(median_ns > 0) AS good FROM timings WHERE run_id = 2", "cubin.db")[0]
    check(timed["n"] == timed["good"] != "0", "cubins have times", f"{timed['good']} of {timed['n']}")
    lines_of_machine_code(folder, own)
    template_of_machine_code(folder, own)
    nvcc("kernels/transpose.cu", folder / "transpose.cubin", other)
    for word in (folder / "transpose.yaml", folder / "transpose.cubin"):
        launch = [] if word.suffix == ".yaml" else [
            "-k", "transpose_naive", "--grid", "1", "--block", "16,16", "--arg", "out:f32[256]", "--arg",
            "in:f32[256]=iota", "--arg", "i32=16", "--arg", "i32=16"]
        wrong = warpmeter("run", word, *launch, database="wrong.db")
        said = f"is for {other[6:]} and this device is an sm_{capability}"
        check(wrong.returncode == 4 and said in wrong.stderr, f"another architecture's {word.suffix} is refused",
              f"exit {wrong.returncode} {wrong.stderr.strip()[:300]}")


def lines_of_machine_code(folder, own):
    found = []
    for file in ("kernels/transpose.yaml", folder / "transpose.yaml"):
        database = f"lines{len(found)}.db"
        done = warpmeter("run", file, "transpose/tiled", "-n", "1024", "-b", "cupti", "--lines", "--no-progress",
                         database=database)
        lines = {(r["line"], r["access"]): (r["requests"], r["transactions"]) for r in rows(
            "SELECT line, access, requests, transactions FROM lines WHERE file LIKE '%transpose.cu'", database)}
        found.append(lines)
        if not lines:
            print("      " + done.stderr.strip()[-600:].replace("\n", "\n      "))
    check(found[0] and found[0] == found[1], "--lines of a cubin are those of its source", f"{len(found[1])} of {len(found[0])}")
    nvcc("kernels/transpose.cu", folder / "transpose.cubin", own)
    done = warpmeter("run", folder / "transpose.yaml", "transpose/tiled", "-n", "1024", "-b", "cupti", "--lines",
                     "--no-progress", database="no_lines.db")
    said = [line for line in done.stderr.splitlines() if "has no lines" in line]
    check(done.returncode == 0 and said, "a cubin without line information says so", " ".join(said)[:300])


def template_of_machine_code(folder, own):
    (folder / "scaled.cu").write_text(SCALED)
    for name, more in (("scaled", []), ("relocatable", ["-rdc=true"])):
        nvcc(folder / "scaled.cu", folder / f"{name}.cubin", own, *more)
        done = warpmeter("run", folder / f"{name}.cubin", "-k", "scaled<2>", "--grid", "1", "--block", "32", "--arg",
                         "out:f32[64]=zeros", "--arg", "in:f32[64]=iota", "--arg", "i32=64", "--set",
                         "factors:f32=2,1,3,1", "--print-output", "6", "-b", "cupti", "--no-progress", database="scaled.db")
        right = "out: 0 0 6 0 8 0" in done.stdout
        words = f"exit {done.returncode} {(done.stdout + done.stderr).strip()[:300]}"
        if name == "scaled":
            check(done.returncode == 0 and right, "an instance of a template with its variable set", "" if right else words)
        else:  # a driver decides if it loads them; what they say has to be told
            check(right if done.returncode == 0 else done.returncode == 6 and "is relocatable" in done.stderr,
                  "a relocatable cubin runs, or is said to be one", words)


PARTS = {part.__name__: part for part in (broken, counts_of_the_model, watching, sweep, others, machine_code,
                                          catalogue_as_files)}
for name in sys.argv[3:] or PARTS:
    if name not in PARTS:
        print(f"own_kernels.sh: there is no part {name}: {' '.join(PARTS)}", file=sys.stderr)
        sys.exit(2)
    PARTS[name]()
print(f"{passed} of {passed + failed} checks hold")
sys.exit(0 if failed == 0 else 1)
