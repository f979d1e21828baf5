# SPDX-License-Identifier: MIT
"""A real PostgreSQL in a temporary folder, for tests: a Unix socket and a TCP port of its own, nobody else's data.

initdb refuses root, so it runs as the user `postgres` (or `nobody`) where the tests run as root. Where there is no
PostgreSQL 15 or newer, the test ends with 77, which CTest calls skipped, and the reason.
"""
import glob
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

SKIPPED = 77


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def programs():
    """The folder of initdb and postgres, of the newest version there is."""
    found = glob.glob("/usr/lib/postgresql/*/bin/postgres") + [p for p in [shutil.which("postgres")] if p]
    version = lambda path: int(re.search(r"(\d+)", subprocess.check_output([path, "--version"], text=True)).group(1))
    newest = max(found, key=version, default=None)
    if newest is None or version(newest) < 15:
        skip("there is no PostgreSQL 15 here (Debian: apt-get install postgresql-15)")
    return pathlib.Path(newest).parent


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    OWNER = "owner"

    def __init__(self, settings=()):
        self.bin = programs()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="wm-pg-"))
        self.port = free_port()
        self.user = None
        if os.getuid() == 0:
            known = subprocess.run(["getent", "passwd", "postgres"], stdout=subprocess.DEVNULL).returncode == 0
            self.user = "postgres" if known else "nobody"
            shutil.chown(self.folder, self.user)
        os.chmod(self.folder, 0o755)
        self.data = self.folder / "data"
        self._as_user([self.bin / "initdb", "-D", self.data, "-U", self.OWNER, "-E", "UTF8", "--locale=C.UTF-8",
                       "--auth=trust", "--no-sync"])
        (self.data / "pg_hba.conf").write_text(
            "local all all trust\nhost all owner 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n")
        with open(self.data / "postgresql.conf", "a") as conf:
            conf.write(f"port = {self.port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = '{self.folder}'\n"
                       "max_connections = 50\nshared_buffers = 256MB\nmax_wal_size = 4GB\n")
            conf.write("".join(line + "\n" for line in settings))
        self.process = None
        self.start()
        self.psql("CREATE DATABASE warpmeter", database="postgres")

    def _command(self, words):
        words = [str(w) for w in words]
        return ["runuser", "-u", self.user, "--", *words] if self.user else words

    def _as_user(self, words):
        done = subprocess.run(self._command(words), cwd="/", capture_output=True, text=True)
        if done.returncode != 0:
            skip(f"{words[0]} does not run here: {done.stderr.strip()[-300:]}")

    def _spawn(self):
        with open(self.folder / "log", "a") as log:
            return subprocess.Popen(self._command([self.bin / "postgres", "-D", self.data]), cwd="/", stdout=log, stderr=log,
                                    start_new_session=True)

    def start(self):
        """Starts it, after a kill too, and waits until it answers."""
        self.process = self._spawn()
        for _ in range(600):
            if subprocess.run([self.bin / "pg_isready", "-q", "-h", self.folder, "-p", str(self.port)]).returncode == 0:
                return
            if self.process.poll() is not None:
                # After kill -9 the processes of connections may need a moment to notice.
                time.sleep(0.2)
                self.process = self._spawn()
            time.sleep(0.05)
        raise RuntimeError((self.folder / "log").read_text()[-2000:])

    def postmaster(self):
        return int((self.data / "postmaster.pid").read_text().split()[0])

    def kill(self):
        """As if the machine lost its power, for this program: kill -9, without a goodbye."""
        os.kill(self.postmaster(), signal.SIGKILL)
        self.process.wait()

    def stop(self):
        if self.process and self.process.poll() is None:
            try:
                os.kill(self.postmaster(), signal.SIGQUIT)
            except (OSError, ValueError):
                pass
            self.process.wait(30)

    def url(self, user=OWNER, password=None, database="warpmeter"):
        secret = f":{password}" if password else ""
        return f"postgresql://{user}{secret}@127.0.0.1:{self.port}/{database}"

    def psql(self, sql, user=OWNER, database="warpmeter", check=True):
        """Rows as psql prints them, fields by tabs."""
        done = subprocess.run([self.bin / "psql", "-h", self.folder, "-p", str(self.port), "-U", user, "-d", database, "-X",
                               "-q", "-A", "-t", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-f", "-"], input=sql,
                              capture_output=True, text=True)
        if check and done.returncode != 0:
            raise RuntimeError(f"{sql[:500]}\n{done.stderr}")
        return done if not check else [line.split("\t") for line in done.stdout.splitlines()]

    def number(self, sql):
        return int(self.psql(sql)[0][0])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
