# SPDX-License-Identifier: MIT
"""Scripts of tests/frameworks, each measured in-process and by ncu; see python_scripts.sh.

    python_scripts.py WORK FOLDER [--seconds N] [--only REPOSITORY|SCRIPT]...
"""

import argparse
import collections
import concurrent.futures
import contextlib
import json
import pathlib
import sqlite3
import subprocess
import sys
import time

from ncu import by_ncu
from processes import run_whole

FRAMEWORKS = pathlib.Path(__file__).resolve().parents[1] / "frameworks"
sys.path.insert(0, str(FRAMEWORKS))
from counts import TIMED, unnumbered  # noqa: E402
from outcomes import KINDS, jobs, native_words, variables_of_a_range  # noqa: E402
from python_frameworks import METRICS  # noqa: E402

LARGEST_GROUP = 16  # so many public scripts at most are one process; our own are short
# Scripts with PyTorch are a process each, of which so many first launches are compared: some launch 5,000 kernels, of 8 ms under ncu.
FIRST_LAUNCHES = 150
AT_ONCE = 14  # processes, which take turns on the GPU
NOT_ENDED = "it did not end"
UNCOMPARED = 0.1  # at most that share of launches is only one tool's: a tuner tries variants as often as time allows
# The launches and their values; None where the value is missing.
QUERY = """SELECT launch_id, l.kernel, l.grid || ' ' || l.block, r.metric, r.value, r.reason
           FROM results r JOIN launches l USING (launch_id) ORDER BY 1"""


def uses_torch(job):
    return native_words(job[1]) != job[1]


class Group:
    """Scripts that run in one process, in their order."""

    def __init__(self, scripts, number, work):
        self.scripts, self.folder = scripts, pathlib.Path(work, f"group{number}")
        words = scripts[0][1]
        self.most = FIRST_LAUNCHES if uses_torch(scripts[0]) else None
        # An empty variable does not reach a program under ncu: a comma names no accelerator either.
        self.variables = variables_of_a_range(words, scripts[0][4]) | {"CUPY_ACCELERATORS": ","}
        self.turn = {"TURN": f"{work}/turn"}
        self.folder.mkdir()
        programs = [[str(where), list(map(str, native_words(words)))] for _, words, where, *_ in scripts]
        (self.folder / "programs.json").write_text(json.dumps(programs), encoding="utf-8")

    def command(self, *metrics):
        return [sys.executable, "-W", "ignore", str(FRAMEWORKS / "measured.py"), str(self.folder / "programs.json"), str(self.folder), *metrics]

    def errors(self):
        """Each script's, and removes them."""
        file = self.folder / "ended.json"
        ended = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
        file.unlink(missing_ok=True)
        return ended + [NOT_ENDED] * (len(self.scripts) - len(ended))

    def run(self, seconds, *metrics):
        """Each script's error."""
        code, *written = run_whole(self.command(*metrics), max(1, seconds), env=self.variables)
        return with_output(self.errors(), "".join(written) if code else "")

    def alone(self, seconds):
        """Fills the caches of compiled kernels."""
        return {}, self.run(seconds)

    def of_warpmeter(self, seconds):
        """The launches of all scripts by kernel, shape and occurrence: the script, and the values; then each script's error."""
        errors, launches = self.run(seconds, ",".join(METRICS)), []
        for number in range(len(self.scripts)):
            database, of_script = self.folder / f"{number}.db", {}
            if database.exists():
                with contextlib.closing(sqlite3.connect(database)) as rows:
                    for launch, kernel, shape, metric, value, reason in rows.execute(QUERY):
                        values = of_script.setdefault(launch, (number, kernel, shape, {}))[3]
                        if metric in METRICS:
                            values[metric] = reason if value is None else value
                for file in self.folder.glob(f"{number}.db*"):
                    file.unlink()
            launches += of_script.values()
        return numbered(launches[:self.most]), errors

    def of_ncu(self, seconds):
        log, launches, output = self.folder / "ncu.csv", [], ""
        try:
            launches = by_ncu(self.command(), METRICS, str(log), max(1, seconds), "--print-kernel-base", "mangled",
                              "--graph-profiling", "node", *(("-c", str(self.most)) if self.most else ()), env=self.variables | self.turn)
        except subprocess.TimeoutExpired:
            pass
        except SystemExit as failed:
            output = str(failed) + "".join(line for line in log.read_text(errors="replace").splitlines(True) if line.startswith("=="))
        return numbered((None, kernel, shape, values) for kernel, values, shape in launches), with_output(self.errors(), output)


def with_output(errors, output):
    return [f"{error}: {output[-400:]}" if error == NOT_ENDED and output else error for error in errors]


def numbered(launches):
    seen, found = collections.Counter(), {}
    for number, kernel, shape, values in launches:
        key = unnumbered(kernel), shape
        found[*key, seen[key]] = number, values
        seen[key] += 1
    return found


def groups_of(folder, chosen, work):
    of_name = {}
    for job in jobs(folder, chosen):
        name = job[0].split()[0]
        if job[0].split()[-1] not in TIMED:
            of_name.setdefault(name, []).append(job)
    parts = []
    for name, scripts in of_name.items():
        most = 1 if uses_torch(scripts[0]) else len(scripts) if name in KINDS else LARGEST_GROUP
        parts += [scripts[at:at + most] for at in range(0, len(scripts), most)]
    return [Group(scripts, number, work) for number, scripts in enumerate(parts)]


