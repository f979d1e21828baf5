#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scale.py WARPMETER [MILLIONS]: a server with 20 million metric rows, what it weighs, and how long its questions take.

Not a part of ctest: it takes minutes. It prints the figures of docs/lab.md and of README.md.
"""
import datetime
import os
import pathlib
import sqlite3
import sys
import tempfile
import time

import lab
from dashboards import QUERIES
from server import Server

NOW = datetime.date.today()
MONTHS = [divmod(NOW.year * 12 + NOW.month - 1 - back, 12) for back in range(11, -1, -1)]  # the last twelve
MONTHS = [year * 100 + month + 1 for year, month in MONTHS]
COUNTERS, LAUNCHES_OF_RUN, FAMILIES, HOSTS = 20, 500, 100, 40


def fill(server, millions):
    """Runs of 500 launches with 20 metric rows each, over twelve months, 40 machines, 100 families of 7 variants."""
    launches = millions * 1_000_000 // COUNTERS
    per_month = launches // len(MONTHS) // LAUNCHES_OF_RUN * LAUNCHES_OF_RUN
    server.psql("SET session_replication_role = replica; SET search_path = warpmeter;\n"
                "INSERT INTO t_device (backend, ordinal, name, chip, compute_capability, uuid, driver, multiprocessors) "
                f"SELECT 'cupti', 0, CASE WHEN n % 2 = 0 THEN 'NVIDIA H200' ELSE 'NVIDIA H100' END, 'GH100', 90, 'GPU-' || n, "
                f"'580.1', 132 FROM generate_series(1, {HOSTS}) n;")
    for month in MONTHS:
        runs = per_month // LAUNCHES_OF_RUN
        year, number = divmod(month, 100)
        server.psql(f"""SET session_replication_role = replica; SET search_path = warpmeter; SET synchronous_commit = off;
SELECT make_month({month});
UPDATE t_month SET runs = {runs}, launches = {per_month} WHERE month = {month};
INSERT INTO t_pushed (uuid, run_id, first_launch, launches, digest)
  SELECT md5({month} || '.' || n)::uuid::text, {month}::bigint * 1000000000 + n, {month}::bigint * 10000000000 + (n - 1) * {LAUNCHES_OF_RUN} + 1,
    {LAUNCHES_OF_RUN}, '' FROM generate_series(1, {runs}) n;
INSERT INTO t_run (run_id, uuid, started, ended, outcome, backend, tool_version, git_revision, cuda_version, host, command,
    label, process_host, boot_id, process_namespace, process_id, process_start)
  SELECT {month}::bigint * 1000000000 + n, md5({month} || '.' || n)::uuid::text,
    '{year}-{number:02}-' || lpad((1 + n * 27 / {runs})::text, 2, '0') || 'T' || lpad((n % 24)::text, 2, '0') || ':00:00.000Z', '{year}-{number:02}-28T23:00:00.000Z',
    CASE WHEN n % 50 = 0 THEN 'failed' ELSE 'done' END, 'cupti', '0.1.0', 'abcdef', '13.0', 'lab' || n % {HOSTS},
    'warpmeter run', CASE WHEN n % 10 = 0 THEN 'nightly' END, '', '', '', 1, 1 FROM generate_series(1, {runs}) n;
INSERT INTO t_run_device SELECT {month}::bigint * 1000000000 + n, (SELECT min(device_id) FROM t_device WHERE uuid = 'GPU-1') + n % {HOSTS}
  FROM generate_series(1, {runs}) n;
INSERT INTO t_launch (launch_id, run_id, device_id, family, variant, size, kernel, grid_x, grid_y, grid_z, block_x, block_y,
    block_z, dynamic_shared_bytes, static_shared_bytes, registers, useful_bytes_read, useful_bytes_written, verified,
    is_ceiling, outcome, reason)
  SELECT {month}::bigint * 10000000000 + n, {month}::bigint * 1000000000 + (n - 1) / {LAUNCHES_OF_RUN} + 1,
    (SELECT min(device_id) FROM t_device WHERE uuid = 'GPU-1') + ((n - 1) / {LAUNCHES_OF_RUN} + 1) % {HOSTS},
    'family_' || n / 7 % {FAMILIES}, 'variant_' || n % 7, 4096, 'kernel', 64, 64, 1, 16, 16, 1, 0, 1024, 32, 67108864, 67108864,
    1, 0, CASE WHEN n % 1000 = 0 THEN 'failed' ELSE 'done' END, CASE WHEN n % 1000 = 0 THEN 'wrong result' END
  FROM generate_series(1, {per_month}) n;
INSERT INTO t_timing SELECT {month}::bigint * 10000000000 + n, 'cold', 20, 1000 + n % 97 + (n / 500 % 40 = 7)::int * 100, 900, 1001.5, 3.25,
    0.004, 'confidence' FROM generate_series(1, {per_month}) n;
