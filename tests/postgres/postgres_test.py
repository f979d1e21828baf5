#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs to a real PostgreSQL and back: postgres_test.py WARPMETER SUBJECT (a class of this file)."""
import os
import pathlib
import random
import shutil
import sqlite3
import subprocess
import sys
import threading
import time

import lab
from case import Lab, main

TRIALS = int(os.environ.get("WARPMETER_CRASH_TRIALS", "10"))


class RoundTrip(Lab):
    def test_every_view_says_the_same_on_the_server(self):
        path = lab.make_database(self.program)
        self.push("here.db", 0, "--migrate")
        self.assertEqual(lab.differences(self.program, path, self.server), [])

    def test_what_is_too_large_or_small_for_a_number_is_the_same_on_both_sides(self):
        self.measure("here.db", ("transpose",))
        db = sqlite3.connect(self.folder / "here.db")
        numbers = (1.7e308, 5e-324, 1e200, 1e-200, 0.0, 1e308, -1.7e308, float("inf"))
        for i, (launch, counter) in enumerate(db.execute("SELECT launch_id, counter_id FROM t_value WHERE grade < 5 ORDER BY 1, 2").fetchall()):
            db.execute("UPDATE t_value SET value = ? WHERE launch_id = ? AND counter_id = ?",
                       (numbers[(i * 5 + i // 7) % len(numbers)], launch, counter))
        for launch, number in zip([row[0] for row in db.execute("SELECT launch_id FROM t_launch")], (5e-324, 1.7e308, 1e-300, 0.0)):
            db.execute("INSERT OR REPLACE INTO t_timing VALUES (?, 'cold', 3, ?, 1.5, ?, NULL, 0.25, 'samples')", (launch, number, number))
        db.commit()
        db.close()
        self.push("here.db", 0, "--migrate")
        found = lab.differences(self.program, self.folder / "here.db", self.server)
        self.assertEqual([words for words in found if not words.endswith("says nothing of it")], [])
        self.assertGreater(self.server.number("SELECT count(*) FROM results WHERE value = 'Infinity'"), 5)

    def test_what_is_pulled_is_what_was_pushed(self):
        lab.make_database(self.program)
        self.push("here.db", 0, "--migrate")
        pulled = self.program.table("pull", self.url, "-o", "back.db")[0]
        self.assertEqual((pulled["added"], pulled["conflicts"]), (4, 0))
        # merge compares each column of each row: it says conflict where one differs.
        merged = self.program.table("merge", "here.db", "-o", "back.db")[0]
        self.assertEqual((merged["added"], merged["known"], merged["conflicts"]), (0, 4, 0))
        for view in lab.views_of(self.program):
            here, back = [self.program("query", f"SELECT count(*) FROM {view}", "--format", "csv", "--db", name).stdout
                          for name in ("here.db", "back.db")]
            self.assertEqual(here, back, view)

    def test_a_database_of_several_machines_keeps_each_number_apart(self):
        for name in ("a.db", "b.db"):
            self.measure(name, ("transpose", "reduction"))
        self.push("a.db", 0, "--migrate")
        self.push("b.db")
        self.program("merge", "a.db", "b.db", "-o", "both.db")
        found = lab.differences(self.program, self.folder / "both.db", self.server)
        self.assertEqual([words for words in found if not words.endswith("says nothing of it")], [])

    def test_a_new_table_and_a_new_column_need_no_word_for_the_server(self):
        self.prepared()
        self.server.psql("ALTER TABLE warpmeter.t_run DROP COLUMN planned_launches CASCADE;\n"
                         "DROP TABLE warpmeter.t_line CASCADE; UPDATE warpmeter.t_meta SET value = '5' WHERE name = 'version';")
        self.measure("more.db")
        self.one_sentence(self.push("more.db", 5), 5, "older warpmeter", "--migrate")
        self.assertIn("from version 5 to", self.push("more.db", 0, "--migrate").stderr)
        found = lab.differences(self.program, self.folder / "more.db", self.server)
        self.assertEqual([words for words in found if not words.endswith("says nothing of it")], [])


class Push(Lab):
    def test_the_second_push_changes_nothing(self):
        self.prepared()
        before = self.counts()
        row = self.program.table("push", self.url, "--db", "here.db")[0]
        self.assertEqual((row["added"], row["known"], row["rows"]), (0, 1, 0))
        self.assertEqual(self.counts(), before)

    def test_a_run_that_differs_is_reported_and_stays(self):
        self.prepared()
        before = self.counts()
        db = sqlite3.connect(self.folder / "here.db")
        db.execute("UPDATE t_value SET value = value + 1 WHERE value > 0")
        db.commit()
        db.close()
        done = self.push("here.db", 5)
        self.assertIn("conflict:", done.stderr)
        self.assertIn("run 1 (", done.stderr)
        words = r"global_load_bytes of vector_add/block_128 at 1,024 \(launch 1\) is 8192 in %s and 8193 in %s;"
        self.assertRegex(done.stderr, words % ("the server warpmeter on 127.0.0.1", "here.db"))
        self.assertNotRegex(done.stderr, r"\bt_")
        self.assertEqual(self.counts(), before)
        # And so it is the other way round.
        done = self.program("pull", self.url, "-o", "here.db", code=5)
        self.assertRegex(done.stderr, "is 8193 in here.db and 8192 in the server warpmeter on 127.0.0.1; here.db keeps")

    def digests(self):
        return list((self.folder / "cache/warpmeter/digests").glob("*"))

    def test_what_was_not_written_to_is_not_read_again(self):
        self.prepared()
        self.measure("here.db")
        self.push("here.db")
        (kept,) = self.digests()
        lines = kept.read_text().splitlines()
        uuids = [row[0] for row in sqlite3.connect(self.folder / "here.db").execute("SELECT uuid FROM t_run ORDER BY uuid")]
        self.assertEqual(sorted(line.split()[1] for line in lines[3:]), uuids)
        before = kept.stat().st_mtime_ns
        self.assertEqual(self.program.table("push", self.url, "--db", "here.db")[0]["known"], 2)
        self.assertEqual(kept.stat().st_mtime_ns, before)

    def test_a_change_by_hand_is_found_even_with_the_size_and_time_of_before(self):
        self.prepared()
        self.push("here.db")
        path = self.folder / "here.db"
        before = path.stat()
        db = sqlite3.connect(path)
        db.execute("UPDATE t_value SET value = value + 1 WHERE value > 0")
        db.commit()
        db.close()
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        self.assertEqual((path.stat().st_size, path.stat().st_mtime_ns), (before.st_size, before.st_mtime_ns))
        self.assertIn("conflict:", self.push("here.db", 5).stderr)
        self.assertIn("conflict:", self.push("here.db", 5).stderr)  # and again, from what was kept of it

    def test_a_change_in_the_log_is_found(self):
        self.prepared()
        self.push("here.db")
        db = sqlite3.connect(self.folder / "here.db")
        db.execute("PRAGMA wal_autocheckpoint = 0")
        db.execute("UPDATE t_value SET value = value + 1 WHERE value > 0")
        db.commit()
        self.assertGreater((self.folder / "here.db-wal").stat().st_size, 0)
        self.assertIn("conflict:", self.push("here.db", 5).stderr)
        db.execute("UPDATE t_value SET value = value - 1 WHERE value > 0")
        db.commit()
        self.push("here.db")
        db.close()
        self.push("here.db")

    def test_a_cache_that_is_none_is_no_error(self):
        self.prepared()
        for text in (b"", b"\xff\x00nonsense", b"warpmeter digests 1\n"):
            self.push("here.db")
            for path in self.digests():
                path.write_bytes(text)
            self.push("here.db")
        shutil.rmtree(self.folder / "cache")
        (self.folder / "cache").write_text("a file")
        self.push("here.db")

    def test_a_run_that_differs_is_counted_once_and_adds_no_rows(self):
        self.prepared()
        self.measure("here.db")
        self.push("here.db")
        shutil.copy(self.folder / "here.db", self.folder / "other.db")
        db = sqlite3.connect(self.folder / "other.db")
        db.execute("UPDATE t_value SET value = value + 1 WHERE launch_id = (SELECT min(launch_id) FROM t_launch)")
        db.commit()
        db.close()
        for words in (("push", self.url, "--db", "other.db"), ("pull", self.url, "-o", "other.db"),
                      ("merge", "other.db", "-o", "here.db")):
            with self.subTest(words=words[0]):
                row = self.program.table(*words, code=5)[0]
                self.assertEqual([row.get(name, 0) for name in ("added", "launches", "rows", "known", "conflicts")], [0, 0, 0, 1, 1])

    def test_a_run_that_lacks_something_is_told_in_words(self):
        self.prepared()
        for sql, words in (("DELETE FROM t_value WHERE launch_id = 2 AND counter_id = (SELECT min(counter_id) + 1 FROM t_value)", "of vector_add/.* is in the server .* and not in here.db"),
                           ("DELETE FROM t_launch WHERE launch_id = (SELECT max(launch_id) FROM t_launch)",
                            "it has fewer launches in here.db than in the server"),
                           ("UPDATE t_launch SET registers = 99", "registers of vector_add/block_128 at 1,024 .* and 99 in here.db"),
                           ("UPDATE t_run SET host = 'elsewhere'", "its host is .* in the server .* and elsewhere in here.db")):
            with self.subTest(sql=sql):
                shutil.copy(self.folder / "here.db", self.folder / "copy.db")
                db = sqlite3.connect(self.folder / "here.db")
                db.execute(sql)
                db.commit()
                db.close()
                error = self.push("here.db", 5).stderr
                self.assertRegex(error, words)
                self.assertNotRegex(error, r"\bt_")
                shutil.copy(self.folder / "copy.db", self.folder / "here.db")

    def test_a_server_is_prepared_where_nothing_was_measured(self):
        for words in ("prepared the server", "is prepared already"):
            done = self.program("push", "--migrate", self.url)
            self.assertIn(words, done.stderr)
            self.assertIn("no database warpmeter.db here, so nothing was sent", done.stderr)
        self.assertFalse((self.folder / "warpmeter.db").exists())
        self.one_sentence(self.program("push", "--migrate", self.url, "--db", "no.db", code=5), 5, "no database no.db")
        self.one_sentence(self.program("push", self.url, code=5), 5, "no database warpmeter.db")

    def test_roles_are_printed_and_nothing_else(self):
        for words in ((self.url,), ("--migrate",), ("--db", "here.db"), ("--format", "json"), ("-q",)):
            with self.subTest(words=words):
                self.one_sentence(self.program("push", "--roles", *words, code=2), 2, "--roles prints SQL")

    def test_a_label_is_no_content(self):
        self.prepared()
        self.program("runs", "label", "1", "it's mine", "--db", "here.db")
        self.assertIn("label", self.push("here.db").stderr)

    def test_a_run_that_is_being_measured_is_left_for_later(self):
        self.prepared()
        db = sqlite3.connect(self.folder / "here.db")
        start = pathlib.Path(f"/proc/{os.getpid()}/stat").read_text().rsplit(")", 1)[1].split()[19]
        db.execute("UPDATE t_run SET outcome = 'running', uuid = 'ffffffff-1111-4111-8111-111111111111', process_id = ?, "
                   "process_start = ?", (os.getpid(), int(start)))
        db.commit()
        db.close()
        row = self.program.table("push", self.url, "--db", "here.db")[0]
        self.assertEqual((row["running"], row["added"]), (1, 0))

    def test_the_database_stays_as_it_was_to_the_last_byte(self):
        self.measure()
        before = (self.folder / "here.db").read_bytes()
        self.push("here.db", 0, "--migrate")
        self.assertEqual((self.folder / "here.db").read_bytes(), before)

    def test_a_month_that_was_dropped_is_not_pushed_again(self):
        self.prepared()
        month = self.server.number("SELECT month FROM warpmeter.t_month")
        self.server.psql(f"SELECT warpmeter.drop_month({month})")
        self.assertEqual([self.server.number(f"SELECT count(*) FROM {view}") for view in ("launches", "comparison")], [0, 0])
        row = self.program.table("push", self.url, "--db", "here.db")[0]
        self.assertEqual((row["added"], row["known"], row["dropped"], row["conflicts"]), (0, 0, 1, 0))
        self.assertIn("1 run is of a month that was taken off the server", self.push("here.db").stderr)
        for gone in (month, 202513):
            done = self.server.psql(f"SELECT warpmeter.drop_month({gone})", check=False)
            self.assertIn(f"there is no month {gone} here: the months are none", done.stderr)
        self.measure("new.db")
        self.assertEqual(self.program.table("push", self.url, "--db", "new.db")[0]["added"], 1)

    def test_many_rows_go_in_a_stream(self):
        self.measure()
        lab.fill(self.folder / "here.db", 3, 2000, 20)
        begin = time.time()
        row = self.program.table("push", "--migrate", self.url, "--db", "here.db")[0]
        self.assertEqual(row["added"], 4)
        print(f"{row['rows']:,} rows in {time.time() - begin:.2f} s", file=sys.stderr)
        self.assertEqual(self.server.number("SELECT count(*) FROM warpmeter.t_value"),
                         sqlite3.connect(self.folder / "here.db").execute("SELECT count(*) FROM t_value").fetchone()[0])

    def test_the_condition_of_pull_chooses_runs(self):
        self.measure("here.db", ("transpose",))
        self.measure("here.db", ("reduction",))
        self.push("here.db", 0, "--migrate")
        for condition, runs in (("family = 'transpose'", 1), ("family IN ('transpose', 'reduction') -- all", 2), ("gst_efficiency < 50 AND variant = 'naive'", 1), ("launches > 0", 2),
                                ("run_id > 0", 2), ("device LIKE 'model%' AND started > '2020'", 2)):
            with self.subTest(condition=condition):
                row = self.program.table("pull", self.url, "--where", condition, "-o", f"{abs(hash(condition))}.db")[0]
                self.assertEqual(row["added"], runs)
        for condition in ("family = 'transpose", "nonsense = 1", "1=1); DROP VIEW runs; --", "run_id", "1/0 = 1", "run_id = 'x'", "", " "):
            with self.subTest(condition=condition):
                self.one_sentence(self.program("pull", self.url, "--where", condition, "-o", "no.db", code=2), 2, "--where")
                self.assertFalse((self.folder / "no.db").exists())

    def test_a_condition_that_nothing_meets_leaves_no_file(self):
        self.prepared()
        done = self.program("pull", self.url, "--where", "host = 'nowhere'", "-o", "no.db", code=3)
        self.one_sentence(done, 3, "has no run for which that holds: host = 'nowhere'")
        self.assertFalse((self.folder / "no.db").exists())
        before = (self.folder / "here.db").read_bytes()
        self.program("pull", self.url, "--where", "host = 'nowhere'", "-o", "here.db", code=3)
        self.assertEqual((self.folder / "here.db").read_bytes(), before)
        month = self.server.number("SELECT month FROM warpmeter.t_month")
        self.server.psql(f"SELECT warpmeter.drop_month({month})")
        self.one_sentence(self.program("pull", self.url, "-o", "no.db", code=3), 3, "has no run yet")


class Writers(Lab):
    def test_eight_at_once_lose_and_double_nothing(self):
        self.measure("shared.db", ("transpose",))
        self.push("shared.db", 0, "--migrate")
        for i in range(8):
            self.measure(f"{i}.db", ("transpose", "reduction"))
            lab.fill(self.folder / f"{i}.db", 3, 50, 20)
        # Each has runs of its own, all have those of number 0, and half of them push the same file.
        for i in range(1, 8):
            self.program("merge", "0.db", "-o", f"{i}.db")
        codes = []

        def one(i):
            for _ in range(2):
                codes.append(self.push(f"{i % 6}.db", None).returncode)

        threads = [threading.Thread(target=one, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(codes, [0] * 16)
        self.program("merge", "shared.db", *(f"{i}.db" for i in range(6)), "-o", "all.db")
        self.same_as("all.db")

    def same_as(self, name):
        """The server has the runs of the database, each once, with as many rows."""
        db = sqlite3.connect(self.folder / name)
        for table in ("t_run", "t_launch", "t_value", "t_timing", "t_line", "t_explained", "t_explanation", "t_finding", "t_remedy",
                      "t_run_device", "t_device"):
            self.assertEqual(self.server.number(f"SELECT count(*) FROM warpmeter.{table}"),
                             db.execute(f"SELECT count(*) FROM {table}").fetchone()[0], table)
        db.close()
        self.assertEqual(self.server.number("SELECT count(*) - count(DISTINCT uuid) FROM warpmeter.t_run"), 0)
        row = self.program.table("push", self.url, "--db", name)[0]
        self.assertEqual((row["added"], row["conflicts"]), (0, 0))


class Kills(Writers):
    """kill -9 at random moments: afterwards the same command completes the work."""

    test_eight_at_once_lose_and_double_nothing = None

    def setUp(self):
        super().setUp()
        self.measure("shared.db")
        self.push("shared.db", 0, "--migrate")
        self.measure("big.db", ("transpose", "reduction"))
        lab.fill(self.folder / "big.db", 8, 300, 20)
        self.program("merge", "shared.db", "-o", "big.db")
        begin = time.time()
        shutil.copy(self.folder / "big.db", self.folder / "trial.db")
        self.push("trial.db")
        self.seconds = time.time() - begin
        self.server.psql("DROP DATABASE warpmeter WITH (FORCE)", database="postgres")
        self.server.psql("CREATE DATABASE warpmeter", database="postgres")
        self.push("shared.db", 0, "--migrate")

    def begin_push(self):
        return subprocess.Popen([Lab.path, "push", self.url, "--db", "big.db"], cwd=self.folder, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def test_of_the_client(self):
        for _ in range(TRIALS):
            push = self.begin_push()
            time.sleep(random.uniform(0.02, self.seconds))
            push.kill()
            push.communicate()
        self.push("big.db")
        self.same_as("big.db")

    def test_of_the_server(self):
        for _ in range(TRIALS):
            push = self.begin_push()
            time.sleep(random.uniform(0.02, self.seconds))
            self.server.kill()
            error = push.communicate()[1]
            self.assertIn(push.returncode, (0, 5), error)
            if push.returncode == 5:
                self.assertEqual(len(error.strip().splitlines()), 1, error)
            self.server.start()
        self.push("big.db")
        self.same_as("big.db")

    def test_of_a_pull(self):
        self.push("big.db")
        for _ in range(TRIALS):
            pull = subprocess.Popen([Lab.path, "pull", self.url, "-o", "back.db"], cwd=self.folder, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL)
            time.sleep(random.uniform(0.02, self.seconds))
            pull.kill()
            pull.wait()
        self.program("pull", self.url, "-o", "back.db")
        row = self.program.table("merge", "big.db", "-o", "back.db")[0]
        self.assertEqual((row["added"], row["conflicts"]), (0, 0))


class Million(Lab):
    """The promise of speed, for an optimised program: 1,000,000 metric rows in 20 s, the second push in 1 s."""

    def test_a_million_metric_rows(self):
        self.measure()
        lab.fill(self.folder / "here.db", 10, 5000, 20)
        begin = time.time()
        self.push("here.db", 0, "--migrate")
        first = time.time() - begin
        before = self.counts()
        begin = time.time()
        self.push("here.db")
        second = time.time() - begin
        print(f"first push {first:.2f} s, second {second:.2f} s", file=sys.stderr)
        self.assertEqual(self.counts(), before)
        self.assertLessEqual(first, 20)
        self.assertLess(second, 1)


if __name__ == "__main__":
    main()
