#!/usr/bin/env python3
"""push and pull against a real PostgreSQL: postgres_test.py WARPMETER SUBJECT (a class of this file)."""
import os
import pathlib
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import lab
from server import SKIPPED, Server, skip

PROGRAM = None
TRIALS = int(os.environ.get("WARPMETER_CRASH_TRIALS", "10"))


class Lab(unittest.TestCase):
    """A server for the class, an empty database and an empty folder for each test."""

    @classmethod
    def setUpClass(cls):
        cls.server = Server()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def setUp(self):
        self.server.psql("DROP DATABASE IF EXISTS warpmeter WITH (FORCE)", database="postgres")
        self.server.psql("CREATE DATABASE warpmeter", database="postgres")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="wm-push-"))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.program = lab.Program(PROGRAM, self.folder)
        self.url = self.server.url()

    def measure(self, name="here.db", families=("vector_add",)):
        self.program("run", *families, "-n", "1024", "-b", "model", "--db", name)

    def push(self, name="here.db", code=0, *words, url=None):
        return self.program("push", url or self.url, "--db", name, *words, code=code)

    def prepared(self, name="here.db"):
        self.measure(name)
        self.push(name, 0, "--migrate")

    def counts(self):
        """Rows of every table on the server, the catalogue's left out."""
        tables = [r[0] for r in self.server.psql(
            "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'warpmeter' "
            "AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname NOT IN ('t_reserved', 't_month') ORDER BY 1")]
        return {t: self.server.number(f"SELECT count(*) FROM warpmeter.{t}") for t in tables}

    def one_sentence(self, done, code, *words):
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("warpmeter: "), done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)


