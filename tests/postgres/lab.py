# SPDX-License-Identifier: MIT
"""Databases with runs of every kind, and the comparison of a server's views with SQLite's, value by value."""
import json
import math
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess

UNUSUAL = "it's \"quoted\", a \\ backslash\\n, a\ttab, a\nnew line, a\rreturn, ünï©ødé 漢字 🙂, {a,b}, \\N, NULL, $1, %s"


class Program:
    def __init__(self, path, folder):
        self.path, self.folder = str(path), pathlib.Path(folder)

    def __call__(self, *words, code=0, **more):
        more.setdefault("env", os.environ)
        more["env"] = {**more["env"], "XDG_CACHE_HOME": str(self.folder / "cache")}
        done = subprocess.run([self.path, *map(str, words)], cwd=self.folder, capture_output=True, text=True,
                              errors="surrogateescape", **more)
        if code is not None:
            assert done.returncode == code, (words, done.returncode, done.stdout[-2000:], done.stderr[-2000:])
        return done

    def table(self, *words, code=0):
        return json.loads(self(*words, "--format", "json", code=code).stdout)


BROKEN_FAMILY = """
family: broken
file: broken.cu
sizes: [64]
buffers:
  out: {type: float, count: n, fill: zero}
variants:
  far: {kernel: far, grid: 1, block: 32, args: [out]}
"""


