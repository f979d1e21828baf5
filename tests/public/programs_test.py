#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The comparison of public programs with a recording, on programs of our own.

    tests/public/programs_test.py WARPMETER PROGRAMS    PROGRAMS: the folder of those built from tests/runtime"""
import csv
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import counting
import instructions
import output
import programs

WARPMETER, PROGRAMS = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
HERE = pathlib.Path(__file__).resolve().parent


class Output(unittest.TestCase):
    def test_leaves_out_times_rates_addresses_and_devices(self):
        for one, other in [("kernel 3.25 ms", "kernel 17 ms"), ("took 5", "took 6"),
                           ("a at 0x7f00aa10", "a at 0x55d0cafe"), ("time  =  3", "time = 4"),
                           ("on NVIDIA H100 80GB HBM3", "on NVIDIA H200 (warpmeter model)"),
                           ("Elapsed: 1e-3, 4.2", "Elapsed: 2, 5"),
                           ("12.5 GB/s", "9 GB/s"), ("at /tmp/day 1/a.cu:7", "at /home/b/a.cu:7")]:
            self.assertEqual(output.normalised(one), output.normalised(other))

    def test_keeps_results(self):
        for one, other in [("sum 3.25", "sum 3.26"), ("C[0] = 1", "C[1] = 1"), ("3 errors", "4 errors"),
                           ("3.25 ms", ""), ("0x10", "0x11"), ("/tmp/a.cu:7", "/tmp/a.cu:8"), ("PASSED", "FAILED"),
                           ("step 1: 5", "step 2: 5")]:
            self.assertNotEqual(output.normalised(one), output.normalised(other))

    def test_differs_by_its_lines_or_by_their_order_alone(self):
        recorded = output.fingerprint(["a", "b", "c"])
        self.assertEqual(output.difference(recorded, ["a", "b", "c"])[0], "same")
        self.assertEqual(output.difference(recorded, ["b", "a", "c"])[0], "order")
        self.assertEqual(output.difference(recorded, ["a", "x", "c"]), ("output", "line 2: x"))
        self.assertEqual(output.difference(recorded, ["a", "b"]), ("output", "line 3: is missing"))
        self.assertEqual(output.difference(recorded, ["a", "b", "c", "d"])[0], "output")
        long = ["line"] * output.FIRST_LINES
        self.assertEqual(output.difference(output.fingerprint(long + ["a"]), long + ["b"])[0], "output")


class NsightCompute(unittest.TestCase):
    def test_counts_loads_by_cp_async_beside_the_others(self):
        counted = {"loads": ["ld", "ldgsts"], "stores": ["st"], "bytes": ["b", "b_ldgsts"]}
        self.assertIn("ld,ldgsts,st,b,b_ldgsts", counting.ncu(counted, "log"))
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as log:
            log.write('"ID","Kernel Name","Grid Size","Block Size","ld","ldgsts","st","b"\n'
                      '"","","","","","","",""\n'
                      '"0","k","(1, 1, 1)","(32, 1, 1)","1,000","24","8","n/a"\n')
            log.flush()
            launch, = counting.of_ncu(log.name, counted)
        self.assertEqual(launch.values, [1024, 8, None])

    def test_is_asked_for_each_counter_that_the_catalogue_adds_up(self):
        counted = counting.counters()
        self.assertEqual(counted["global_load_requests"],
                         ["smsp__sass_inst_executed_op_global_ld.sum", "sm__sass_l1tex_t_requests_pipe_lsu_mem_global_op_ldgsts.sum"])
        self.assertEqual(len(counted["global_store_requests"]), 1)


class Table(unittest.TestCase):
    def setUp(self):
        self.programs = programs.table(HERE / "programs.csv")
        self.recorded = counting.lines_of(HERE / "recorded.jsonl")

    def test_names_each_program_once_with_a_reason_for_what_differs(self):
        names = [programs.name_of(program) for program in self.programs]
        self.assertEqual(len(names), len(set(names)))
        self.assertGreaterEqual(len(names), 100)
        for program in self.programs:
            with self.subTest(program=programs.name_of(program)):
                self.assertEqual(program.differs != "", program.reason != "")
                self.assertLessEqual(set(program.differs.split("; ")),
                                     {"", "output", "order", "varies", "counts", "not ended"})

    def test_is_recorded_whole(self):
        names = [programs.name_of(program) for program in self.programs]
        self.assertEqual(sorted(line["program"] for line in self.recorded), sorted(names))
        differs = {programs.name_of(program): program.differs.split("; ") for program in self.programs}
        for line in self.recorded:
            with self.subTest(program=line["program"]):
                self.assertEqual(line["varies"], "varies" in differs[line["program"]])
                self.assertIsNotNone(line["exit"])
                for launch in line["launches"]:
                    self.assertEqual(list(launch.values), list(counting.counters()))

    def test_keeps_the_invariants_on_hardware(self):
        """The rules of tests/invariants.sql, which the model is held to as well."""
        launches = [launch for line in self.recorded for launch in line["launches"] if None not in launch.values.values()]
        self.assertGreater(len(launches), 900)
        for launch in launches:
            for kind in ("global_load", "global_store"):
                self.assertLessEqual(launch.values[kind + "_bytes"], 32 * launch.values[kind + "_sectors"], launch)
            for name in launch.values:
                if name.endswith("_requests"):
                    of = name.replace("_requests", "_wavefronts" if name.startswith("shared") else "_sectors")
                    self.assertLessEqual(launch.values[name], launch.values[of], launch)


class Compared(unittest.TestCase):
    def test_tells_values_by_their_grade(self):
        mine = counting.Launch("k", "1x1x1", "32x1x1",
                               [(3, "exact"), (4, "exact"), (5, "ptx"), (6, "modelled"), None])
        recorded = mine._replace(values=dict(zip("abcde", (3, 5, 5, 5, 0))))
        counts = counting.compared([mine], [recorded], "abcde")
        self.assertEqual((counts.exact, counts.equal, counts.different), (2, 1, 1))
        self.assertEqual((counts.not_exact, counts.not_exact_equal, counts.failed), (3, 1, 0))
        self.assertEqual(counts.differences, ["k: b 4, recorded 5"])


class Instructions(unittest.TestCase):
    """Two CSVs as instructions.py records them: a launch of the kernel k for each of the values of inst_executed."""

    def file(self, *runs):
        with tempfile.NamedTemporaryFile("w", suffix=".csv", delete=False, encoding="utf-8", newline="") as file:
            self.addCleanup(pathlib.Path(file.name).unlink)
            rest = ["0"] * (len(instructions.METRICS) - 1)
            csv.writer(file).writerows([instructions.HEAD + instructions.METRICS, *(
                ["p", "c", i, j, "k", "1x1x1", "32x1x1", value, *rest]
                for i, values in enumerate(runs, 1) for j, value in enumerate(values, 1))])
        return file.name

    def compared(self, gpu, model):
        done = subprocess.run([sys.executable, "-B", HERE / "instructions.py", "compare", self.file(*gpu),
                               self.file(model)], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def test_hold_where_each_exact_value_is_the_same(self):
        code, said = self.compared([["8", "9"], ["8", "9"]], ["8", "ptx 7: PTX instructions (line 3 of the PTX)"])
        self.assertEqual(code, 0, said)
        self.assertRegex(said, rf" {2 * len(instructions.METRICS) - 1} values exact and equal\n +1 values not exact")
        self.assertIn("inst_executed is exact for 50.0 % of the launches of the model", said)
        self.assertRegex(said, r"inst_executed that is not exact:\n +1 PTX instructions\n")

    def test_differ_by_a_value(self):
        code, said = self.compared([["8", "9"], ["8", "9"]], ["8", "7"])
        self.assertEqual(code, 1, said)
        self.assertIn("DIFFERENT inst_executed 7, GPU 9: p k", said)

    def test_are_left_out_where_the_gpu_counts_otherwise_each_time_or_not_at_all(self):
        code, said = self.compared([["8", "9"], ["8", "6"]], ["8", "7", "5"])
        self.assertEqual(code, 0, said)
        self.assertIn("varies on the GPU: p k", said)
        self.assertIn("not counted on the GPU: p k", said)
        self.assertRegex(said, r" 1 launches compared")


class Program(unittest.TestCase):
    """A table of one program, and a recording as ncu would have given it: the counts of warpmeter's own run."""

    def setUp(self):
        self.run_as_recorded("shared_square")

    def run_as_recorded(self, name):
        work = tempfile.TemporaryDirectory()
        self.addCleanup(work.cleanup)
        self.work, self.name = pathlib.Path(work.name), name
        place = self.work / "programs/ours/tests"
        place.mkdir(parents=True)
        shutil.copy(PROGRAMS / name, place / name)
        names = list(counting.counters())
        done = subprocess.run([WARPMETER, "profile", "-b", "model", "-q", "--db", self.work / "db", "-m",
                               ",".join(names), place / name], capture_output=True, text=True, check=False)
        self.launches = [launch._replace(values=[value and value[0] for value in launch.values])
                         for launch in counting.of_warpmeter(WARPMETER, str(self.work / "db"), names)]
        self.entry = {"program": f"ours/tests {name}.cu", "code": counting.device_code(place / name),
                      "exit": 0, "varies": False, **output.fingerprint(output.normalised(done.stdout))}

    def holds(self, differs="", *options, **changed):
        entry = {**self.entry, "launches": counting.shortened(self.launches), **changed}
        with open(self.work / "recorded", "w", encoding="utf-8") as file:
            print(json.dumps({"counters": counting.counters()}), json.dumps(entry), sep="\n", file=file)
        with open(self.work / "table", "w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([programs.Program._fields, ("ours/tests", "", f"{self.name}.cu", "", "",
                                                                   differs, "told" if differs else "")])
        done = subprocess.run([sys.executable, "-B", HERE / "programs.py", self.work / "programs",
                               "--build", WARPMETER.parent, "--table", self.work / "table",
                               "--recorded", self.work / "recorded", *options], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def test_that_gives_what_was_recorded_holds(self):
        code, said = self.holds()
        self.assertEqual(code, 0, said)
        self.assertIn("all 1 programs hold", said)
        equal = sum(value is not None for launch in self.launches for value in launch.values)
        self.assertGreaterEqual(equal, 5 * 16)
        self.assertRegex(said, rf"ok   same +{equal} exact, +{equal} equal, +0 different; +0 not exact")

    def test_whose_count_is_another_fails(self):
        launch = self.launches[2]
        self.launches[2] = launch._replace(values=[launch.values[0] + 1, *launch.values[1:]])
        code, said = self.holds()
        self.assertEqual(code, 1, said)
        mine = launch.values[0]
        self.assertIn(f"{launch.kernel}: shared_load_wavefronts {mine}, recorded {mine + 1}", said)
        self.assertEqual(self.holds(differs="counts")[0], 0)
        self.assertEqual(self.holds(differs="output")[0], 1)

    def test_that_launches_less_or_more_fails(self):
        for launches in (self.launches[:-1], self.launches + self.launches[-1:]):
            code, said = self.holds(launches=counting.shortened(launches))
            self.assertEqual(code, 1, said)
            self.assertIn("1 different", said)

    def test_whose_launch_ends_in_an_error_holds_where_it_did_on_the_gpu(self):
        self.run_as_recorded("trap")
        self.assertEqual(len(self.launches), 1)
        with unittest.mock.patch.object(counting, "LAUNCHES", 0):  # launches beyond the first have no counterpart
            self.assertEqual(counting.of_warpmeter(WARPMETER, str(self.work / "db"), list(counting.counters())), [])
        as_ncu_has_it = self.launches[0]._replace(grid="0x0x0", block="0x0x0")
        self.assertTrue(counting.failed(as_ncu_has_it))
        code, said = self.holds(launches=counting.shortened([as_ncu_has_it]))
        self.assertEqual(code, 0, said)
        self.assertIn("0 different", said)
        for launches in ([], [self.launches[0]._replace(values=[0] * len(counting.counters()))]):
            code, said = self.holds(launches=counting.shortened(launches))
            self.assertEqual(code, 1, said)
            self.assertIn("_Z4endsv in an error: on the GPU it did not end so that often", said)

    def test_that_prints_or_ends_otherwise_fails(self):
        self.assertEqual(self.holds(**output.fingerprint(["something else"]))[0], 1)
        self.assertEqual(self.holds(**output.fingerprint(["something else"]), varies=True)[0], 1)
        self.assertEqual(self.holds("varies", **output.fingerprint(["something else"]), varies=True)[0], 0)
        self.assertEqual(self.holds("varies", **output.fingerprint(["something else"]))[0], 1)
        self.assertEqual(self.holds(exit=3)[0], 1)

    def test_that_does_not_end_in_time_fails(self):
        code, said = self.holds("", "--timeout", "0.001")
        self.assertEqual(code, 1, said)
        self.assertIn("FAIL not ended", said)
        self.assertEqual(self.holds("not ended; counts", "--timeout", "0.001")[0], 0)

    def test_of_other_device_code_is_told(self):
        self.assertIn("device code is not what was recorded", self.holds(code="0")[1])

    def test_is_recorded_with_launches_that_repeat_counted(self):
        launch = counting.Launch("k", "1x1x1", "32x1x1", [1, 2])
        rows = counting.shortened([launch, launch, launch._replace(values=[1, 3]), launch])
        self.assertEqual([times for times, *_ in rows], [2, 1, 1])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
