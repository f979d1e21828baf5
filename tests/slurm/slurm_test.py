#!/usr/bin/env python3
"""`warpmeter submit` on a real cluster of three nodes that this test starts on this machine (cluster.py).

    tests/slurm/slurm_test.py PROGRAM [CLASS[.TEST]…]      exit code 77: there can be no cluster here, and why
"""
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import cluster  # pylint: disable=wrong-import-position

PROGRAM = ""


class OnACluster(unittest.TestCase):
    """A cluster for all tests of a class, a folder for each."""
    options = {}

    @classmethod
    def setUpClass(cls):
        cls.lab = cluster.Cluster(**cls.options)
        cls.lab.start()
        cls.addClassCleanup(cls.lab.stop)

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="submit-", dir=self.lab.folder))
        self.environment = dict(self.lab.environment, XDG_STATE_HOME=str(self.folder / "state"),
                                ASAN_OPTIONS="detect_leaks=0")
        self.environment.pop("WARPMETER_DB", None)

    def warpmeter(self, *words, code=0, **options):
        result = subprocess.run([PROGRAM, *map(str, words)], cwd=options.pop("cwd", self.folder), text=True,
                                env=dict(self.environment, **options), stdin=subprocess.DEVNULL, capture_output=True,
                                check=False)
        self.assertEqual(result.returncode, code, f"{words}\n{result.stdout}{result.stderr}{self.logs()}")
        return result

    def logs(self):
        return "".join(f"--- {path}\n{path.read_text(errors='replace')[-1500:]}"
                       for path in sorted(self.folder.rglob("*.log")))

    def submit(self, *words, job="job", code=0):
        """A job in the folder `job`, to its end."""
        return self.warpmeter("submit", "--folder", job, "--wait", "--quiet", *words, code=code)

    def status(self, job="job", code=0):
        words = self.warpmeter("submit", "status", self.folder / job, "--format", "json", code=code)
        return {row["task"]: row for row in json.loads(words.stdout)}

    def states(self, **options):
        return [row["state"] for row in self.status(**options).values()]

    def counts(self, database):
        """What a database holds of each launch, without when and where it was measured."""
        with sqlite3.connect(self.folder / database) as db:
            return sorted(db.execute(
                "SELECT r.family, r.variant, coalesce(r.size, 0), l.grid, l.block, l.verified, l.outcome, l.reason, "
                "r.metric, coalesce(r.value, -1), r.unit, r.grade, coalesce(r.reason, '') "
                "FROM results r JOIN launches l ON l.launch_id = r.launch_id"))

    def launches(self, database):
        try:
            with sqlite3.connect(f"file:{self.folder / database}?mode=ro", uri=True) as db:
                return db.execute("SELECT count(*) FROM launches").fetchone()[0]
        except sqlite3.Error:
            return 0

    def measuring(self, task):
        """The process that measures a task now."""
        name = f"tasks/{task:04}.db".encode()
        for entry in pathlib.Path("/proc").iterdir():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
            except OSError:
                continue
            if words[0:2] == [PROGRAM.encode(), b"run"] and any(word.endswith(name) for word in words):
                return int(entry.name)
        return None


class Interrupted(OnACluster):
    WORDS = ("run", "matmul", "-n", "256,320,384,448,512,576", "-b", "model", "--threads", "1")

    def stop_in_the_middle(self, tasks):
        """Halts each of the tasks once it has a launch; their processes."""
        halted = {}
        end = time.monotonic() + 180
        while len(halted) < len(tasks):
            self.assertLess(time.monotonic(), end, f"only {list(halted)} were caught\n{self.logs()}")
            for task in tasks:
                if task not in halted and self.launches(f"job/tasks/{task:04}.db") > 0:
                    process = self.measuring(task)
                    if process is not None:
                        os.kill(process, signal.SIGSTOP)
                        halted[task] = process
            time.sleep(0.002)
        return halted

    def test_resume_completes_what_was_killed_out_of_time_or_on_a_node_that_went_down(self):
        self.warpmeter("submit", "--folder", "job", "--split", "12", "--time", "1", "--label", "nightly", "--", *self.WORDS)
        late, killed, downed = 1, 2, 3
        halted = self.stop_in_the_middle([late, killed, downed])
        os.kill(halted[killed], signal.SIGKILL)
        self.lab.fail_node((self.folder / f"job/tasks/{downed:04}.node").read_text().strip())
        before = {task: self.launches(f"job/tasks/{task:04}.db") for task in halted}
        self.assertTrue(all(before.values()), before)
        # Slurm looks for the end of time each 30 s, and counts it in minutes.
        self.lab.wait_for(lambda: "TIMEOUT" in str(self.lab.run(
            ["squeue", "-h", "-r", "-t", "all", "-o", "%T"]).stdout), 150, "the end of a task's time")
        self.warpmeter("submit", "status", "job", "--wait", "--quiet", code=3)
        status = self.status(code=3)
        self.assertEqual((status[late]["state"], status[late]["why"]), ("died", "TIMEOUT"))
        self.assertEqual(status[killed]["state"], "died")
        # Slurm gave the task of the node to another one by itself.
        self.assertEqual(status[downed]["state"], "done")
        self.assertEqual(sum(row["state"] == "done" for row in status.values()), 10, status)

        resumed = self.warpmeter("submit", "resume", "job", "--wait")
        self.assertIn("2 tasks in Slurm's queue", resumed.stderr)
        self.assertEqual(self.states(), ["done"] * 12)
        for task in halted:
            log = (self.folder / f"job/logs/{task:04}.log").read_text()
            self.assertIn("going on with run 1, which has ", log)

        self.warpmeter(*self.WORDS, "--db", "local.db")
        self.assertEqual(self.counts("job/merged.db"), self.counts("local.db"))
        merged = (self.folder / "job/merged.db").read_bytes()
        self.assertIn("every task has come to its end", self.warpmeter("submit", "resume", "job").stderr)
        self.assertEqual((self.folder / "job/merged.db").read_bytes(), merged)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAM = os.path.realpath(sys.argv[1])
    WHY = cluster.missing()
    if WHY:
        print(f"skipped: {WHY}")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
