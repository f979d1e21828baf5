# SPDX-License-Identifier: MIT
"""The parts that tests of push and pull share: a server, an empty database and folder for each
test."""
import pathlib
import shutil
import sys
import tempfile
import unittest

import lab
from server import Server


class Lab(unittest.TestCase):
    """A server for the class, an empty database and an empty folder for each test."""
    path = None  # the path of the program

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
        self.program = lab.Program(Lab.path, self.folder)
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
        return {table: int(count) for table, count in self.server.psql(
            " UNION ALL ".join(f"SELECT '{t}', count(*) FROM warpmeter.{t}" for t in tables))}

    def one_sentence(self, done, code, *words):
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("warpmeter: "), done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)


def main():
    """TEST.py WARPMETER SUBJECT: SUBJECT is a class of the file."""
    Lab.path = str(pathlib.Path(sys.argv[1]).resolve())
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