def make_database(program, name="here.db"):
    """Model runs with findings, explanations and lines, a label, a failed launch, and rows as strange as they may be."""
    path = program.folder / name
    program("run", "transpose", "-n", "64", "-b", "model", "--label", "it's Monday", "--db", name)
    program("run", "reduction", "-n", "4096", "-b", "model", "--db", name, code=None)
    program("run", "vector_add", "-n", "4096", "-b", "model", "--db", name, code=None)
    db = sqlite3.connect(path)
    runs = [row[0] for row in db.execute("SELECT run_id FROM t_run ORDER BY run_id")]
    assert len(runs) >= 2, runs
    first = db.execute("SELECT min(launch_id) FROM t_launch").fetchone()[0]
    launches = [row[0] for row in db.execute("SELECT launch_id FROM t_launch ORDER BY launch_id")]
    db.execute("UPDATE t_run SET command = ?, reason = ? WHERE run_id = ?", (UNUSUAL, UNUSUAL, runs[0]))
    db.execute("UPDATE t_launch SET outcome = 'failed', verified = 0, reason = ? WHERE launch_id = ?", (UNUSUAL, launches[1]))
    db.execute("UPDATE t_launch SET registers = 0, timing_reason = ?, nvtx_range = ? WHERE launch_id = ?",
               (UNUSUAL, "", launches[2]))
    db.execute("UPDATE t_launch SET static_shared_bytes = NULL, resources_reason = ? WHERE launch_id = ?",
               ("why 'not'", launches[3]))
    db.execute("INSERT INTO t_reason (text) VALUES (?)", (UNUSUAL,))
    reason = db.execute("SELECT reason_id FROM t_reason WHERE text = ?", (UNUSUAL,)).fetchone()[0]
    numbers = [5e-324, -5e-324, 1.7976931348623157e308, math.inf, -math.inf, 0.1, 1 / 3, 2.0 ** 53 + 2, 9.2e18, -1.5, 0.0]
    for i, number in enumerate(numbers):
        db.execute("INSERT INTO t_counter (name, unit) VALUES (?, NULL)", (f"odd__{i}.sum",))
        db.execute("INSERT INTO t_value SELECT ?, counter_id, ?, 0, NULL FROM t_counter WHERE name = ?",
                   (first, number, f"odd__{i}.sum"))
    db.execute("INSERT INTO t_counter (name, unit) VALUES ('odd__none.sum', NULL)")
    db.execute("INSERT INTO t_value SELECT ?, counter_id, NULL, 5, ? FROM t_counter WHERE name = 'odd__none.sum'",
               (first, reason))
    # A counter of the catalogue that is 0 below a quotient, and one that is not available.
    for launch, name, value, grade in ((launches[4], "shared_load_requests", 0.0, 1), (launches[5], "global_load_sectors", None, 5)):
        db.execute("UPDATE t_value SET value = ?, grade = ?, reason_id = ? WHERE launch_id = ? AND counter_id = "
                   "(SELECT counter_id FROM t_counter WHERE name = ?)", (value, grade, reason, launch, name))
    db.execute("INSERT INTO t_interval (launch_id, metric, low, high) VALUES (?, ?, -0.1, 1e300)", (first, UNUSUAL))
    for launch in launches[:6]:
        db.execute("INSERT OR REPLACE INTO t_timing VALUES (?, 'cold', 3, ?, 1.5, ?, NULL, 0.25, 'samples')",
                   (launch, 1000.0 / 3 + launch, 5e-324))
        for sample in range(3):
            db.execute("INSERT OR REPLACE INTO t_sample VALUES (?, ?, ?)", (launch, sample + 1, 1e3 / (sample + 3)))
    db.execute("INSERT OR REPLACE INTO t_line (launch_id, entry, file, line, text, access, requests, transactions, ideal, grade, "
               "bytes) VALUES (?, 900, 'ä.cu', 7, ?, 'global load', 9223372036854775807, 9007199254740993, 0, 1, 4096)",
               (first, UNUSUAL))
    db.execute("INSERT OR REPLACE INTO t_line (launch_id, entry, file, line, text, access, requests, transactions, ideal, grade, "
               "bytes) VALUES (?, 901, 'a.cu', 8, '', 'shared load', 0, 0, 0, 1, NULL)", (first,))
    db.execute("INSERT INTO t_instruction (launch_id, address, what, count) VALUES (?, 128, 'executed', 9007199254740993)", (first,))
    db.execute("INSERT INTO t_power_sample (launch_id, sample, time_s, power_w, sm_clock_mhz, temperature_c) VALUES "
               "(?, 1, 0.1, 512.5, 1980, NULL)", (first,))
    db.execute("INSERT INTO t_activity_shape (run_id, shape, kind, name, process_id, context, stream, grid_x, grid_y, grid_z, "
               "registers, device_id) VALUES (?, 1, 'kernel', ?, 7, 1, 7, 1, 2, 3, 16, (SELECT min(device_id) FROM t_device))",
               (runs[0], UNUSUAL))
    db.execute("INSERT INTO t_activity_shape (run_id, shape, kind, name, process_id, source_memory) "
               "VALUES (?, 2, 'copy', '[CUDA memcpy HtoD]', 7, 'Pinned')", (runs[0],))
    for activity, shape, start, amount in ((1, 2, 0, 4096), (2, 1, 9223372036854775807, None), (3, 1, None, 0)):
        db.execute("INSERT INTO t_activity (run_id, activity_id, shape, start_ns, duration_ns, bytes) VALUES (?, ?, ?, ?, 5, ?)",
                   (runs[0], activity, shape, start, amount))
    # Bytes that are no UTF-8: a source line in Latin-1, and a character that the server keeps such bytes as.
    db.execute("INSERT OR REPLACE INTO t_line (launch_id, entry, file, line, text, access, requests, transactions, ideal, grade, "
               "bytes) VALUES (?, 902, 'a.cu', 9, CAST(? AS TEXT), 'shared load', 1, 2, 1, 1, NULL)",
               (first, b"// gr\xfc\xdfe \xf4\x8f\xbf\xa9 \xed\xa0\x80 \x00 end"))
    device = db.execute("SELECT device_id FROM t_device").fetchone()[0]
    db.execute("INSERT INTO t_device (backend, ordinal, name, chip, compute_capability, uuid, driver, multiprocessors, "
               "memory_bytes, l2_bytes) VALUES ('cupti', 1, 'NVIDIA H200', 'GH100', 90, 'GPU-1', '580.1', 132, 150754820096, NULL)")
    second = db.execute("SELECT max(device_id) FROM t_device").fetchone()[0]
    db.execute("INSERT INTO t_run_device VALUES (?, ?)", (runs[0], second))
    db.execute("INSERT OR REPLACE INTO t_device_state (run_id, device_id, phase, sm_clock_mhz, throttle_reasons, ecc) "
               "VALUES (?, ?, 'before', 1980.5, '', 1)", (runs[0], second))
    db.execute("INSERT OR REPLACE INTO t_device_state (run_id, device_id, phase, unavailable) VALUES (?, ?, 'after', ?)",
               (runs[0], device, UNUSUAL))
    db.execute("UPDATE t_launch SET device_id = ? WHERE launch_id = ?", (second, launches[0]))
    for i, (relation, expected) in enumerate((("==", 1.0), ("<=", 0.0), (">=", 1e9), ("==", -1.0))):
        db.execute("INSERT OR REPLACE INTO t_expectation VALUES (?, ?, ?, ?, ?, ?)",
                   (launches[4 + i % 3], 90 + i, "gld_efficiency" if i % 2 else "duration", relation, expected, UNUSUAL))
    db.execute("INSERT INTO t_disturbance (run_id, device_id, phase, kind, process_id, what, reason, is_felt, process_name, "
               "memory_mib, busy) VALUES (?, ?, 'before', 'process', 490, ?, '', 1, 'python3', 774.5, 88)",
               (runs[0], second, UNUSUAL))
    db.execute("INSERT INTO t_disturbance (run_id, device_id, phase, kind, process_id, what, reason, is_felt) "
               "VALUES (?, ?, 'after', 'process', 0, '', ?, 0)", (runs[0], device, UNUSUAL))
    db.execute("INSERT INTO t_environment (run_id, name, value) VALUES (?, 'SLURM_JOB_ID', ?)", (runs[0], UNUSUAL))
    # The samples that a GPU alone would have, and the sources.
    for line, reason, samples in ((0, "selected", 3), (7, "long_scoreboard", 40), (8, "barrier", 0)):
        db.execute("INSERT INTO t_stall (launch_id, file, line, reason, text, samples, idle_samples) VALUES (?, ?, ?, ?, ?, ?, 1)",
                   (first, "ä.cu" if line else "", line, reason, UNUSUAL, samples))
    db.execute("INSERT OR REPLACE INTO t_source (run_id, file, text) VALUES (?, 'ä.cu', ?)", (runs[0], UNUSUAL * 1000))
    db.execute("INSERT INTO t_code (run_id, file, kernel, form, text) VALUES (?, 'ä.cu', 'a/b', 'PTX', ?)", (runs[0], UNUSUAL))
    # An older run that was never explained, interrupted and without launches.
    db.execute("DELETE FROM t_explained WHERE launch_id = ?", (launches[-1],))
    db.execute("INSERT INTO t_run SELECT (SELECT max(run_id) + 1 FROM t_run), '00000000-1111-4222-8333-444444444444', "
               "'2025-12-31T23:59:59.999Z', NULL, 'interrupted', 'gone', backend, tool_version, git_revision, cuda_version, "
               "host, command, label, process_host, boot_id, process_namespace, process_id, process_start, NULL "
               "FROM t_run WHERE run_id = ?", (runs[0],))
    db.commit()
    db.close()
    return path


