# SPDX-License-Identifier: MIT
"""Several GPUs of one host; see two_devices.sh.

two_devices.py BUILD WORK
"""
import csv
import io
import os
import signal
import subprocess
import sys
import time

from checking import Checking

build, work = sys.argv[1], sys.argv[2]
warpmeter = os.path.join(build, "warpmeter")
check = Checking(warpmeter)


def run(*words, **options):
    begin = time.monotonic()
    result = subprocess.run([warpmeter, *words], capture_output=True, text=True, **options)
    return result, time.monotonic() - begin


def database(name):
    return os.path.join(work, name + ".db")


measured = ["run", "transpose", "reduction", "matmul", "vector_add", "-b", "cupti", "--no-progress"]
one, several = database("one"), database("all")
result, alone = run(*measured, "-d", "0", "--db", one)
check(result.returncode == 0, f"one device: exit {result.returncode}, {alone:.1f} s")
result, together = run(*measured, "-d", "all", "--db", several)
if result.returncode != 0:
    print(result.stderr[-1500:])
devices = int(check.rows(several, "SELECT count(*) AS n FROM devices")[0]["n"])
check(result.returncode == 0, f"all {devices} devices: exit {result.returncode}, {together:.1f} s")
check(together <= 1.2 * alone, f"all take {together / alone:.2f} times as long as one (1.2)")
summary = check.rows(several, "SELECT outcome, launches, failed_launches FROM runs")
launches = int(check.rows(one, "SELECT launches AS n FROM runs")[0]["n"])
check(len(summary) == 1 and summary[0]["outcome"] == "done" and int(summary[0]["launches"]) == devices * launches,
      f"one run of {summary[0]['launches']} launches, {summary[0]['outcome']}; {launches} a device")
states = check.rows(several, "SELECT phase, count(*) AS n FROM device_states GROUP BY phase")
check(all(int(state["n"]) == devices for state in states) and len(states) == 2,
      f"states before and after of each device: {[tuple(state.values()) for state in states]}")
counts = ("SELECT family, variant, size, counter, value FROM counters JOIN launches USING (run_id, launch_id) JOIN devices "
          "USING (run_id, device_id) WHERE ordinal = {} AND counter LIKE '%shared%' ORDER BY 1, 2, 3, 4")
first, second = (check.rows(several, counts.format(ordinal)) for ordinal in (0, 1))
differ = sum(a != b for a, b in zip(first, second))
check(len(first) == len(second) > 0 and differ == 0,
      f"{len(first)} shared-memory counters of the two devices, {differ} differ")
titles = [row["title"] for row in check.rows(several, "SELECT title FROM devices ORDER BY ordinal")]
check(len(set(titles)) == devices, f"the devices are told apart: {titles}")

print("\ncompare --by device, and three more runs:")
result, _ = run("compare", "--by", "device", "--db", several)
check(result.returncode == 0 and all(title in result.stdout for title in titles), "compare --by device names both")
said = []
for again in range(4):
    path = several if again == 0 else database(f"again{again}")
    if again:
        run(*measured, "-d", "all", "--timing-only", "--db", path)
    result, _ = run("compare", "--by", "device", "--db", path, "--format", "csv")
    table = list(csv.DictReader(io.StringIO(result.stdout)))
    said.append({f"{row['family']}/{row['variant']} {row['size']}": row["verdict"] for row in table
                 if row["metric"] == "duration"})
different = {key: verdict for key, verdict in said[0].items() if verdict in ("slower", "faster")}
for key, verdict in sorted(different.items()):
    others = [one_said.get(key) for one_said in said[1:]]
    print(f"     {key}: {verdict}; then {others}")
confirmed = sum(all(one_said.get(key) == verdict for one_said in said[1:]) for key, verdict in different.items())
refuted = sum(any(one_said.get(key) in ("slower", "faster") and one_said.get(key) != verdict for one_said in said[1:])
              for key, verdict in different.items())
print(f"     {len(said[0])} times compared, {len(different)} called different; {confirmed} of them in all three more runs, "
      f"{refuted} contradicted")
print("\n".join(run("compare", "--by", "device", "--db", several)[0].stdout.splitlines()[:24]))

path = database("killed")
process = subprocess.Popen([warpmeter, *measured, "-d", "all", "--db", path], stdout=subprocess.DEVNULL,
                           stderr=subprocess.PIPE, text=True)
parts = []
while len(parts) < devices and process.poll() is None:
    time.sleep(0.05)
    parts = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True).stdout.split()
time.sleep(1.5)
os.kill(int(parts[0]), signal.SIGKILL)
error = process.communicate()[1]
kept = check.rows(path, "SELECT outcome, reason, launches FROM runs")[0]
check(process.returncode == 4 and "signal 9" in error, f"a part killed: exit {process.returncode}: {error.strip().splitlines()[-1:]}")
check(kept["outcome"] == "failed" and launches <= int(kept["launches"]) < devices * launches,
      f"the run is {kept['outcome']} ({kept['reason']}), {kept['launches']} launches kept")
result, _ = run("run", "--continue", "--db", path)
kept = check.rows(path, "SELECT outcome, launches FROM runs")[0]
check(result.returncode == 0 and kept["outcome"] == "done" and int(kept["launches"]) == devices * launches,
      f"run --continue finishes it, side by side: {kept['outcome']}, {kept['launches']} launches")
path = database("stopped")
process = subprocess.Popen([warpmeter, *measured, "-d", "all", "--db", path], stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
time.sleep(3)
process.send_signal(signal.SIGTERM)
process.wait(timeout=60)
kept = check.rows(path, "SELECT outcome, launches FROM runs")[0]
check(kept["outcome"] == "interrupted", f"stopped by a signal: {kept['outcome']}, {kept['launches']} launches kept")
check.end()