class RoundTrip(Lab):
    def test_every_view_says_the_same_on_the_server(self):
        path = lab.make_database(self.program)
        self.push("here.db", 0, "--migrate")
        self.assertEqual(lab.differences(self.program, path, self.server), [])

    def test_what_is_too_large_or_small_for_a_number_is_the_same_on_both_sides(self):
        self.measure("here.db", ("transpose",))
        db = sqlite3.connect(self.folder / "here.db")
        numbers = (1.7e308, 5e-324, 1e200, 1e-200, 0.0, 1e308, -1.7e308, float("inf"))
        for i, (launch, counter) in enumerate(db.execute("SELECT launch_id, counter_id FROM t_value WHERE grade < 4 ORDER BY 1, 2").fetchall()):
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
        self.assertEqual(self.server.number("SELECT count(*) FROM launches"), 0)
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
        return subprocess.Popen([PROGRAM, "push", self.url, "--db", "big.db"], cwd=self.folder, stdout=subprocess.PIPE,
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
            pull = subprocess.Popen([PROGRAM, "pull", self.url, "-o", "back.db"], cwd=self.folder, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL)
            time.sleep(random.uniform(0.02, self.seconds))
            pull.kill()
            pull.wait()
        self.program("pull", self.url, "-o", "back.db")
        row = self.program.table("merge", "big.db", "-o", "back.db")[0]
        self.assertEqual((row["added"], row["conflicts"]), (0, 0))


class Roles(Lab):
    def setUp(self):
        super().setUp()
        self.prepared()
        self.server.psql(self.program("push", "--roles").stdout)
        self.server.psql(self.program("push", "--roles").stdout)  # again: changes nothing
        for name, role in (("lab7", "warpmeter_writer"), ("grafana", "warpmeter_reader"), ("stranger", None)):
            self.server.psql(f"DROP ROLE IF EXISTS {name}; CREATE ROLE {name} LOGIN PASSWORD 's3cret'"
                             + (f" IN ROLE {role};" if role else ";"))
        self.measure("more.db", ("transpose",))

    def refused(self, user, sql):
        done = self.server.psql(sql, user=user, check=False)
        self.assertNotEqual(done.returncode, 0, (user, sql))
        self.assertRegex(done.stderr, "permission denied|must be owner|rows of a|was not reserved|already", sql)

    def test_a_writer_adds_runs(self):
        url = self.server.url("lab7", "s3cret")
        row = self.program.table("push", url, "--db", "more.db")[0]
        self.assertEqual(row["added"], 1)
        self.assertEqual(self.program.table("push", url, "--db", "more.db")[0]["known"], 1)
        self.program("pull", url, "-o", "back.db")
        self.assertIn("done", self.server.psql("SELECT 'done', warpmeter.refresh_statistics(month) FROM warpmeter.t_month", user="lab7")[0])

    def test_who_may_not_migrate_is_told_who_may(self):
        done = self.program("push", "--migrate", self.server.url("lab7", "s3cret"), code=4)
        self.one_sentence(done, 4, "--migrate is for owner", "you are lab7")
        self.server.psql("CREATE DATABASE empty", database="postgres")
        self.addCleanup(self.server.psql, "DROP DATABASE empty WITH (FORCE)", database="postgres")
        done = self.program("push", "--migrate", self.server.url("lab7", "s3cret", "empty"), code=4)
        self.one_sentence(done, 4, "the database's owner owner", "GRANT CREATE ON DATABASE empty TO lab7")
        self.server.psql("GRANT CREATE ON DATABASE empty TO lab7", database="postgres")
        self.one_sentence(self.program("push", "--migrate", self.server.url("lab7", "s3cret", "empty"), code=4), 4, "SCHEMA public")
        self.server.psql("GRANT CREATE ON SCHEMA public TO lab7", database="empty")
        self.program("push", "--migrate", self.server.url("lab7", "s3cret", "empty"), "--db", "more.db")

    def test_a_writer_changes_and_removes_none(self):
        self.push("more.db", url=self.server.url("lab7", "s3cret"))
        before = self.counts()
        tables = [t for t in before if t not in ("t_reserved",)]
        for table in tables:
            self.refused("lab7", f"DELETE FROM warpmeter.{table}")
            self.refused("lab7", f"TRUNCATE warpmeter.{table}")
            column = self.server.psql(f"SELECT attname FROM pg_attribute WHERE attrelid = 'warpmeter.{table}'::regclass AND attnum = 1")[0][0]
            self.refused("lab7", f"UPDATE warpmeter.{table} SET {column} = {column}")
        parts = [r[0] for r in self.server.psql("SELECT c.oid::regclass FROM pg_class c WHERE c.relispartition AND c.relkind = 'r'")]
        for part in parts:
            self.refused("lab7", f"INSERT INTO {part} SELECT * FROM {part}")
        launch, run = self.server.psql("SELECT launch_id, run_id FROM warpmeter.t_launch LIMIT 1")[0]
        for sql in (f"INSERT INTO warpmeter.t_value VALUES ({launch}, 99999, 1, 0, NULL)",
                    f"INSERT INTO warpmeter.t_sample VALUES ({launch}, 99999, 1)",
                    f"INSERT INTO warpmeter.t_device_state (run_id, device_id, phase) VALUES ({run}, 7, 'before')",
                    f"SELECT warpmeter.begin_run('new', {run}, '')",
                    "INSERT INTO warpmeter.t_pushed (uuid, run_id, first_launch, launches, digest) VALUES ('x', 1, 1, 1, '')",
                    "INSERT INTO warpmeter.t_metric SELECT * FROM warpmeter.t_metric",
                    "INSERT INTO warpmeter.t_looked_for SELECT explanation_id, 'mine', NULL FROM warpmeter.t_explanation LIMIT 1",
                    "SELECT warpmeter.drop_month(202601)", "SELECT warpmeter.make_month(202601)", "DROP VIEW runs",
                    "CREATE OR REPLACE VIEW runs AS SELECT 1", "ALTER TABLE warpmeter.t_value DISABLE TRIGGER ALL",
                    "SET session_replication_role = replica", "CREATE TABLE public.mine (a int)"):
            self.refused("lab7", sql)
        # With a run of his own begun, a writer still reaches no other.
        self.refused("lab7", f"BEGIN; SELECT warpmeter.begin_run('new', (SELECT run_id FROM warpmeter.reserve('2026-01-01T00', 1)), "
                             f"''); INSERT INTO warpmeter.t_value VALUES ({launch}, 99999, 1, 0, NULL); COMMIT")
        self.assertEqual(self.counts(), before)

    def test_nobody_reads_passwords(self):
        for user in ("lab7", "grafana", "stranger"):
            self.refused(user, "SELECT * FROM pg_authid")
            self.refused(user, "SELECT * FROM pg_shadow")

    def test_a_reader_reads_and_adds_nothing(self):
        url = self.server.url("grafana", "s3cret")
        self.assertGreater(len(self.server.psql("SELECT * FROM comparison", user="grafana")), 0)
        self.program("pull", url, "-o", "back.db")
        self.one_sentence(self.push("more.db", 4, url=url), 4, "permission denied", "--roles")
        self.refused("grafana", "DELETE FROM warpmeter.t_run")

    def test_a_stranger_sees_nothing(self):
        self.refused("stranger", "SELECT * FROM runs")
        for command in (("push", self.server.url("stranger", "s3cret"), "--db", "more.db"),
                        ("pull", self.server.url("stranger", "s3cret"), "-o", "x.db")):
            self.one_sentence(self.program(*command, code=4), 4, "ask its owner for")
        self.one_sentence(self.push("more.db", 4, "--migrate", url=self.server.url("stranger", "s3cret")), 4)


class Connections(Lab):
    def setUp(self):
        super().setUp()
        self.prepared()
        self.server.psql("DROP ROLE IF EXISTS lab8; CREATE ROLE lab8 LOGIN PASSWORD 'hunter2secret' SUPERUSER;")

    def quiet(self, done):
        self.assertNotIn("hunter2", done.stdout + done.stderr)

    def test_a_wrong_password_is_said_and_never_shown(self):
        wrong = self.server.url("lab8", "hunter2wrong")
        for command in (("push", wrong, "--db", "here.db"), ("pull", wrong, "-o", "x.db")):
            done = self.program(*command, code=4)
            self.one_sentence(done, 4, "password")
            self.quiet(done)
        self.one_sentence(self.program("push", self.server.url("lab8"), "--db", "here.db", code=4, env=self.clean()), 4, "password")

    def clean(self, **more):
        return {k: v for k, v in os.environ.items() if not k.startswith("PG")} | {"HOME": str(self.folder)} | more

    def test_every_way_of_libpq_leads_in(self):
        host = f"host=127.0.0.1 port={self.server.port} dbname=warpmeter user=lab8"
        (self.folder / "services").write_text(f"[lab]\nhost=127.0.0.1\nport={self.server.port}\ndbname=warpmeter\nuser=lab8\n")
        passwords = self.folder / ".pgpass"
        passwords.write_text("*:*:*:lab8:hunter2secret\n")
        passwords.chmod(0o600)
        environment = self.clean(PGSERVICEFILE=str(self.folder / "services"), PGPASSFILE=str(passwords))
        for where in ("service=lab", host, f"postgresql://lab8@127.0.0.1:{self.server.port}/warpmeter",
                      f"host={self.server.folder} port={self.server.port} dbname=warpmeter user=owner", "postgresql:///?service=lab"):
            self.program("push", where, "--db", "here.db", env=environment)
        for where in (f"{host} password=hunter2secret", f"{host} password = 'hunter2secret' sslmode=prefer",
                      self.server.url("lab8", "hunter2secret"),
                      f"postgresql://127.0.0.1:{self.server.port}/warpmeter?user=lab8&password=hunter2secret"):
            self.quiet(self.program("push", where, "--db", "here.db", env=self.clean()))

    def test_the_list_of_processes_shows_no_password(self):
        # A listener that never answers keeps the program waiting.
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            port = silent.getsockname()[1]
            for where in (f"postgresql://lab8:hunter2secret@127.0.0.1:{port}/warpmeter", f"postgresql://lab8:hunter2@secret@127.0.0.1:{port}/w",
                          f"host=127.0.0.1 port={port} password=hunter2secret user=lab8",
                          f"host=127.0.0.1 port={port} password = 'hunter2 \\' secret' user=lab8",
                          f"postgresql://127.0.0.1:{port}/w?password=hunter2secret&user=lab8"):
                push = subprocess.Popen([PROGRAM, "push", where, "--db", "here.db"], cwd=self.folder, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
                time.sleep(1)
                shown = pathlib.Path(f"/proc/{push.pid}/cmdline").read_bytes()
                push.kill()
                out, error = push.communicate()
                self.assertNotIn(b"hunter2", shown, where)
                self.assertNotIn(b"secret", shown, where)
                self.assertNotIn("hunter2", out + error)

    def test_a_server_that_is_not_there(self):
        for where, code in ((f"postgresql://127.0.0.1:{self.free()}/warpmeter", 5), ("postgresql://no-such-host.invalid/warpmeter", 5),
                            (self.server.url(database="nothing"), 5), (self.server.url("nobody_here"), 4), ("service=nowhere", 2),
                            ("postgresql://[::1/warpmeter?hunter2", 2), ("nonsense", 2), ("postgresql://lab8:hunter2@h:port:x/d", 2)):
            with self.subTest(where=where):
                done = self.push("here.db", None, url=where)
                self.quiet(done)
                self.one_sentence(done, code)
                done = self.program("pull", where, "-o", "x.db", code=code)
                self.one_sentence(done, code)
                self.assertFalse((self.folder / "x.db").exists())

    def test_a_name_that_cannot_be_used_is_wrong_usage(self):
        base = f"host=127.0.0.1 port={self.server.port} dbname=warpmeter user=owner"
        for where in ("postgresql://lab:99999/warpmeter", f"{base} sslmode=sometimes", f"{base} connect_timeout=soon",
                      f"{base} target_session_attrs=mine", "host=a port=1,2", f"{base} keepalives_idle=x", "http://lab/x", "lab"):
            with self.subTest(where=where):
                self.one_sentence(self.push("here.db", 2, url=where), 2, "the name of the server")

    def test_a_server_that_answers_is_not_called_away(self):
        rows = [(self.server.url(database="nothing"), "answers, and has no such database"),
                (self.server.url("lab8", "hunter2wrong"), "does not let you in"), (self.server.url("nobody_here"), "password")]
        self.server.psql("ALTER DATABASE postgres CONNECTION LIMIT 0", database="postgres")
        self.server.psql("DROP ROLE IF EXISTS lab9; CREATE ROLE lab9 LOGIN PASSWORD 'hunter2secret'")
        rows.append((self.server.url("lab9", "hunter2secret", "postgres"), "answers, and takes no connection now"))
        for where, words in rows:
            with self.subTest(where=where):
                error = self.push("here.db", None, url=where).stderr
                self.assertIn(words, error)
                self.assertNotIn("cannot be reached", error)
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen()
            threading.Thread(target=lambda: listener.accept()[0].sendall(b"HTTP/1.1 400 no\r\n\r\n"), daemon=True).start()
            where = f"host=127.0.0.1 port={listener.getsockname()[1]} dbname=w sslmode=disable"
            self.one_sentence(self.push("here.db", 5, url=where), 5, "what answers there is no PostgreSQL")

    def test_ctrl_c_ends_the_waiting_for_a_server(self):
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            where = f"postgresql://127.0.0.1:{silent.getsockname()[1]}/warpmeter"
            for words in (("push", where, "--db", "here.db"), ("pull", where, "-o", "x.db"), ("push", "--migrate", where)):
                with self.subTest(words=words[0]):
                    process = subprocess.Popen([PROGRAM, *words], cwd=self.folder, stdout=subprocess.PIPE,
                                               stderr=subprocess.PIPE, text=True)
                    time.sleep(1)
                    begin = time.time()
                    process.send_signal(signal.SIGINT)
                    _, error = process.communicate(timeout=20)
                    self.assertLess(time.time() - begin, 2)
                    self.assertEqual(process.returncode, -signal.SIGINT, error)
                    self.assertIn("ended before the server answered", error)
                    self.assertFalse((self.folder / "x.db").exists())

    def free(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return probe.getsockname()[1]

    def test_a_network_that_drops(self):
        self.measure("big.db")
        lab.fill(self.folder / "big.db", 3, 1000, 20)
        before = self.counts()
        with Wire(self.server.port, 150_000) as wire:
            where = f"postgresql://owner@127.0.0.1:{wire.port}/warpmeter"
            self.one_sentence(self.push("big.db", 5, url=where), 5, "went away")
            time.sleep(0.5)
            after = self.counts()
            self.assertEqual(after["t_pushed"], after["t_run"])
            self.assertEqual(after["t_launch"], self.server.number("SELECT sum(launches) FROM warpmeter.t_pushed"))
        self.push("big.db")
        self.assertEqual(self.server.number("SELECT count(*) FROM warpmeter.t_run"), before["t_run"] + 4)
        with Wire(self.server.port, 150_000) as wire:
            where = f"postgresql://owner@127.0.0.1:{wire.port}/warpmeter"
            self.one_sentence(self.program("pull", where, "-o", "back.db", code=5), 5, "went away")
        self.program("pull", self.url, "-o", "back.db")
        self.assertEqual(self.program.table("merge", "big.db", "-o", "back.db")[0]["added"], 0)

    def test_without_libpq_there_is_a_sentence(self):
        # A library of that name that is none is what the loader finds first.
        (self.folder / "libpq.so.5").write_text("")
        environment = os.environ | {"LD_LIBRARY_PATH": str(self.folder)}
        done = self.program("push", self.url, "--db", "here.db", code=4, env=environment)
        self.one_sentence(done, 4, "install libpq5")

    def test_wrong_usage(self):
        for words in (("push",), ("pull", self.url), ("pull", "-o", "x.db")):
            self.one_sentence(self.program(*words, code=2), 2)
        self.one_sentence(self.program("push", self.url, "--db", "none.db", code=5), 5, "none.db")


class Wire:
    """A network in between that drops after some bytes of one direction."""

    def __init__(self, port, most):
        self.to, self.left = port, most
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self.to))
            for a, b in ((client, server), (server, client)):
                threading.Thread(target=self.carry, args=(a, b), daemon=True).start()

    def carry(self, a, b):
        try:
            while data := a.recv(8192):
                self.left -= len(data)
                if self.left < 0:
                    break
                b.sendall(data)
        except OSError:
            pass
        for end in (a, b):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()


class Versions(Lab):
    def test_an_empty_server_is_refused_until_it_is_prepared(self):
        self.measure()
        self.one_sentence(self.push("here.db", 5), 5, "holds nothing of warpmeter yet", "push --migrate")
        self.one_sentence(self.program("pull", self.url, "-o", "x.db", code=5), 5, "push --migrate")
        self.assertEqual(self.server.number("SELECT count(*) FROM pg_namespace WHERE nspname = 'warpmeter'"), 0)
        self.assertIn("prepared", self.push("here.db", 0, "--migrate").stderr)
        self.assertEqual(self.push("here.db", 0, "--migrate").stderr, "")

    def test_older_and_newer_servers_are_refused(self):
        self.prepared()
        before = self.counts()
        for version, words in (("999", "newer warpmeter"), ("1", "older warpmeter")):
            self.server.psql(f"UPDATE warpmeter.t_meta SET value = '{version}' WHERE name = 'version'")
            self.measure("more.db")
            self.one_sentence(self.push("more.db", 5), 5, words)
            self.one_sentence(self.program("pull", self.url, "-o", "x.db", code=5), 5, words)
            self.assertEqual(self.counts(), before)
        self.server.psql("UPDATE warpmeter.t_meta SET value = '999' WHERE name = 'version'")
        self.one_sentence(self.push("more.db", 5, "--migrate"), 5, "newer warpmeter")

    def test_migrate_replaces_views_of_another_build(self):
        self.prepared()
        self.server.psql("UPDATE warpmeter.t_meta SET value = 'other' WHERE name = 'fingerprint'; DROP VIEW public.lines;")
        self.assertIn("another build", self.push("here.db").stderr)
        self.assertIn("replaced the views", self.push("here.db", 0, "--migrate").stderr)
        self.assertEqual(self.server.number("SELECT count(*) FROM lines WHERE false"), 0)
        self.assertEqual(self.push("here.db").stderr, "")

    def test_eight_that_prepare_at_once_prepare_once(self):
        self.measure()
        done = []
        threads = [threading.Thread(target=lambda: done.append(self.push("here.db", None, "--migrate"))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([d.returncode for d in done], [0] * 8, [d.stderr for d in done])
        self.assertEqual(sum("prepared" in d.stderr for d in done), 1)
        self.assertEqual(self.server.number("SELECT count(*) FROM runs"), 1)


class Dashboards(Lab):
    def test_each_query_of_the_page_gives_rows(self):
        from dashboards import QUERIES
        self.measure()
        lab.fill(self.folder / "here.db", 2, 70, 20, ("transpose", "reduction"), time.strftime("%Y-%m-%dT00:00:00.000Z"))
        db = sqlite3.connect(self.folder / "here.db")
        db.execute("UPDATE t_launch SET outcome = 'failed', reason = 'wrong' WHERE launch_id % 10 = 0")
        db.execute("UPDATE t_launch SET variant = 'tiled' WHERE variant = 'variant_2'")
        db.commit()
        db.close()
        self.push("here.db", 0, "--migrate")
        self.server.psql(self.program("push", "--roles").stdout)
        self.server.psql("DROP ROLE IF EXISTS grafana; CREATE ROLE grafana LOGIN IN ROLE warpmeter_reader;")
        for name, sql in QUERIES.items():
            with self.subTest(name=name):
                rows = self.server.psql(sql, user="grafana")
                self.assertGreater(len(rows), 0)
        worst = self.server.psql(QUERIES["What fails?"], user="grafana")
        self.assertEqual(sum(int(row[4]) for row in worst), sqlite3.connect(self.folder / "here.db").execute(
            "SELECT count(*) FROM t_launch WHERE outcome = 'failed'").fetchone()[0])


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
    PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
