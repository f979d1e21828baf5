#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kernels rewritten as explain advises (tests/reports/explain/advised*.cu): the rewritten kernel counts what was
predicted, moves no more than before, and gets other advice than the one that was followed."""
import json, os, pathlib, re, sqlite3, subprocess, sys, tempfile, unittest

HERE = pathlib.Path(__file__).resolve().parent / "explain"
SCHEMA = json.loads((HERE.parents[2] / "reports/explain.schema.json").read_text())
REMEDY = SCHEMA["$defs"]["remedy"]["properties"]["name"]

# kernel, rewritten kernel, kind of the finding, the object it names, the remedy that was followed
PAIRS = [
    ("distances", "distances_padded", "bank_conflict", "points", "padding 1"),
    ("distances", "distances_swizzled", "bank_conflict", "points", "swizzle"),
    ("turn", "turn_padded", "bank_conflict", "tile", "padding 2"),
    ("columns_of_halves", "columns_of_halves_padded", "bank_conflict", "tile", "padding 1"),
    ("along_z", "along_z_padded", "bank_conflict", "box", "padding 1"),
    ("scan_of_block", "scan_of_block_padded", "bank_conflict", "s", "padding 1"),
    ("softmax_of_rows", "softmax_of_rows_padded", "bank_conflict", "rows", "padding 1"),
    ("sort_columns", "sort_columns_padded", "bank_conflict", "keys", "padding 2"),
    ("flip_bytes", "flip_bytes_padded", "bank_conflict", "tile", "padding 1"),
    ("rotate", "rotate_apart", "bank_conflict", "z", "members apart"),
    ("rays", "rays_apart", "bank_conflict", "r", "members apart"),
    ("own_counters", "own_counters_turned", "bank_conflict", "counters", "transpose"),
    ("highest_of_keys", "highest_of_keys_by_warps", "contended_atomic", "highest", "one lane a warp"),
    ("product", "product_by_blocks", "contended_atomic", "sum", "one atomic a block"),
    ("light", "light_of_arrays", "strided_access", "stars", "coalesced"),
    ("grow_older", "grow_older_of_arrays", "strided_access", "stars", "coalesced"),
    ("shorten", "shorten_of_arrays", "strided_access", "edges", "coalesced"),
    ("weigh", "weigh_of_arrays", "strided_access", "samples", "coalesced"),
    ("sums_of_eight", "sums_of_eight_turned", "strided_access", "in", "coalesced"),
    ("every_fourth", "every_fourth_gathered", "strided_access", "in", "coalesced"),
    ("row_maxima", "row_maxima_turned", "strided_access", "in", "coalesced"),
    ("fit", "fit_of_arrays", "strided_access", "out", "coalesced"),
    ("negate", "negate_by_four", "narrow_access", "in", "vector 4"),
    ("scale_halves", "scale_halves_by_two", "narrow_access", "in", "vector 2"),
    ("clip", "clip_by_two", "narrow_access", "in", "vector 2"),
    ("lengths", "lengths_by_two", "narrow_access", "in", "vector 2"),
    ("areas", "areas_by_four", "narrow_access", "in", "vector 4"),
    ("spans", "spans_by_two", "narrow_access", "in", "vector 2"),
    ("polar", "polar_by_two", "narrow_access", "out", "vector 2"),
    ("greyness", "greyness_by_four", "narrow_access", "in", "vector 4"),
    ("blend", "blend_of_arrays", "strided_access", "in", "coalesced"),
    ("turned_round", "turned_round_split", "bank_conflict", "s", "split"),
    ("turned_round", "turned_round_apart", "bank_conflict", "s", "members apart"),
    ("turned_round", "turned_round_padded", "bank_conflict", "s", "padding 4"),
    ("every_17th", "every_17th_apart", "bank_conflict", "s", "members apart"),
    ("weighted", "weighted_apart", "bank_conflict", "s", "members apart"),
    ("product_with_rows", "product_with_rows_padded", "bank_conflict", "bs", "padding 4"),
    ("turned_box", "turned_box_padded", "bank_conflict", "t", "padding 1"),
    ("turned_box", "turned_box_swizzled", "bank_conflict", "t", "swizzle"),
    ("turned_halves", "turned_halves_padded", "bank_conflict", "t", "padding 1"),
    ("turned_halves", "turned_halves_swizzled", "bank_conflict", "t", "swizzle"),
    ("turned_bytes", "turned_bytes_swizzled", "bank_conflict", "t", "swizzle >> 1"),
    ("norms", "norms_by_vector", "narrow_access", "p", "vector 3"),
    ("cells", "cells_by_vector", "narrow_access", "c", "vector 2"),
    ("energies", "energies_of_arrays", "strided_access", "p", "coalesced"),
    ("neighbours", "neighbours_of_arrays", "strided_access", "p", "coalesced"),
    ("sums_of_seven", "sums_of_seven_turned", "strided_access", "in", "coalesced"),
    ("tiles_of_24", "tiles_of_24_padded", "bank_conflict", "t", "padding 2"),
    ("every_eighth", "every_eighth_padded", "bank_conflict", "s", "padding 4"),
    ("every_eighth", "every_eighth_swizzled", "bank_conflict", "s", "swizzle"),
    ("sum_of_tree", "sum_of_tree_padded", "bank_conflict", "s", "padding 1"),
    ("sum_in_block", "sum_in_block_by_warps", "contended_atomic", "s", "one lane a warp"),
    ("sum_of_rounds", "sum_of_rounds_by_blocks", "contended_atomic", "out", "one atomic a block"),
    ("greatest", "greatest_by_blocks", "contended_atomic", "out", "one atomic a block"),
    ("turned_copies", "turned_copies_padded", "bank_conflict", "t", "padding 4"),
    ("turned_copies", "turned_copies_swizzled", "bank_conflict", "t", "swizzle"),
    ("turned_pairs", "turned_pairs_padded", "bank_conflict", "t", "padding 2"),
    ("copies_into_columns", "copies_into_columns_padded", "bank_conflict", "t", "padding 1"),
    ("copies_into_columns", "copies_into_columns_swizzled", "bank_conflict", "t", "swizzle"),
    ("every_fourth_copied", "every_fourth_copied_gathered", "strided_access", "in", "coalesced"),
    ("turned_stretch", "turned_stretch_padded", "bank_conflict", "t", "padding 4"),
    ("sums_of_96_rows", "sums_of_96_rows_padded", "bank_conflict", "t", "padding 4"),
    ("sums_of_64_rows", "sums_of_64_rows_padded", "bank_conflict", "t", "padding 4"),
]
# kernel, kernel rewritten by the words of the finding, kind, the counter that falls by the finding's excess
WAYS = [
    ("behind_header", "behind_padded_header", "misaligned_access", "global_load_sectors"),
    ("five_points", "five_points_in_tile", "overlapping_access", "global_load_sectors"),
    ("with_all_rows", "with_all_rows_in_tile", "refetched_sectors", "global_load_sectors"),
    ("powers", "powers_of_variable", "repeated_load", "global_load_sectors"),
    ("running_sums", "running_sums_of_register", "repeated_store", "global_store_sectors"),
    ("without_order", "in_order", "scattered_access", "global_load_sectors"),
]
# kernel, rewritten kernel, kind, evidence, metric, what it counts before and after. 16 blocks of 256 threads, but for:
# - 48,000 bytes and 1,024 of the system's leave room for 4 blocks of 2 warps in 233,472: 8 warps of 64. 32 blocks are the most.
# - 40 threads are 2 warps of 64 lanes: 1,320 blocks have 2,640 warps, and 825 of 64 threads 1,650.
CHANGES = [
    ("odd_lanes", "odd_warps", "divergence", "with 16.0 of 32 lanes in the mean", None, None, None),
    ("by_literal", "by_float_literal", "double_arithmetic", "2,048 instructions of doubles and 4,096 conversions",
     "flop_count_dp", 16 * 4096 * 2, 0),
    ("polynomial", "polynomial_unrolled", "local_memory", "32 bytes a thread", "local_load_requests", 8 * 128, 0),
    ("without_registers", "with_registers", "local_memory", "64 registers are not enough", None, None, None),
    ("large_share", "small_share", "low_occupancy", "holds 4 blocks of 2 warps at a time", "theoretical_occupancy", 12.5, 100),
    ("part_of_a_warp", "whole_warps", "partial_warp", "the last of 8 lanes: 38 %", None, None, None),
    ("few_blocks", "smaller_blocks", "small_grid", "of 128 threads each it would be 200 of them", None, None, None),
    ("most_of_key", "most_of_key_of_warp", "contended_atomic", "1,024 instead of 4,096", None, None, None),
]
# kernel, rewritten kernel, remedy, counter, before and after: 4 blocks.
# - Columns of 32 rows of 32 words: 32 copies of a block write 32 words of one bank, or of 32.
# - 32 rows of 8 chunks of 16 bytes, each from a line of its own, into a line of its own: a packet a row. With rows of 144 bytes, row
#   r begins r % 8 chunks further in a line. A sector that is copied to a sector as a whole is a move; one that is copied to two halves
#   of sectors is two. Packets of the rows 0 to 7, by lines and by halves: 1, 3, 2, 4, 2, 4, 2, 3. Moves: 4 or 8.
# - A swizzle exchanges the chunks of a line: as many packets, and as many moves.
WRITTEN = [
    ("copies_into_columns", "copies_into_columns_padded", "padding 1", "async_copy_wavefronts", 4 * 32 * 32, 4 * 32),
    ("copies_into_columns", "copies_into_columns_swizzled", "swizzle", "async_copy_wavefronts", 4 * 32 * 32, 4 * 32),
    ("turned_copies", "turned_copies_padded", "padding 4", "async_copy_bypass_wavefronts", 4 * 32, 4 * 4 * (1 + 3 + 2 + 4 + 2 + 4 + 2 + 3)),
    ("turned_copies", "turned_copies_padded", "padding 4", "global_load_sectors", 4 * 32 * 4, 4 * (16 * 4 + 16 * 8)),
    ("turned_copies", "turned_copies_swizzled", "swizzle", "async_copy_bypass_wavefronts", 4 * 32, 4 * 32),
    ("turned_copies", "turned_copies_swizzled", "swizzle", "global_load_sectors", 4 * 32 * 4, 4 * 32 * 4),
]
# The remedy of a tensor map, which a family cannot have: tests/runtime/advised_boxes_test.cpp rewrites its kernels.
OF_PROGRAMS = "box swizzle (none|32B|64B|128B)"
# kernel, bytes that an asynchronous copy moves at once
COPIES = [("turned_copies", 16), ("turned_pairs", 8), ("turned_stretch", 16)]


def warpmeter(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True)


class Advice(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.database = os.path.join(cls.folder.name, "advice.db")
        cls.findings, cls.counts = {}, {}
        for file in ("advised.yaml", "advised_parts.yaml", "advised_copies.yaml"):
            done = warpmeter("run", str(HERE / file), "-b", "model", "--db", cls.database, "-q", "-m", "@default,@copies")
            assert done.returncode == 0, done.stderr
            done = warpmeter("explain", "--db", cls.database, "--format", "json")
            assert done.returncode == 0, done.stderr
            for launch in json.loads(done.stdout)["launches"]:
                cls.findings[launch["variant"]] = launch["findings"]
        done = warpmeter("query", "SELECT variant, metric, value FROM results", "--db", cls.database, "--format", "json")
        assert done.returncode == 0, done.stderr
        for row in json.loads(done.stdout):
            cls.counts.setdefault(row["variant"], {})[row["metric"]] = row["value"]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def advised(self, variant, kind, array, name):
        return [remedy for finding in self.findings.get(variant, ()) for remedy in finding["remedies"]
                if remedy["is_advised"] and remedy["name"] == name and (finding["kind"], finding["object"]) == (kind, array)]

    def test_each_kind_of_change_has_a_rewritten_kernel(self):
        self.assertIn("|" + OF_PROGRAMS + "|", REMEDY["pattern"])
        kinds = re.fullmatch(r"\^\((.*)\)\$", REMEDY["pattern"].replace("|" + OF_PROGRAMS, ""))[1].split("|")
        self.assertEqual(len(kinds), 9)
        for kind in kinds:
            with self.subTest(kind):
                self.assertTrue(any(re.fullmatch(kind, name) for *_, name in PAIRS))

    def test_each_advised_change_is_of_a_known_kind(self):
        for variant, findings in self.findings.items():
            for remedy in (remedy for finding in findings for remedy in finding["remedies"]):
                self.assertRegex(remedy["name"], REMEDY["pattern"], variant)

    def test_invariants_hold(self):
        connection = sqlite3.connect(self.database)
        self.assertEqual(connection.execute((HERE.parents[1] / "invariants.sql").read_text()).fetchall(), [])
        connection.close()

    def test_the_rewritten_kernel_counts_what_was_predicted(self):
        for before, after, *advice in PAIRS:
            with self.subTest(after):
                remedies = self.advised(before, *advice)
                self.assertTrue(remedies, [(f["kind"], f["object"], f["advice"]) for f in self.findings.get(before, ())])
                predicted = {p["counter"]: p["predicted"] for p in remedies[0]["predictions"]}
                self.assertTrue(predicted)
                self.assertEqual({counter: self.counts[after].get(counter) for counter in predicted}, predicted)

    def test_copies_are_counted_by_both_of_their_sides(self):
        for before, after, name, counter, was, is_now in WRITTEN:
            with self.subTest(f"{after} {counter}"):
                remedy, = self.advised(before, "bank_conflict", "t", name)
                predicted = {p["counter"]: p["predicted"] for p in remedy["predictions"]}
                self.assertEqual((self.counts[before][counter], predicted[counter], self.counts[after][counter]), (was, is_now, is_now))

    def test_copies_keep_their_bytes_together_and_aligned(self):
        for variant, width in COPIES:
            remedies = [r for f in self.findings[variant] for r in f["remedies"]]
            self.assertTrue(remedies)
            for remedy in remedies:
                kind, *amount = remedy["name"].split()
                self.assertIn(kind, ("padding", "swizzle"), variant)
                if kind == "padding":
                    self.assertEqual(int(amount[0]) * 4 % width, 0, variant)
        bulk = [r["name"] for f in self.findings["turned_stretch"] for r in f["remedies"] if "swizzle" in r["name"]]
        self.assertEqual(bulk, [])  # one copy moves a row

    def test_an_array_beyond_48_kib_is_dynamic(self):
        remedy, = self.advised("sums_of_96_rows", "bank_conflict", "t", "padding 4")
        self.assertEqual(remedy["change"], "t[96][132]")
        self.assertIn("in dynamic shared memory: more than 48 KiB cannot be static", remedy["words"])
        self.assertEqual(remedy["shared_bytes"], 96 * 132 * 4)

    def test_wide_reads_are_kept_where_wavefronts_are_equal(self):
        self.assertEqual(self.advised("sums_of_64_rows", "bank_conflict", "t", "padding 1"), [])
        narrow, = (r for f in self.findings["sums_of_64_rows"] for r in f["remedies"] if r["name"] == "padding 1")
        wide, = self.advised("sums_of_64_rows", "bank_conflict", "t", "padding 4")
        self.assertEqual(narrow["transactions"], wide["transactions"])
        done = warpmeter("explain", "advised_copies/sums_of_64_rows", "--what-if", "--db", self.database, "--run", "3")
        self.assertEqual(done.returncode, 0, done.stderr)
        # 32 blocks of 2 warps, 32 reads of 16 bytes or 128 of 4: 8,192 wavefronts in all, 4 or 1 a request.
        rows = [line.split() for line in done.stdout.splitlines() if line.startswith("t[64]")]
        self.assertEqual({(row[0], row[-4]) for row in rows if row[0] in ("t[64][129]", "t[64][132]")},
                         {("t[64][129]", "8,192"), ("t[64][132]", "8,192")}, done.stdout)

    def test_the_advice_is_not_given_again(self):
        for before, after, kind, array, name in PAIRS:
            with self.subTest(after):
                for finding in self.findings.get(after, ()):
                    again = [r["name"] for r in finding["remedies"] if r["is_advised"]]
                    self.assertNotIn(name, again, finding["sentence"])

    def test_the_rewritten_kernel_costs_less(self):
        for before, after, *advice in PAIRS:
            with self.subTest(after):
                predicted = [p["counter"] for p in self.advised(before, *advice)[0]["predictions"]]
                # Atomics of one address take time that no count of requests and sectors shows.
                counters = predicted if advice[0] == "contended_atomic" else [
                    c for c in self.counts[before] if c.endswith(("_wavefronts", "_sectors", "_requests"))]
                def cost(variant):
                    return sum(self.counts[variant].get(counter) or 0 for counter in counters)
                self.assertLess(cost(after), cost(before))


class Ways(unittest.TestCase):
    """Kernels rewritten by the words of a finding whose change explain does not count itself."""
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            database = os.path.join(folder, "ways.db")
            done = warpmeter("run", str(HERE / "advised_ways.yaml"), "-b", "model", "--db", database, "-q", "-m",
                             ",".join(["global_load_sectors", "global_store_sectors", "spill_stores", "inst_executed"] +
                                      [metric for *_, metric, _, _ in CHANGES if metric]))
            assert done.returncode == 0, done.stderr
            done = warpmeter("explain", "--db", database, "--format", "json")
            assert done.returncode == 0, done.stderr
            cls.findings = {launch["variant"]: launch["findings"] for launch in json.loads(done.stdout)["launches"]}
            connection = sqlite3.connect(database)
            cls.counts = {}
            for variant, metric, value in connection.execute("SELECT variant, metric, value FROM results"):
                cls.counts.setdefault(variant, {})[metric] = value
            connection.close()

    def of_kind(self, variant, kind):
        return [finding for finding in self.findings[variant] if finding["kind"] == kind]

    def test_accesses_fall_by_the_excess(self):
        for before, after, kind, counter in WAYS:
            with self.subTest(after):
                finding, = self.of_kind(before, kind)
                self.assertEqual(self.counts[before][counter] - self.counts[after][counter], finding["excess"])
                self.assertEqual(self.of_kind(after, kind), [])

    def test_the_evidence_is_what_the_rewritten_kernel_counts(self):
        for before, after, kind, evidence, metric, was, is_now in CHANGES:
            with self.subTest(after):
                finding, = self.of_kind(before, kind)
                self.assertIn(evidence, finding["evidence"])
                self.assertEqual(self.of_kind(after, kind), [])
                if metric:
                    self.assertEqual((self.counts[before][metric], self.counts[after][metric]), (was, is_now))

    def test_no_way_moves_more(self):
        for before, after, *_ in WAYS + CHANGES:
            for counter in ("global_load_sectors", "global_store_sectors"):
                self.assertLessEqual(self.counts[after][counter], self.counts[before][counter], after)

    def test_fewer_warps_work_and_registers_hold_all(self):
        # 64 rounds of every warp, or of every other one: half of what is executed, but for what all warps do.
        odd, together = (self.counts[kernel]["inst_executed"] for kernel in ("odd_lanes", "odd_warps"))
        self.assertAlmostEqual(together / odd, 0.5, delta=0.05)
        part, whole = (self.counts[kernel]["inst_executed"] for kernel in ("part_of_a_warp", "whole_warps"))
        self.assertEqual(part / whole, 2640 / 1650)
        self.assertGreater(self.counts["without_registers"]["spill_stores"], 0)
        self.assertEqual(self.counts["with_registers"]["spill_stores"], 0)


class Findings(unittest.TestCase):
    def findings(self, file, kernel, *words):
        with tempfile.TemporaryDirectory() as folder:
            database = os.path.join(folder, "a.db")
            done = warpmeter("model", str(HERE / file), "-k", kernel, *words, "--db", database)
            self.assertEqual(done.returncode, 0, done.stderr)
            done = warpmeter("explain", "--db", database, "--format", "json")
            self.assertEqual(done.returncode, 0, done.stderr)
            return json.loads(done.stdout)["launches"][0]["findings"]


class Atomics(Findings):
    def findings(self, kernel, values):
        found = super().findings("atomics_of_a_line.cu", kernel, "--grid", "1", "--block", "256", "--arg",
                                 "out:u32[256]=zeros", "--arg", f"in:u32[16384]={values}")
        return [f for f in found if f["kind"] == "contended_atomic"]

    def test_no_advice_where_the_hardware_adds_up_equal_addresses(self):
        for values in ("zeros", "integers:0..7:1", "integers:0..1:1"):
            self.assertEqual(self.findings("increments", values), [])

    def test_the_copies_of_an_unrolled_loop_are_counted_together(self):
        found, = self.findings("sums", "iota")
        self.assertEqual(found["requests"], 64 * 8)
        self.assertEqual(found["transactions"], 64 * 8 * 4)  # four lanes of a warp go to each of eight places
        self.assertIn("32 lanes of a request go to 8.0 addresses", found["evidence"])
        self.assertIn("A block comes 2,048 times to each of its addresses", found["evidence"])
        self.assertNotIn("__match_any_sync", found["evidence"])
        self.assertEqual(found["remedies"], [])

    def test_two_arrays_on_a_line_are_two(self):
        found, = self.findings("two_arrays", "iota")  # each lane has a place of its own in the other
        self.assertEqual(found["object"], "few")
        self.assertEqual(found["requests"], 8 * 8)
        self.assertIn("32 lanes of a request go to 2.0 addresses", found["evidence"])


    def test_nobody_acts_for_others_at_a_lock(self):
        found = self.findings("locked", "iota")
        self.assertTrue(found)
        for finding in found:
            self.assertEqual(finding["remedies"], [])
            self.assertNotIn("Brought together", finding["evidence"])


class Words(Findings):
    def evidence(self, kind, kernel, *words):
        return " ".join(f["evidence"] for f in self.findings("advised_words.cu", kernel, *words) if f["kind"] == kind)

    def test_smaller_blocks_are_advised_only_where_there_would_be_more_of_them(self):
        words = ("--grid", "100", "--block", "256", "--arg", "out:f32[25600]", "--arg", "in:f32[409600]=iota", "--arg")
        self.assertNotIn("Smaller blocks", self.evidence("small_grid", "row_sums", *words, "i32=4096"))
        self.assertIn("Smaller blocks may help: of 128 threads each it would be 200 of them",
                      self.evidence("small_grid", "doubled", *words, "i32=25600"))

    def test_restrict_is_not_advised_where_it_is_written(self):
        words = ("--grid", "4", "--block", "256", "--arg", "in:f32[4096]=iota", "--arg", "out:f32[1024]", "--arg", "i32=1024")
        evidence = self.evidence("repeated_load", "shifted", *words)
        self.assertIn("of addresses that the same lanes had loaded before", evidence)
        self.assertNotIn("__restrict__", evidence)

    def test_a_swizzle_stays_in_the_array(self):
        words = ("--grid", "1", "--block", "256", "--arg", "out:f32[256]", "--arg", "in:f32[2048]=iota")
        for size, expected in ((1000, set()), (1024, {"swizzle"})):
            names = {remedy["name"].split()[0] for finding in self.findings("advised_words.cu", f"places_{size}", *words)
                     for remedy in finding["remedies"]}
            self.assertEqual(names & {"swizzle"}, expected)

    def test_words_that_nobody_uses_are_no_reason_for_other_lanes(self):
        evidence = self.evidence("strided_access", "counters_apart", "--grid", "64", "--block", "256", "--arg",
                                 "out:i32[262144]=zeros", "--arg", "in:i32[16384]=iota")
        self.assertIn("where something uses the words between; else only another layout of the data does", evidence)

    def test_a_cause_of_doubles_is_named_where_the_line_shows_it(self):
        words = ("--grid", "8", "--block", "256", "--arg", "out:f32[2048]", "--arg", "in:f32[2048]=iota")
        for kernel, cause in (("squares_in_double", "The line asks for double."),
                              ("scaled_by_literal", "A literal without f makes it so.")):
            evidence = self.evidence("double_arithmetic", kernel, *words)
            self.assertIn(cause, evidence)
            self.assertEqual(evidence.count("literal"), cause.count("literal"), kernel)

    def test_no_layout_is_tried_that_a_block_has_no_room_for(self):
        words = ("--grid", "1", "--block", "256", "--shared", "232448", "--arg", "out:f32[256]", "--arg", "in:f32[2048]=iota")
        names = {remedy["name"].split()[0]
                 for finding in self.findings("advised_words.cu", "columns_of_all_memory", *words, "--arch", "sm_90")
                 for remedy in finding["remedies"]}
        self.assertIn("swizzle", names)
        self.assertNotIn("padding", names)

    def test_a_shape_that_is_advised_is_accepted_and_not_advised_again(self):
        advised = 0
        for size in (1000, 1024, 1030):
            words = ("--grid", "1", "--block", "256", "--arg", "out:f32[256]", "--arg", "in:f32[2048]=iota")
            evidence = self.evidence("bank_conflict", f"places_{size}", *words)
            self.assertTrue(evidence)
            if shape := re.search(r"--shape (\S+) states", evidence):
                advised += 1
                again = self.evidence("bank_conflict", f"places_{size}", *words, "--shape", shape[1])
                self.assertNotIn("--shape places=", again)
        self.assertGreaterEqual(advised, 1)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
