#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Who may do what on a real PostgreSQL, and what is said when it does not answer as hoped: server_test.py WARPMETER SUBJECT."""
import contextlib
import os
import pathlib
import signal
import socket
import sqlite3
import subprocess
import threading
import time

import lab
from case import Lab, main


@contextlib.contextmanager
def answering(words):
    """A stand-in for a server, and how to reach it: says these bytes to everybody who begins to talk, and hangs up."""
    def serve():
        with contextlib.suppress(OSError):
            while True:
                with listener.accept()[0] as client, contextlib.suppress(ConnectionError):
                    if client.recv(1000):
                        client.sendall(words)

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        server = threading.Thread(target=serve, daemon=True)
        server.start()
        yield f"host=127.0.0.1 port={listener.getsockname()[1]} dbname=warpmeter user=owner sslmode=disable gssencmode=disable"
        listener.shutdown(socket.SHUT_RDWR)
        server.join()


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
                    f"SELECT warpmeter.begin_run('new', {run}, '')", f"SELECT warpmeter.add_comparison({launch}, 1)",
                    "INSERT INTO warpmeter.t_comparison (launch_id) VALUES (1)", "SELECT warpmeter.make_comparison()",
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
                push = subprocess.Popen([Lab.path, "push", where, "--db", "here.db"], cwd=self.folder, stdout=subprocess.PIPE,
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

    def test_what_a_server_says_as_it_goes_is_not_printed_beside_the_failure(self):
        """It lets somebody in and is gone: ReadyForQuery and its last words arrive together."""
        message = lambda kind, body: kind + (len(body) + 4).to_bytes(4, "big") + body
        words = b"SFATAL\0VFATAL\0C57P01\0Mterminating connection due to unexpected postmaster exit\0\0"
        answer = (message(b"R", bytes(4)) + message(b"S", b"server_version\x0015.3\0") + message(b"S", b"client_encoding\0UTF8\0") +
                  message(b"K", bytes(8)) + message(b"Z", b"I") + message(b"E", words))

        with answering(answer) as where:
            self.one_sentence(self.push("here.db", None, url=where), 5, "went away")

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
        with answering(b"HTTP/1.1 400 no\r\n\r\n") as where:
            self.one_sentence(self.push("here.db", 5, url=where), 5, "what answers there is no PostgreSQL")

    def test_ctrl_c_ends_the_waiting_for_a_server(self):
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            where = f"postgresql://127.0.0.1:{silent.getsockname()[1]}/warpmeter"
            for words in (("push", where, "--db", "here.db"), ("pull", where, "-o", "x.db"), ("push", "--migrate", where)):
                with self.subTest(words=words[0]):
                    process = subprocess.Popen([Lab.path, *words], cwd=self.folder, stdout=subprocess.PIPE,
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

    def missing_in_comparison(self):
        """Rows that are not as the tables say, or not there, or there for nothing."""
        both = ("SELECT * FROM warpmeter.v_comparison", "SELECT * FROM warpmeter.t_comparison")
        return sum(self.server.number(f"SELECT count(*) FROM ({a} EXCEPT ALL {b}) d") for a, b in (both, both[::-1]))

    def test_comparison_is_computed_when_a_run_is_added(self):
        self.prepared()
        self.measure("more.db", ("transpose", "reduction"))
        self.push("more.db")
        self.assertEqual(self.missing_in_comparison(), 0)
        self.assertEqual(self.server.number("SELECT count(*) FROM comparison WHERE family = 'vector_add'"),
                         self.server.number("SELECT count(*) FROM launches WHERE family = 'vector_add'"))
        plan = "\n".join(row[0] for row in self.server.psql("EXPLAIN SELECT * FROM comparison WHERE family = 'transpose'"))
        self.assertIn("t_comparison", plan)
        self.assertNotRegex(plan, "t_value|t_timing|t_launch")

    def test_migrate_computes_comparison_of_what_is_there(self):
        self.prepared()
        whole = self.server.psql("SELECT * FROM comparison ORDER BY launch_id")
        for before in ("DROP TRIGGER keep_comparison ON warpmeter.t_pushed; DROP TABLE warpmeter.t_comparison CASCADE; "
                       "DROP VIEW warpmeter.v_comparison; DELETE FROM warpmeter.t_meta WHERE name = 'comparison';",  # never kept
                       "UPDATE warpmeter.t_meta SET value = 'other' WHERE name = 'comparison'; "
                       "UPDATE warpmeter.t_comparison SET gld_efficiency = -1;"):  # by other formulas
            self.server.psql(before + "UPDATE warpmeter.t_meta SET value = 'other' WHERE name = 'fingerprint';")
            self.assertIn("replaced the views", self.push("here.db", 0, "--migrate").stderr)
            self.assertEqual(self.server.psql("SELECT * FROM comparison ORDER BY launch_id"), whole)
        self.measure()
        self.push()
        self.assertEqual(self.missing_in_comparison(), 0)
        self.assertEqual(self.server.number("SELECT count(*) FROM comparison"), 2 * len(whole))

    def test_runs_are_added_where_an_older_build_has_put_its_views(self):
        self.prepared()
        self.server.psql("DROP VIEW warpmeter.v_comparison; DELETE FROM warpmeter.t_view WHERE name = 'v_comparison'; "
                         "UPDATE warpmeter.t_meta SET value = 'older' WHERE name = 'fingerprint';")
        self.measure()
        self.assertIn("another build", self.push().stderr)
        self.push("here.db", 0, "--migrate")
        self.assertEqual(self.missing_in_comparison(), 0)
        self.assertEqual(self.server.number("SELECT count(*) FROM comparison"), self.server.number("SELECT count(*) FROM launches"))

    def test_a_run_that_is_being_added_and_migrate_do_not_end_each_other(self):
        self.prepared()
        adding = subprocess.Popen(
            [self.server.bin / "psql", "-h", self.server.folder, "-p", str(self.server.port), "-U", "owner", "-d", "warpmeter", "-X",
             "-q", "-v", "ON_ERROR_STOP=1"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        adding.stdin.write("BEGIN; SELECT warpmeter.begin_run('new', (SELECT run_id FROM warpmeter.reserve('2026-11-01T00', 1)), '');\n"
                           "INSERT INTO warpmeter.t_value SELECT first_launch, 1, 1, 0, NULL FROM warpmeter.t_pushed WHERE uuid = 'new';\n")
        adding.stdin.flush()
        locks = "SELECT count(*) FROM pg_locks WHERE relation = 'warpmeter.t_pushed'::regclass AND "
        self.wait_for(locks + "mode = 'RowExclusiveLock'")
        self.server.psql("UPDATE warpmeter.t_meta SET value = 'other' WHERE name = 'fingerprint';")
        done = []
        migrating = threading.Thread(target=lambda: done.append(self.push("here.db", None, "--migrate")))
        migrating.start()
        self.wait_for(locks + "NOT granted")
        self.assertEqual((adding.communicate("COMMIT;\n")[1], adding.returncode), ("", 0))
        migrating.join()
        self.assertIn("replaced the views", done[0].stderr)
        self.assertEqual(done[0].returncode, 0, done[0].stderr)

    def wait_for(self, sql):
        for _ in range(600):
            if self.server.number(sql) > 0:
                return
            time.sleep(0.05)
        self.fail(sql)

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


if __name__ == "__main__":
    main()
