#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kernels with one known cause each, clean ones, and rewritten ones (tests/reports/explain): what the first finding says
of them, and whether the rewritten kernel gets the counts that the remedy promised."""
import collections, json, os, pathlib, re, sqlite3, subprocess, sys, tempfile, unittest

HERE = pathlib.Path(__file__).parent / "explain"
EXPECTED = json.loads((HERE / "expected.json").read_text())
INVARIANTS = (HERE.resolve().parents[1] / "invariants.sql").read_text()
LEAST_NAMED = 0.95  # the least share of the kernels with a cause


def marked_lines(file):
    """variant → the lines of the source that are marked as its cause."""
    lines = collections.defaultdict(set)
    for number, text in enumerate((HERE / file).with_suffix(".cu").read_text().splitlines(), 1):
        if mark := re.search(r"// cause: (.*)$", text):
            for variant in re.split(r"[ ,]+", mark[1].strip()):
                lines[variant].add(number)
    return lines


class Runs:
    """Every family once, into one database."""
    def __init__(self, program, folder):
        self.database = os.path.join(folder, "explain.db")
        for file in sorted({e["file"] for e in EXPECTED}):
            done = subprocess.run([program, "run", str(HERE / file), "-b", "model", "--db", self.database, "-q"],
                                  capture_output=True, text=True)
            assert done.returncode == 0, f"{file}: {done.stderr}"
        self.connection = sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)
        self.connection.row_factory = sqlite3.Row
        self.launches = {(row["family"], row["variant"]): row["launch_id"]
                         for row in self.rows("SELECT family, variant, launch_id FROM launches")}

    def rows(self, sql, *values):
        return self.connection.execute(sql, values).fetchall()

    def launch(self, entry, variant=None):
        return self.launches[entry["file"].removesuffix(".yaml"), variant or entry["variant"]]

    def findings(self, entry):
        return self.rows("SELECT * FROM findings WHERE launch_id = ? ORDER BY rank", self.launch(entry))

    def counters(self, launch):
        return {row["metric"]: row["value"]
                for row in self.rows("SELECT metric, value FROM results WHERE launch_id = ?", launch)}


class Explain(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.runs = Runs(PROGRAM, cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        cls.runs.connection.close()
        cls.folder.cleanup()

    def broken(self, rule):
        """The launches that break a rule of tests/invariants.sql, out of all families."""
        self.assertGreater(len(self.runs.launches), 800)
        return [row["broken"] for row in self.runs.rows(INVARIANTS) if row["rule"] == rule]

    def test_no_efficiency_is_above_a_hundred(self):
        self.assertEqual(self.broken("efficiency"), [])

    def test_bytes_have_room_in_their_sectors(self):
        self.assertEqual(self.broken("bytes"), [])

    def test_requests_are_not_more_than_their_transactions(self):
        self.assertEqual(self.broken("requests"), [])

    def test_lines_add_up_to_their_launch(self):
        self.assertEqual(self.broken("lines"), [])

    def test_findings_of_accesses_know_the_transactions_of_their_kernel(self):
        findings = self.runs.rows("""
            SELECT variant, kernel_transactions, (
              SELECT sum(n.transactions) FROM lines n
              WHERE n.launch_id = f.launch_id AND substr(n.access, 1, 6) = substr(f.access, 1, 6)) AS of_lines
            FROM findings f JOIN launches USING (launch_id) WHERE f.access IS NOT NULL""")
        self.assertGreater(len(findings), 100)
        self.assertEqual([tuple(f) for f in findings if f["kernel_transactions"] != f["of_lines"]], [])

    @staticmethod
    def tell(wrong):
        for text in wrong:
            print("  " + text, file=sys.stderr)

    def test_the_first_finding_names_cause_line_and_array(self):
        wrong, count = [], 0
        for entry in EXPECTED:
            if entry["kind"] == "none":
                continue
            count += 1
            findings = self.runs.findings(entry)
            told = [(f["kind"], f["line"], f["object"]) for f in findings]
            if not findings or findings[0]["kind"] != entry["kind"]:
                wrong.append(f"{entry['variant']}: {entry['kind']}, not {told}")
                continue
            marked = marked_lines(entry["file"])[entry["variant"]] if entry["line"] else {None}
            if findings[0]["line"] not in marked:
                wrong.append(f"{entry['variant']}: a line of {marked}, not {told}")
                continue
            arrays = entry.get("arrays", [entry["array"]])
            if any(arrays) and findings[0]["object"] not in arrays:
                wrong.append(f"{entry['variant']}: one of {arrays}, not {told}")
        print(f"\n{count - len(wrong)} of {count} kernels: cause, line and array named first", file=sys.stderr)
        self.tell(wrong)
        self.assertGreaterEqual(count, 45)
        self.assertGreaterEqual((count - len(wrong)) / count, LEAST_NAMED)

    def test_the_first_finding_says_what_is_known_of_the_kernel(self):
        wrong, count = [], 0
        for entry in EXPECTED:
            known = {name: entry[name] for name in ("transactions", "ideal") if name in entry}
            if not known and "says" not in entry:
                continue
            count += 1
            first = self.runs.findings(entry)[0]
            wrong += [f"{entry['variant']}: {name} {first[name]}, not {value}" for name, value in known.items()
                      if first[name] != value]
            if entry.get("says", "") not in first["evidence"]:
                wrong.append(f"{entry['variant']}: '{first['evidence']}' without '{entry['says']}'")
        self.tell(wrong)
        self.assertGreaterEqual(count, 5)
        self.assertEqual(len(wrong), 0)

    def test_findings_of_the_same_sectors_are_told_apart(self):
        convolution = next(e for e in EXPECTED if e["variant"] == "temporal_conv")
        _, second, *_ = self.runs.findings(convolution)
        self.assertEqual(second["kind"], "misaligned_access")
        self.assertIn("Finding 1 may count the same sectors", second["evidence"])

    def test_nothing_is_found_in_clean_kernels(self):
        wrong, count = [], 0
        for entry in EXPECTED:
            if entry["kind"] == "none":
                count += 1
                wrong += [f"{entry['variant']}: {f['kind']} in line {f['line']}: {f['evidence']}"
                          for f in self.runs.findings(entry)]
        print(f"\n{count} clean kernels, {len(wrong)} findings", file=sys.stderr)
        self.tell(wrong)
        self.assertGreaterEqual(count, 20)
        self.assertEqual(len(wrong), 0)

    def test_rewritten_kernels_get_the_counts_that_were_predicted(self):
        wrong, count, values = [], 0, 0
        for entry in EXPECTED:
            pairs = [(entry.get("remedy"), entry.get("rewritten"))]
            pairs += [(other["remedy"], other.get("rewritten")) for other in entry.get("alternatives", [])]
            for remedy, rewritten in pairs:
                if not rewritten:
                    continue
                predictions = self.runs.rows(
                    "SELECT counter, predicted FROM predictions WHERE launch_id = ?1 AND name = ?2 AND finding_rank = 1 "
                    "AND remedy_rank = (SELECT min(rank) FROM remedies r WHERE r.launch_id = ?1 AND r.name = ?2 "
                    "AND r.finding_rank = 1)",
                    self.runs.launch(entry), remedy)
                if not predictions:
                    continue
                count += 1
                counters = self.runs.counters(self.runs.launch(entry, rewritten))
                for counter, predicted in predictions:
                    values += 1
                    if counters.get(counter) != predicted:
                        wrong.append(f"{rewritten}: {counter} {counters.get(counter)}, predicted {predicted}")
        print(f"\n{count} rewritten kernels, {values} counters, {len(wrong)} differ", file=sys.stderr)
        self.tell(wrong)
        self.assertEqual(len(wrong), 0)
        self.assertGreaterEqual(count, 25)


    def test_what_a_warp_fetches_again_is_what_it_could_save(self):
        count = 0
        for entry in EXPECTED:
            for found in self.runs.findings(entry):
                if found["kind"] not in ("overlapping_access", "refetched_sectors"):
                    continue
                count += 1
                told = int(re.match(r"(\d+) % of the sectors", found["evidence"])[1])
                again = 100 * (found["transactions"] - found["ideal"]) / found["transactions"]
                self.assertAlmostEqual(again, told, delta=0.5 + 1e-9, msg=f"{entry['variant']}: {dict(found)}")
        self.assertGreaterEqual(count, 4)

    # 16,384 warps load 4 members of 16 bytes, a lane's in half a sector, 16 sectors a request, and store 4 sectors. 65,536
    # warps load a byte a lane.
    def test_a_vector_is_told_by_the_requests_that_it_spares(self):
        for variant, change in (("grey", "16,384 requests instead of 65,536, 262,144 sectors instead of 1,048,576; in all 786,432 "
                                         "fewer, 71 % of the launch's global sectors."),
                                ("invert", "16,384 requests instead of 65,536, as many sectors.")):
            done = subprocess.run([PROGRAM, "explain", f"narrow_access/{variant}", "--db", self.runs.database,
                                   "--run", self.run_of(variant)], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(change, " ".join(done.stdout.split()))

    def run_of(self, variant):
        return str(self.runs.rows("SELECT run_id FROM launches WHERE variant = ?", variant)[0][0])


HALF_USED = """
__global__ void half(float* out, const float* in) {
  __shared__ float tile[64][32];
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
"""


# Eight lanes have a bank each, and meet those of the other three groups, which begin 1, 2 and 3 banks further: 8 + 3 banks.
GROUPS_MEET = """
__global__ void groups(float* out, const float* in) {
  __shared__ float s[32][33];
  int x = threadIdx.x % 32, y = threadIdx.x / 32;
  s[y][x] = in[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  out[blockIdx.x * 256 + threadIdx.x] = s[x % 8][y * 4 + x / 8];
}
"""


class WhatIsTold(unittest.TestCase):
    """The same by any number of threads; and what a person gets wrong."""
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def told(self, threads):
        database = os.path.join(self.folder, f"{threads}.db")
        for file in ("bank_conflict", "bank_conflict_strides", "contended_atomic", "scattered_access"):
            subprocess.run([PROGRAM, "run", str(HERE / f"{file}.yaml"), "-b", "model", "--threads", str(threads), "--db",
                            database, "-q"], check=True, capture_output=True)
        connection = sqlite3.connect(database)
        rows = [connection.execute(f"SELECT * FROM {view} ORDER BY 1, 2, 3, 4, 5").fetchall()
                for view in ("findings", "remedies", "predictions")]
        connection.close()
        return rows

    def test_is_the_same_on_one_thread_and_on_many(self):
        one = self.told(1)
        self.assertGreater(len(one[0]), 30)
        self.assertEqual(one, self.told(3))

    def model(self, *words):
        return subprocess.run(
            [PROGRAM, "model", str(HERE / "bank_conflict.cu"), "-k", "column_of_square", "--grid", "4,4", "--block", "32,32",
             "--arg", "out:f32[16384]", "--arg", "in:f32[16384]=iota", "--arg", "i32=128", *words],
            capture_output=True, text=True, cwd=self.folder)

    def test_takes_the_shape_that_a_person_gives(self):
        done = self.model("--shape", "tile=16x64:f32", "--db", "shape.db")
        self.assertEqual(done.returncode, 0, done.stderr)
        connection = sqlite3.connect(os.path.join(self.folder, "shape.db"))
        changes = [row[0] for row in connection.execute("SELECT change FROM remedies WHERE name LIKE 'padding%'")]
        connection.close()
        self.assertIn("tile[16][65]", changes)

    def test_counts_the_padding_of_rows_that_nobody_accesses(self):
        with open(os.path.join(self.folder, "half.cu"), "w") as file:
            file.write(HALF_USED)
        done = subprocess.run([PROGRAM, "run", "half.cu", "-k", "half", "--grid", "1", "--block", "32,32", "--arg",
                               "out:f32[1024]", "--arg", "in:f32[1024]=iota", "-b", "model", "-q", "--db", "half.db"],
                              capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        connection = sqlite3.connect(os.path.join(self.folder, "half.db"))
        padding = connection.execute("SELECT change, shared_bytes FROM remedies WHERE name = 'padding 1'").fetchall()
        text = connection.execute("SELECT DISTINCT file FROM sources").fetchall()
        named = connection.execute("SELECT count(*), sum(text <> '') FROM lines").fetchone()
        connection.close()
        self.assertEqual(padding, [("tile[64][33]", 64 * 33 * 4)])
        self.assertEqual(text, [("half.cu",)])  # a relative path names it
        self.assertEqual(named[0], named[1])

    def test_says_that_lanes_meet_only_where_they_do(self):
        with open(os.path.join(self.folder, "groups.cu"), "w") as file:
            file.write(GROUPS_MEET)
        done = subprocess.run([PROGRAM, "run", "groups.cu", "-k", "groups", "--grid", "4", "--block", "256", "--arg",
                               "out:f32[1024]", "--arg", "in:f32[1024]=iota", "-b", "model", "-q", "--db", "groups.db"],
                              capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        connection = sqlite3.connect(os.path.join(self.folder, "groups.db"))
        told = connection.execute("SELECT evidence FROM findings WHERE kind = 'bank_conflict'").fetchall()
        connection.close()
        self.assertEqual(told, [("Its lanes go to 32 words in 11 banks.",)])

    def test_says_what_is_wrong_with_a_shape(self):
        for shape, words in (("tile=16", "write NAME=ROWSxCOLUMNS:TYPE"), ("tale=32x32:f32", "there is tile of 4096 bytes"),
                             ("tile=64x64:f32", "and it has 4,096"), ("tile=0x4:f32", "no 0 elements")):
            done = self.model("--shape", shape)
            self.assertEqual(done.returncode, 2, shape)
            self.assertIn(words, done.stderr)
            self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