INSERT INTO t_value SELECT {month}::bigint * 10000000000 + n, c.counter_id, (n * 31 + c.counter_id * 7) % 100003 + 1, 0, NULL
  FROM generate_series(1, {per_month}) n CROSS JOIN (SELECT counter_id FROM t_counter ORDER BY counter_id LIMIT {COUNTERS}) c
  ORDER BY 1, 2;
SELECT count(add_comparison(first_launch, launches)) FROM (SELECT * FROM t_pushed WHERE run_id / 1000000000 = {month} ORDER BY run_id) p;""")
    server.psql("VACUUM ANALYZE;")


def timed(server, sql, times=3):
    """The first and the best of some, of what psql itself waits for, each on a connection of its own."""
    seconds = []
    for _ in range(times):
        out = server.psql("\\timing on\n" + sql + ";\n")
        seconds.append(float([r[0] for r in out if r[0].startswith("Time: ")][-1].split()[1]) / 1000)
    return seconds[0], min(seconds), len(out) - 1


def forget_files(server):
    """As after a night: the server begins anew, and nothing of its files is in memory."""
    server.psql("CHECKPOINT")
    server.kill()
    server.start()
    os.sync()
    for path in server.data.glob("base/*/*"):
        with open(path, "rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def weigh(server):
    rows = dict((r[0], int(r[1])) for r in server.psql(
        "SELECT 'value', count(*) FROM warpmeter.t_value UNION ALL SELECT 'launch', count(*) FROM warpmeter.t_launch "
        "UNION ALL SELECT 'timing', count(*) FROM warpmeter.t_timing;"))
    size = server.number("SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c JOIN pg_namespace n ON n.oid = "
                         "c.relnamespace WHERE n.nspname = 'warpmeter' AND c.relkind = 'r';")
    print(f"PostgreSQL: {rows['value']:,} metric rows, {rows['launch']:,} launches, {size / 1e9:.2f} GB, "
          f"{size / rows['launch']:,.0f} bytes and {sum(rows.values()) / rows['launch']:.0f} rows a launch")


def weigh_sqlite(program):
    path = program.folder / "weight.db"
    program("run", "vector_add", "-n", "1024", "-b", "model", "--db", path.name)
    before = path.stat().st_size
    lab.fill(path, 10, 5000, COUNTERS)
    db = sqlite3.connect(path)
    db.execute("VACUUM")
    db.close()
    print(f"SQLite: 50,000 launches with {COUNTERS} metric rows, {(path.stat().st_size - before) / 50_000:,.0f} bytes a launch")


def push_million(program, server):
    """1,000,000 metric rows, pushed twice."""
    path = program.folder / "weight.db"
    for words in ("the first push", "the second push"):
        begin = time.time()
        row = program.table("push", server.url(), "--db", path.name)[0]
        print(f"{words} of 1,000,000 metric rows: {time.time() - begin:.2f} s, {row['rows']:,} rows added")


def main():
    millions = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    with tempfile.TemporaryDirectory() as folder, Server() as server:
        program = lab.Program(pathlib.Path(sys.argv[1]).resolve(), folder)
        weigh_sqlite(program)
        program("run", "vector_add", "-n", "1024", "-b", "model", "--db", "one.db")
        program("push", "--migrate", server.url(), "--db", "one.db", "-q")
        server.psql("SELECT warpmeter.drop_month(month) FROM warpmeter.t_month; "
                    "TRUNCATE warpmeter.t_month, warpmeter.t_pushed;")
        begin = time.time()
        fill(server, millions)
        print(f"filled in {time.time() - begin:.0f} s")
        weigh(server)
        push_million(program, server)
        # Each family once: what was asked for before has pages in memory and hint bits written.
        one_family = "SELECT * FROM comparison WHERE family = 'family_{}'"
        for state, families in (("after the push", range(1, 6)), ("from the disk", range(6, 9))):
            firsts = []
            for family in families:
                if state == "from the disk":
                    forget_files(server)
                firsts.append(timed(server, one_family.format(family), 1)[0])
            print(f"comparison of a family never asked for, {state}: " + ", ".join(f"{s:.2f}" for s in firsts) + " s")
        questions = {"comparison of one family": one_family.format(42)}
        questions |= {name: sql.replace("'transpose'", "'family_42'").replace("'tiled'", "'variant_3'")
                      for name, sql in QUERIES.items()}
        for name, sql in questions.items():
            first, best, rows = timed(server, sql)
            print(f"{name}: {first:.2f} s the first time, {best:.2f} s the best of three, {rows:,} rows")


if __name__ == "__main__":
    main()