class Verdict:
    """`compared`: launches; `equal`, `varying`, `differing`: values; `lines`: all that is not as it should be; `remarks`: launches of ours that
    ncu has not."""

    def __init__(self, errors):
        self.compared = self.equal = self.varying = self.differing = 0
        self.lines, self.remarks = errors, []

    def add(self, key, ours, theirs):
        """`ours`, `theirs`: the values of each run; None for a run without the launch."""
        self.compared += 1
        for metric in METRICS:
            mine, expected = ([run.get(metric) for run in tool if run is not None] for tool in (ours, theirs))
            if mine[0] == expected[0]:
                self.equal += 1
            elif len(set(expected)) > 1 or set(mine) & set(expected):
                self.varying += 1
            else:
                self.differing += 1
                self.lines.append(f"{key}, {metric}: {mine}, ncu {expected}")


def judge(group, alone, ours, theirs):
    """Each script's verdict. `ours`, `theirs`: one run or two. A script that fails alone, in its own words, may do so."""
    verdicts = [Verdict([f"{whose}: {error}" for whose, error in
                         (("alone", alone[1][number]), ("we", ours[0][1][number]), ("ncu", theirs[0][1][number]))
                         if error.startswith(NOT_ENDED) or (error and not alone[1][number])]) for number in range(len(group.scripts))]
    first, expected = ours[0][0], theirs[0][0]
    for key, (number, _) in first.items():
        if key in expected:
            verdicts[number].add(key, *([run[0].get(key, (None, None))[1] for run in tool] for tool in (ours, theirs)))
        else:
            verdicts[number].remarks.append(key)
    lacking = [key for key in expected if key not in first]
    if len(lacking) > UNCOMPARED * len(expected):
        verdicts[-1].lines.append(f"of the group's {len(expected)} launches by ncu we lack {len(lacking)}: {lacking[:3]}")
    for verdict in verdicts:
        if len(verdict.remarks) > UNCOMPARED * (verdict.compared + len(verdict.remarks)):
            verdict.lines.append(f"ncu lacks {len(verdict.remarks)} launches: {verdict.remarks[:3]}")
        elif verdict.compared == 0 and not verdict.lines:
            verdict.lines.append("nothing was launched")
    return verdicts


class Compared:
    """A group's runs, alone, by us and by ncu, and what each took."""

    def __init__(self, group, left):
        """`left`: seconds until the end of all."""
        self.group, self.left, self.seconds = group, left, []
        self.alone, self.runs = None, ([], [])

    def _run(self, measure):
        begin = time.monotonic()
        found = measure(self.left())
        self.seconds.append(round(time.monotonic() - begin))
        return found

    def by_us(self):
        if self.alone is None:
            self.alone = self._run(self.group.alone)
        self.runs[0].append(self._run(self.group.of_warpmeter))

    def by_ncu(self):
        self.runs[1].append(self._run(self.group.of_ncu))

    def verdicts(self):
        return judge(self.group, self.alone, *self.runs)


def all_of(act, groups):
    """Does it to all of them, and hands on each that is done."""
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        done = {pool.submit(act, group): group for group in groups}
        for future in concurrent.futures.as_completed(done):
            future.result()
            yield done[future]


def tell(group):
    """Prints a line a script. Returns how many there are of each kind."""
    total = collections.Counter()
    for number, verdict in enumerate(group.verdicts()):
        total.update(scripts=1, right=not verdict.lines, launches=verdict.compared, equal=verdict.equal, varying=verdict.varying,
                     other=len(verdict.lines), alone=len(verdict.remarks))
        name, alone = group.group.scripts[number][0], group.alone[1][number]
        fails = f", fails alone: {alone[-100:]}" if alone else ""
        print(f"{'FAILED' if verdict.lines else 'ok    '} {name}: {verdict.compared} launches, {verdict.equal} values equal, "
              f"{verdict.varying} vary; {group.seconds} s{fails}" + "".join(f"\n         {line}" for line in verdict.lines[:4]), flush=True)
    return total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("work")
    parser.add_argument("folder")
    parser.add_argument("--only", action="append", dest="chosen", default=[])
    parser.add_argument("--seconds", type=float, default=1e6)
    arguments = parser.parse_args()
    begin = time.monotonic()
    groups = [Compared(group, lambda: begin + arguments.seconds - time.monotonic())
              for group in groups_of(arguments.folder, arguments.chosen, arguments.work)]
    # Our processes take turns by themselves. ncu has none, and finds the counters free once all of them have ended.
    list(all_of(Compared.by_us, groups))
    print(f"alone and by warpmeter: {time.monotonic() - begin:.0f} s", flush=True)
    total, apart = collections.Counter(), []
    for group in all_of(Compared.by_ncu, groups):
        if any(one.differing for one in group.verdicts()):
            apart.append(group)
        else:
            total.update(tell(group))
    list(all_of(Compared.by_us, apart))
    for group in all_of(Compared.by_ncu, apart):
        total.update(tell(group))
    right, scripts = total.pop("right"), total.pop("scripts")
    print(f"{right} of {scripts} scripts measured in-process have ncu's counts: {json.dumps(total)}; {time.monotonic() - begin:.0f} s")
    return 0 if right == scripts > 0 and total["launches"] > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