def views_of(program):
    """The public views with their columns."""
    rows = program.table("list", "views")
    views = {}
    for row in rows:
        if row["column"] is not None:
            views.setdefault(row["view"], []).append(row["column"])
    return views


NUMBERS = ("run_id", "launch_id", "device_id", "counter_id", "explanation_id", "finding_id")


def comparable(rows, columns, runs, launches, names):
    """Rows with the numbers of their database replaced by what they stand for, in an order of their own."""
    result = []
    for row in rows:
        values = []
        for column, value in zip(columns, row):
            if value is None:
                pass
            elif column == "run_id":
                value = runs[int(value)]
            elif column == "launch_id":
                value = launches[int(value)]
            elif column == "finding_id":
                launch, rank = str(value).split(".")
                value = (launches[int(launch)], rank)
            elif column in names:
                value = names[column][int(value)]
            values.append(value)
        result.append(values)
    return sorted(result, key=repr)


def sqlite_rows(path, sql):
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    db.text_factory = lambda b: kept_there(b)
    rows = db.execute(sql).fetchall()
    db.close()
    return rows


def kept_there(data):
    """A text as the server keeps it (schema/server/text_there.h), said a second time."""
    out, i = "", 0
    while i < len(data):
        for size in (1, 2, 3, 4):
            try:
                c = data[i:i + size].decode("utf-8")
            except UnicodeDecodeError:
                continue
            if len(c) == 1 and c != "\0" and not 0x10FF00 <= ord(c) <= 0x10FFFF:
                out, i = out + c, i + size
                break
        else:
            out, i = out + chr(0x10FF00 + data[i]), i + 1
    return out


def server_rows(server, sql, user=None):
    """Rows as values: numbers as numbers, NULL as None. PostgreSQL's text format of COPY keeps every value."""
    statements = (f"CREATE TEMP TABLE probe AS SELECT * FROM ({sql}) q LIMIT 0",
                  "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'pg_temp.probe'::regclass "
                  "AND attnum > 0 ORDER BY attnum",
                  "SELECT ''", f"COPY ({sql}) TO STDOUT")
    done = subprocess.run([server.bin / "psql", "-h", server.folder, "-p", str(server.port), "-U", user or server.OWNER, "-d",
                           "warpmeter", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1",
                           *(word for statement in statements for word in ("-c", statement))], capture_output=True)
    assert done.returncode == 0, done.stderr
    types, copied = done.stdout.decode("utf-8").split("\n\n", 1)
    types = types.split("\n")
    escapes = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
    rows = []
    for line in copied.split("\n")[:-1]:
        row = []
        for type_, field in zip(types, line.split("\t")):
            if field == "\\N":
                row.append(None)
                continue
            text = re.sub(r"\\(.)", lambda m: escapes.get(m[1], m[1]), field)
            if type_ in ("bigint", "integer", "smallint"):
                row.append(int(text))
            elif type_ == "double precision":
                row.append(float(text))
            else:
                assert type_ == "text", (type_, sql)
                row.append(text)
        rows.append(row)
    return rows


