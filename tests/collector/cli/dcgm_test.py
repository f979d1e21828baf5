#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`--pause-dcgm`: whatever ends the measuring, DCGM's profiling is resumed. A dcgmi of our own writes down what it is told.

    tests/collector/cli/dcgm_test.py PROGRAM [CLASS[.TEST]…]"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = ""
DCGMI = """#!/bin/sh
echo "$*" >>"$0.log"
if [ -e "$0.refuses$2" ]; then echo "Error: the host engine is away" >&2; exit 3; fi
if [ -e "$0.hangs$2" ]; then exec sleep 1000; fi
"""
LONG = ("run", "matmul", "-n", "512,640,768,896,1024", "--no-progress")  # seconds without a GPU


class PauseDcgm(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.dcgmi = self.folder / "dcgmi"
        self.dcgmi.write_text(DCGMI)
        self.dcgmi.chmod(0o755)
        status = self.dcgmi.stat()
        for lock in ("turn", "held"):
            path = pathlib.Path(f"/tmp/warpmeter-dcgm-{status.st_dev}-{status.st_ino}.{lock}")
            self.addCleanup(lambda path=path: path.unlink(missing_ok=True))
        self.environment = dict(os.environ, PATH=f"{self.folder}:{os.environ['PATH']}", ASAN_OPTIONS="detect_leaks=0")
        self.environment.pop("WARPMETER_DB", None)

    def told(self):
        log = pathlib.Path(f"{self.dcgmi}.log")
        return [line.removeprefix("profile --") for line in log.read_text().splitlines()] if log.exists() else []

    def wait_for(self, told):
        end = time.monotonic() + 30
        while self.told() != told and time.monotonic() < end:
            time.sleep(0.02)
        self.assertEqual(self.told(), told)

    def run_to_end(self, *words, code=0, **environment):
        result = subprocess.run([PROGRAM, *words], cwd=self.folder, env=dict(self.environment, **environment), text=True,
                                stdin=subprocess.DEVNULL, capture_output=True, check=False)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result

    def start(self, database="a.db", **options):
        process = subprocess.Popen([PROGRAM, *LONG, "--pause-dcgm", "--db", database], cwd=self.folder, text=True,
                                   env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, start_new_session=True, **options)
        self.addCleanup(lambda: (process.poll() is None and process.kill(), process.wait(), process.stderr.close()))
        return process

    def watcher_of(self, process):
        """The process that resumes: in a session of its own."""
        for entry in pathlib.Path("/proc").iterdir():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split() if entry.name.isdigit() else []
            except OSError:
                continue
            if fields and int(fields[1]) == process.pid and int(fields[3]) == int(entry.name):
                return int(entry.name)
        return None

    def test_at_the_end_it_is_resumed(self):
        self.run_to_end("run", "vector_add", "-n", "1000", "--pause-dcgm", "-q")
        self.assertEqual(self.told(), ["pause", "resume"])

    def test_without_the_option_it_is_left_alone(self):
        self.run_to_end("run", "vector_add", "-n", "1000", "-q")
        self.assertEqual(self.told(), [])

    def test_after_an_error_it_is_resumed(self):
        self.run_to_end("run", "vector_add", "-n", "1000", "--pause-dcgm", "--db", "no/such/folder.db", "-q", code=5)
        self.assertEqual(self.told(), ["pause", "resume"])

    def test_around_a_program_it_is_paused_too(self):
        result = subprocess.run([PROGRAM, "profile", "--pause-dcgm", "true"], cwd=self.folder, env=self.environment, text=True,
                                stdin=subprocess.DEVNULL, capture_output=True, check=False)
        self.assertIn(result.returncode, (3, 4), result.stderr)  # it launches nothing
        self.assertEqual(self.told(), ["pause", "resume"])

    def test_however_a_signal_ends_it_it_is_resumed(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
            with self.subTest(signal=number.name):
                pathlib.Path(f"{self.dcgmi}.log").unlink(missing_ok=True)
                process = self.start(f"{number}.db")
                self.wait_for(["pause"])
                time.sleep(0.3)
                process.send_signal(number)
                self.assertEqual(process.wait(timeout=60), -number)
                self.wait_for(["pause", "resume"])

    def test_though_all_of_its_group_are_killed_it_is_resumed(self):
        process = self.start()
        self.wait_for(["pause"])
        os.killpg(process.pid, signal.SIGKILL)
        self.wait_for(["pause", "resume"])

    def test_though_the_watcher_is_killed_it_is_resumed(self):
        process = self.start()
        self.wait_for(["pause"])
        os.kill(self.watcher_of(process), signal.SIGKILL)
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)
        self.wait_for(["pause", "resume"])

    def test_of_two_that_measure_at_a_time_the_last_one_resumes(self):
        first = self.start("a.db")
        self.wait_for(["pause"])
        second = self.start("b.db")
        end = time.monotonic() + 30
        while self.watcher_of(second) is None and time.monotonic() < end:
            time.sleep(0.02)
        time.sleep(0.5)
        first.kill()
        first.wait()
        time.sleep(0.5)
        self.assertEqual(self.told(), ["pause"])
        self.run_to_end("run", "vector_add", "-n", "1000", "--pause-dcgm", "-q")
        self.assertEqual(self.told(), ["pause"])
        second.kill()
        self.wait_for(["pause", "resume"])

    def test_what_cannot_be_paused_is_not_measured(self):
        pathlib.Path(f"{self.dcgmi}.refuses--pause").touch()
        result = self.run_to_end("run", "vector_add", "-n", "1000", "--pause-dcgm", code=4)
        self.assertEqual(result.stderr, "warpmeter: DCGM's profiling cannot be paused: Error: the host engine is away; nothing was "
                                        "measured\n")
        self.assertFalse((self.folder / "warpmeter.db").exists())
        self.assertEqual(self.told(), ["pause"])

    def test_a_dcgmi_that_hangs_is_given_up(self):
        pathlib.Path(f"{self.dcgmi}.hangs--pause").touch()
        result = self.run_to_end("run", "vector_add", "-n", "1000", "--pause-dcgm", code=4)
        self.assertEqual(result.stderr, f"warpmeter: DCGM's profiling cannot be paused: {self.dcgmi} did not answer in 10 s; "
                                        "nothing was measured\n")
        self.assertFalse((self.folder / "warpmeter.db").exists())

    def test_what_cannot_be_resumed_is_said_with_the_command(self):
        pathlib.Path(f"{self.dcgmi}.refuses--resume").touch()
        result = self.run_to_end("run", "vector_add", "-n", "1000", "--pause-dcgm")
        self.assertIn("could not be resumed: Error: the host engine is away; resume it with: dcgmi profile --resume", result.stderr)

    def test_without_dcgmi_it_is_refused(self):
        empty = self.folder / "empty"
        empty.mkdir()
        result = self.run_to_end("run", "vector_add", "--pause-dcgm", code=4, PATH=str(empty))
        self.assertIn("--pause-dcgm needs dcgmi, and no folder of PATH has it", result.stderr)

    def test_with_the_model_it_is_refused(self):
        for words in (("run", "vector_add"), ("profile",)):
            result = self.run_to_end(*words, "-b", "model", "--pause-dcgm", *(("true",) if words[0] == "profile" else ()), code=2)
            self.assertIn("leave one out", result.stderr)
        self.run_to_end("run", "vector_add", "--pause-dcgm", "--dry-run")
        self.assertEqual(self.told(), [])


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main(verbosity=2)
