#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`warpmeter submit` on a real cluster of three nodes that this test starts on this machine (cluster.py).

    tests/slurm/slurm_test.py PROGRAM [CLASS[.TEST]…]      exit code 77: there can be no cluster here, and why
"""
import concurrent.futures
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
        """The content of a database about each launch, without when and where it was measured."""
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

    def runs(self, database):
        with sqlite3.connect(self.folder / database) as db:
            return db.execute("SELECT outcome, command, launches, planned_launches, label FROM runs").fetchall()

    def measuring(self, task):
        """The process that measures a task now; other tests have such too, in their own folders."""
        name = f"tasks/{task:04}.db".encode()
        for entry in pathlib.Path("/proc").iterdir():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
                is_own = words != [] and (entry / "cwd").resolve().is_relative_to(self.folder.resolve())
            except OSError:
                continue
            if is_own and words[0:2] == [PROGRAM.encode(), b"run"] and any(word.endswith(name) for word in words):
                return int(entry.name)
        return None


class Interrupted(OnACluster):
    WORDS = ("run", "matmul", "-n", "128,192,256,320,384,448", "-b", "model", "--threads", "1")

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
        late, killed, downed = 9, 10, 11  # the largest, so that they are caught before their last launch
        halted = self.stop_in_the_middle([late, killed, downed])
        os.kill(halted[killed], signal.SIGKILL)
        self.lab.fail_node((self.folder / f"job/tasks/{downed:04}.node").read_text().strip())
        before = {task: self.launches(f"job/tasks/{task:04}.db") for task in halted}
        self.assertTrue(all(before.values()), before)
        # A minute, the least that Slurm gives, is longer than a test should wait; Slurm looks each 30 s.
        jobs = dict(line.split() for line in self.lab.run(["squeue", "-h", "-r", "-o", "%K %A"]).stdout.splitlines())
        self.lab.run(["scontrol", "update", f"JobId={jobs[str(late)]}", "EndTime=now"])
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
        self.assertEqual(self.runs("job/merged.db"), [("done", "warpmeter " + " ".join(self.WORDS), 36, 36, "nightly")])
        merged = (self.folder / "job/merged.db").read_bytes()
        self.assertIn("every task has come to its end", self.warpmeter("submit", "resume", "job").stderr)
        self.assertEqual((self.folder / "job/merged.db").read_bytes(), merged)


class Jobs(OnACluster):
    options = {"gpus": [("h200", "h200"), ("h200",), ("a100",)]}
    WORDS = ("run", "transpose", "-n", "64,128", "-b", "model")

    def test_a_split_run_becomes_one_run_that_equals_a_local_one(self):
        self.submit("--split", "5", "--label", "nightly", "--", *self.WORDS)
        self.warpmeter(*self.WORDS, "--db", "local.db")
        self.assertEqual(self.counts("job/merged.db"), self.counts("local.db"))
        self.assertEqual(self.runs("job/merged.db"),
                         [("done", "warpmeter " + " ".join(self.WORDS), 14, 14, "nightly")])
        self.assertEqual(sorted(self.states()), ["done"] * 5)

    def test_a_person_runs_the_scripts_without_submit(self):
        self.submit("--split", "3", "--", *self.WORDS)
        job, merged = self.folder / "job", self.counts("job/merged.db")
        for path in [job / "merged.db", *(job / "tasks").glob("*.db"), *(job / "tasks").glob("*.exit")]:
            path.unlink()
        self.lab.run(["sbatch", "--wait", "job.sh"], cwd=job)
        self.lab.run(["bash", "merge.sh"], cwd=job)
        self.assertEqual(self.counts("job/merged.db"), merged)
        self.lab.run(["bash", "job.sh", "2"], cwd=job)  # one by itself, which has ended already
        self.assertEqual(self.counts("job/merged.db"), merged)

    def test_each_repeats_the_command_where_it_says(self):
        nodes = {"node": ["n1", "n2", "n3"], "gpu-type": ["n3", "n1 or n2"], "gpu": ["n1", "n1", "n2", "n3"]}
        for each, expected in nodes.items():
            with self.subTest(each=each):
                self.submit("--each", each, "--", "run", "vector_add", "-n", "256", "-b", "model", job=each)
                status = self.status(each)
                self.assertEqual(len(self.runs(f"{each}/merged.db")), len(expected))
                for row, where in zip(status.values(), expected):
                    self.assertIn(row["node"], where)
        plan = json.loads((self.folder / "gpu/plan.json").read_text())
        self.assertEqual([(task["node"], task["gres"], task["gpu"]) for task in plan["tasks"]],
                         [("n1", "gpu:h200:2", 1), ("n1", "gpu:h200:2", 2), ("n2", "gpu:h200:1", 1),
                          ("n3", "gpu:a100:1", 1)])

    def test_a_program_is_profiled_whole(self):
        self.submit("--each", "node", "--", "profile", "-b", "model", "/bin/true", code=3)
        self.assertEqual(self.states(code=3), ["done"] * 3)

    def test_exit_codes_are_those_of_the_command(self):
        (self.folder / "bad.cu").write_text('extern "C" __global__ void bad(int* p) { p[1 << 30] = 1; }\n')
        words = ("run", "bad.cu", "-b", "model", "-k", "bad", "--grid", "1", "--block", "32", "--arg", "p:i32[32]")
        local = self.warpmeter(*words, code=6)
        self.submit("--", *words, code=6)
        self.assertEqual(list(self.status(code=6).values())[0]["exit_code"], 6, local.stderr)
        resumed = self.warpmeter("submit", "resume", "job", "--wait", code=6)  # a kernel that fails, fails again
        self.assertIn("every task has come to its end", resumed.stderr)

    def test_what_is_cancelled_is_resumed(self):
        self.warpmeter("submit", "--folder", "job", "--split", "14", "--", *self.WORDS)
        number = re.search(r"^(\d+) ", (self.folder / "job/jobs").read_text()).group(1)
        self.warpmeter("submit", "cancel", number)
        self.warpmeter("submit", "status", number, "--wait", code=3)
        self.warpmeter("submit", "resume", number, "--wait")
        self.assertEqual(self.runs("job/merged.db")[0][:3], ("done", "warpmeter " + " ".join(self.WORDS), 14))
        self.assertIn(number, self.warpmeter("submit", "list", "--format", "csv").stdout)

    def test_the_same_command_again_finishes_the_work_and_queues_nothing_twice(self):
        words = ("--split", "4", "--", *self.WORDS)
        self.warpmeter("submit", "--folder", "job", *words)
        queued = (self.folder / "job/jobs").read_text()
        (self.folder / "job/jobs").unlink()  # as if it had been killed before it wrote that down
        self.submit(*words)
        self.assertEqual((self.folder / "job/jobs").read_text(), queued)
        self.assertEqual(self.runs("job/merged.db")[0][2], 14)
        other = self.warpmeter("submit", "--folder", "job", "--", "run", "reduction", code=2)
        self.assertIn("holds another job", other.stderr)

    def test_names_labels_and_paths_are_text(self):
        odd = "a 'b' \"c\" $(touch x) `y` #%j\nd"
        home = self.folder / odd
        home.mkdir()
        self.warpmeter("submit", "--folder", f"{odd} job", "--wait", "--label", odd, "--sbatch", f"--job-name={odd}",
                       "--split", "2", "--", *self.WORDS, cwd=home)
        job = home / f"{odd} job"
        self.assertEqual(self.runs(job / "merged.db")[0][4], odd)
        self.assertEqual([path.name for path in home.iterdir() if path.name in ("x", "y")], [])
        self.warpmeter("submit", "status", job)

    def test_a_folder_may_have_any_name(self):
        words = ("--split", "2", "--", "run", "vector_add", "-n", "64,128", "-b", "model")
        names = ("a b", "a'b", 'a"b', "a\nb", "100%", "a%jb", "a\\b", "$x `y` #z", "-x", "ä ")

        def try_one(number, odd):
            home = self.folder / str(number) / odd
            home.mkdir(parents=True)
            self.warpmeter("submit", "--folder", f"{odd}job", "--wait", "--quiet", "--label", odd, *words, cwd=home)
            job = home / f"{odd}job"
            self.assertEqual([row[4] for row in self.runs(job / "merged.db")], [odd])
            logs = ["0001.log", "0002.log", "merge.log"]
            self.assertEqual(sorted(path.name for path in (job / "logs").iterdir()), logs)
            # And by hand, where sbatch reads all of it from the script.
            for path in [job / "merged.db", *job.glob("tasks/*.db"), *job.glob("tasks/*.exit")]:
                path.unlink()
            self.lab.run(["sbatch", "--wait", "job.sh"], cwd=job)
            self.lab.run(["bash", "merge.sh"], cwd=job)
            self.assertEqual([row[2] for row in self.runs(job / "merged.db")], [4], odd)

        # Nearly all of it is waiting: side by side.
        with concurrent.futures.ThreadPoolExecutor() as pool:
            tries = {odd: pool.submit(try_one, number, odd) for number, odd in enumerate(names)}
        for odd, result in tries.items():
            with self.subTest(name=odd):
                result.result()

    def test_native_options_may_hold_anything(self):
        for odd in ("a b", "it's", 'a "b" \\ #c', "$x `y`"):
            with self.subTest(name=odd):
                self.submit("--sbatch", f"--job-name={odd}", "--", "run", "vector_add", "-n", "64", "-b", "model", job=odd)
                number = self.lab.run(["sbatch", "--parsable", "job.sh"], cwd=self.folder / odd).stdout.strip()
                self.assertEqual(self.lab.run(["squeue", "-h", "-t", "all", "-j", number, "-o", "%j"]).stdout.strip(), odd)

    def test_what_ended_before_it_stored_anything_is_run_again(self):
        self.submit("--", *self.WORDS)
        job = self.folder / "job"
        merged = self.counts("job/merged.db")
        for code in (3, 6):
            with self.subTest(code=code):
                for path in [job / "merged.db", job / "tasks/0001.db"]:
                    path.unlink()
                (job / "tasks/0001.exit").write_text(f"{code}\n")
                self.assertIn("submit resume", self.warpmeter("submit", "status", "job", code=code).stderr)
                self.assertIn("1 task in Slurm's queue", self.warpmeter("submit", "resume", "job", "--wait").stderr)
                self.assertEqual(self.counts("job/merged.db"), merged)

    def test_a_failed_kernel_is_final_and_resuming_loses_nothing(self):
        (self.folder / "bad.cu").write_text('extern "C" __global__ void bad(int* p) { p[1 << 30] = 1; }\n')
        self.submit("--", "run", "bad.cu", "-b", "model", "-k", "bad", "--grid", "1", "--block", "32", "--arg", "p:i32[32]",
                    code=6)
        before = {path: path.read_bytes() for path in (self.folder / "job").rglob("*") if path.is_file()}
        for _ in range(2):
            self.warpmeter("submit", "resume", "job", "--wait", code=6)
        after = {path: path.read_bytes() for path in (self.folder / "job").rglob("*") if path.is_file()}
        self.assertEqual(before, after)
        # Merged anew, it is the same: the runs keep what they are known by.
        (self.folder / "job/merged.db").rename(self.folder / "first.db")
        self.warpmeter("submit", "resume", "job", "--wait", code=6)
        again = json.loads(self.warpmeter("merge", "job/merged.db", "-o", "first.db", "--format", "json").stdout)[0]
        self.assertEqual((again["added"], again["known"], again["conflicts"]), (0, 1, 0))

    def test_a_failure_is_said_even_when_quiet(self):
        failed = self.submit("--", "run", "vector_add", "-n", "64", "-b", "cupti", code=4)
        self.assertRegex(failed.stderr, r"^task 1 ended with exit code 4: .*/job/logs/0001\.log\n$")
        self.assertEqual(self.warpmeter("submit", "status", "job", "--quiet", code=4).stderr, failed.stderr)

    def test_runs_are_recorded_as_they_were_typed(self):
        self.submit("--each", "node", "--", *self.WORDS, job="each")
        self.assertEqual({row[1] for row in self.runs("each/merged.db")}, {"warpmeter " + " ".join(self.WORDS)})
        (self.folder / "one.cu").write_text('extern "C" __global__ void one(int* p) { p[threadIdx.x] = 1; }\n')
        model = ("model", "one.cu", "-k", "one", "--grid", "1", "--block", "32", "--arg", "p:i32[32]")
        self.submit("--", *model, job="model")
        self.assertEqual(self.runs("model/merged.db")[0][1], "warpmeter " + " ".join(model[:-1]) + " 'p:i32[32]'")

    def test_status_says_how_long_a_task_took(self):
        self.submit("--", *self.WORDS)
        self.assertRegex(self.status()[1]["elapsed"], r"^\d+:\d\d$")
        os.utime(self.folder / "job/tasks/0001.node", (0, (self.folder / "job/tasks/0001.exit").stat().st_mtime - 93784.5))
        self.assertEqual(self.status()[1]["elapsed"], "1-02:03:04")

    def test_what_there_is_not_is_said_before_anything_is_queued(self):
        rows = [
            (2, "there is no partition 'lub'; there are lab, night", ["--partition", "lub"]),
            (2, "there is no GPU 'h100' in the partition; there are a100, h200", ["--gres", "gpu:h100:1"]),
            (2, "none has more than 2", ["--gres", "gpu:h200:8"]),
            (2, "Slurm refuses the job: Invalid --time", ["--time", "soon"]),
            (2, "there is no GPU 'a100' in the partition; there are h200",
             ["--partition", "night", "--gres", "gpu:a100:1"]),
            (2, "is what submit itself says", ["--sbatch", "--array=1-4"]),
            (2, "--split divides a command and --each repeats it", ["--split", "2", "--each", "node"]),
            (2, "already means a run", ["--label", "last"]),
        ]
        for code, sentence, options in rows:
            with self.subTest(options=options):
                result = self.warpmeter("submit", "--folder", "job", *options, "--", *self.WORDS, code=code)
                self.assertIn(sentence, result.stderr)
                self.assertFalse((self.folder / "job").exists())

    def test_commands_that_make_no_sense_are_refused(self):
        rows = [
            ("cannot be split", ["--split", "2", "--", "profile", "/bin/true"]),
            ("does not go with submit", ["--", "run", "transpose", "--db", "x.db"]),
            ("a command that measures", ["--", "report"]),
            ("needs the command", ["--split", "2"]),
            ("the command goes after --", ["run", "transpose"]),
            ("there is no job '999999'", ["status", "999999"]),
            ("needs a job", ["resume"]),
            ("not 'stop'", ["stop", "17"]),
            ("transpoze", ["--split", "2", "--", "run", "transpoze"]),
            ("has no option", ["--", "run", "--splat"]),
            ("no kernel variant matches 'nosuch'", ["--", "run", "nosuch"]),
            ("no kernel variant matches 'nosuch'", ["--each", "node", "--", "run", "nosuch"]),
            ("./nosuch cannot be started: there is no such file", ["--", "profile", "-b", "model", "./nosuch", "--size", "4"]),
            ("does not go with submit", ["--", "run", "transpose", "--as", "x"]),
            ("takes one job, not 2", ["status", "1", "2"]),
            ("submit list takes no job", ["list", "1"]),
        ]
        for sentence, words in rows:
            with self.subTest(words=words):
                self.assertIn(sentence, self.warpmeter("submit", *words, code=2).stderr)

    def test_options_of_submitting_are_none_of_an_action(self):
        self.submit("--", "run", "vector_add", "-n", "64", "-b", "model")
        for action, option in (("status", "--split=2"), ("status", "--partition=lab"), ("resume", "--each=node"),
                               ("resume", "--label=x"), ("cancel", "--wait"), ("cancel", "--db=x.db"), ("status", "--folder=x"),
                               ("resume", "--dry-run"), ("cancel", "--format=json")):
            with self.subTest(action=action, option=option):
                result = self.warpmeter("submit", action, "job", option, code=2)
                self.assertIn(f"submit {action} takes no {option.split('=')[0]}", result.stderr)
        self.assertIn("submit list takes no --wait", self.warpmeter("submit", "list", "--wait", code=2).stderr)
        self.warpmeter("submit", "status", "job", WARPMETER_DB="x.db")

    def test_without_slurm_it_says_so(self):
        result = self.warpmeter("submit", "--", *self.WORDS, code=4, PATH="/nowhere")
        self.assertIn("sinfo was not found", result.stderr)
        (self.folder / "away.conf").write_text(
            re.sub(r"SlurmctldPort=\d+", "SlurmctldPort=1\nSlurmctldTimeout=1\nMessageTimeout=2",
                   (self.lab.folder / "slurm.conf").read_text()))
        result = self.warpmeter("submit", "--", *self.WORDS, code=4, SLURM_CONF=str(self.folder / "away.conf"))
        self.assertIn("sinfo does not answer", result.stderr)

    def test_a_folder_that_a_node_does_not_see_is_refused(self):
        hidden = self.folder / "hidden"
        hidden.mkdir()
        if not self.lab.can_hide(hidden):
            self.skipTest("no mount namespace can be made here")
        result = self.lab.hidden(hidden, [PROGRAM, "submit", "--folder", str(hidden / "job"), "--", *self.WORDS],
                                 self.environment, self.folder)
        self.assertEqual(result.returncode, 5, result.stderr)
        self.assertIn("does not see the folder of the job", result.stderr)

    def test_a_full_disk_ends_its_tasks_and_resume_completes_them(self):
        full = self.folder / "full"
        full.mkdir()
        mount = self.lab.run(["mount", "-t", "tmpfs", "-o", "size=192k", "tmpfs", str(full)], check=False)
        if mount.returncode != 0:
            self.skipTest("no file system can be mounted here")
        self.addCleanup(self.lab.run, ["umount", "-l", str(full)], check=False)
        self.submit("--split", "3", "--", *self.WORDS, job="full/job", code=5)
        self.lab.run(["mount", "-o", "remount,size=64m", str(full)])
        self.warpmeter("submit", "resume", "full/job", "--wait")
        self.warpmeter(*self.WORDS, "--db", "local.db")
        self.assertEqual(self.counts("full/job/merged.db"), self.counts("local.db"))


class Overhead(OnACluster):
    options = {"cpus": 4}
    TASKS = 200

    def test_of_two_hundred_tasks_is_small(self):
        sizes = ",".join(str(64 * i) for i in range(1, 101))
        words = ("run", "vector_add", "-n", sizes, "-b", "model", "--threads", "1")
        self.lab.run(["sbatch", "--wait", f"--array=1-{self.TASKS}", "-o", "/dev/null", "--wrap", "true"])
        begin = time.monotonic()
        self.lab.run(["sbatch", "--wait", f"--array=1-{self.TASKS}", "-o", "/dev/null", "--wrap", "true"])
        slurm = time.monotonic() - begin
        begin = time.monotonic()
        self.submit("--split", str(self.TASKS), "--", *words)
        whole = time.monotonic() - begin
        job = self.folder / "job"
        begin = time.monotonic()
        self.lab.run(["bash", "merge.sh"], cwd=job)
        merge = time.monotonic() - begin
        begin = time.monotonic()
        for task in range(1, 21):
            (job / f"tasks/{task:04}.exit").unlink()
            for path in job.glob(f"tasks/{task:04}.db*"):
                path.unlink()
            self.lab.run(["bash", "job.sh", str(task)], cwd=job)
        script = (time.monotonic() - begin) / 20
        print(f"\n{self.TASKS} tasks of `true`: {slurm:.1f} s; of warpmeter, with their merging: {whole:.1f} s; "
              f"a task's script by itself: {script:.3f} s; the merge: {merge:.2f} s")
        self.assertEqual(self.runs("job/merged.db")[0][2], 200)
        self.assertLess(merge, 5)
        self.assertLess(script, 0.2)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAM = os.path.realpath(sys.argv[1])
    WHY = cluster.missing()
    if WHY:
        print(f"skipped: {WHY}")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