STAY = {"peaks"}  # push sends runs; what `doctor --peaks` measured of a card stays in the file


def differences(program, path, server):
    """The differences of each view on the server, for all runs of the database at `path`; a list of words."""
    read = lambda sql: sqlite_rows(path, sql)
    there = lambda sql: server_rows(server, sql)
    uuids = [row[0] for row in read("SELECT uuid FROM runs")]
    chosen = "run_id IN (SELECT run_id FROM runs WHERE uuid IN (" + ", ".join(f"'{u}'" for u in uuids) + "))"
    sides = []
    for ask, tables in ((read, ""), (there, "warpmeter.")):
        runs = dict(ask("SELECT run_id, uuid FROM runs"))
        launches, count = {}, {}
        for launch, run in ask("SELECT launch_id, run_id FROM launches ORDER BY launch_id"):
            count[run] = count.get(run, 0) + 1
            launches[launch] = (runs[run], count[run])
        names = {
            "device_id": {r[0]: repr(tuple(r[1:])) for r in ask(f"SELECT * FROM {tables}t_device")},
            "counter_id": dict(ask(f"SELECT counter_id, name FROM {tables}t_counter")),
            "explanation_id": dict(ask(f"SELECT explanation_id, digest FROM {tables}t_explanation")),
        }
        sides.append((ask, runs, launches, names))
    found = []
    for view, columns in views_of(program).items():
        if view in STAY:
            continue
        listed = ", ".join(f'"{c}"' for c in columns)
        here, other = [comparable(ask(f"SELECT {listed} FROM {view} WHERE {chosen}"), columns, runs, launches, names)
                       for ask, runs, launches, names in sides]
        if len(here) != len(other):
            found.append(f"{view}: {len(here)} rows here, {len(other)} there")
        for a, b in zip(here, other):
            for column, x, y in zip(columns, a, b):
                same_type = isinstance(x, (int, float)) == isinstance(y, (int, float))
                if x != y or not same_type:
                    found.append(f"{view}.{column}: {x!r} here, {y!r} there ({a[:6]})")
        if not here:
            found.append(f"{view} has no rows: the comparison says nothing of it")
    return found


def fill(path, runs, launches, counters, families=("transpose",), first="2026-11-01T00:00:00.000Z"):
    """Adds `runs` runs of `launches` launches with `counters` metric rows each to a database that has one run."""
    db = sqlite3.connect(path)
    db.execute("PRAGMA synchronous = OFF")
    run, device = db.execute("SELECT run_id, device_id FROM t_launch ORDER BY launch_id LIMIT 1").fetchone()
    columns = [r[1] for r in db.execute("PRAGMA table_info(t_run)")]
    others = ", ".join(c for c in columns if c not in ("run_id", "uuid", "started"))
    names = [r[0] for r in db.execute("SELECT counter_id FROM t_counter ORDER BY counter_id LIMIT ?", (counters,))]
    assert len(names) == counters
    for i in range(runs):
        db.execute(f"INSERT INTO t_run (run_id, uuid, started, {others}) SELECT (SELECT max(run_id) + 1 FROM t_run), "
                   "lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-8' || "
                   f"substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6))), ?, {others} FROM t_run WHERE run_id = ?",
                   (first, run))
        new = db.execute("SELECT max(run_id) FROM t_run").fetchone()[0]
        db.execute("INSERT INTO t_run_device VALUES (?, ?)", (new, device))
        start = db.execute("SELECT max(launch_id) FROM t_launch").fetchone()[0]
        db.executemany(
            "INSERT INTO t_launch (launch_id, run_id, device_id, family, variant, size, kernel, grid_x, grid_y, grid_z, block_x, "
            "block_y, block_z, dynamic_shared_bytes, static_shared_bytes, registers, useful_bytes_read, useful_bytes_written, "
            "verified, is_ceiling, outcome) VALUES (?, ?, ?, ?, ?, ?, 'k', 64, 64, 1, 16, 16, 1, 0, 1024, 32, 4096, 4096, 1, 0, "
            "'done')",
            ((start + 1 + n, new, device, families[n % len(families)], f"variant_{n % 7}", 1024) for n in range(launches)))
        db.executemany("INSERT INTO t_value VALUES (?, ?, ?, 1, NULL)",
                       ((start + 1 + n, c, float((n * 31 + c * 7) % 100003 + 1)) for n in range(launches) for c in names))
        db.executemany("INSERT INTO t_timing VALUES (?, 'cold', 10, ?, 900.0, 1001.5, 3.25, 0.004, 'confidence')",
                       ((start + 1 + n, 1000.0 + n % 97) for n in range(launches)))
    db.commit()
    db.close()
