# SPDX-License-Identifier: MIT
"""Reads the trace of `report --trace-out` with Perfetto's own messages, and compares it with the activities that the
database has: each slice on the right track, with its times, its name and its nesting.

    perfetto_test.py WRITE_TRACE WARPMETER WHEELS

WRITE_TRACE makes the database. WHEELS: the folder of Perfetto's and protobuf's wheels. Exits 77 (skipped) without it.
"""
import collections
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

WRITE_TRACE, WARPMETER, WHEELS = sys.argv[1:4]
if not pathlib.Path(WHEELS, "perfetto").exists():
    print("skipped: perfetto's messages are not there (./dev test fetches them from PyPI)")
    sys.exit(77)
sys.path.insert(0, WHEELS)
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as messages  # noqa: E402

ACTIVITIES = 4000
BEGIN, END = messages.TrackEvent.TYPE_SLICE_BEGIN, messages.TrackEvent.TYPE_SLICE_END


class Trace:
    """The slices as trace_processor makes them: an end closes what was last opened on its track."""

    def __init__(self, data):
        trace = messages.Trace.FromString(data)
        names, categories, notes = {}, {}, {}
        self.tracks, self.slices, self.last, self.in_order = {}, [], 0, True
        open_slices = collections.defaultdict(list)
        for packet in trace.packet:
            assert packet.trusted_packet_sequence_id == 1
            for table, entries in ((names, packet.interned_data.event_names),
                                   (categories, packet.interned_data.event_categories),
                                   (notes, packet.interned_data.debug_annotation_names)):
                table.update((entry.iid, entry.name) for entry in entries)
            if packet.HasField("track_descriptor"):
                self.tracks[packet.track_descriptor.uuid] = packet.track_descriptor
            if not packet.HasField("track_event"):
                continue
            event = packet.track_event
            self.in_order = self.in_order and packet.timestamp >= self.last
            self.last = packet.timestamp
            stack = open_slices[event.track_uuid]
            if event.type == BEGIN:
                own = {notes[note.name_iid]: note.string_value or note.int_value for note in event.debug_annotations}
                stack.append({"name": names[event.name_iid], "kind": categories[event.category_iids[0]],
                              "start": packet.timestamp, "track": event.track_uuid, "flows": list(event.flow_ids), **own})
            else:
                assert event.type == END
                done = stack.pop()
                self.slices.append({**done, "duration": packet.timestamp - done["start"], "depth": len(stack)})
        self.left_open = sum(map(len, open_slices.values()))

    def parents(self, uuid):
        while uuid:
            yield self.tracks[uuid]
            uuid = self.tracks[uuid].parent_uuid


class Perfetto(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(cls.folder.name)
        cls.database = folder / "traced.db"
        subprocess.run([WRITE_TRACE, cls.database, str(ACTIVITIES)], check=True)
        done = subprocess.run([WARPMETER, "report", "--db", cls.database, "--trace-out", folder / "t.pftrace"],
                              check=True, capture_output=True, text=True)
        cls.said, cls.printed = done.stderr, done.stdout
        cls.trace = Trace((folder / "t.pftrace").read_bytes())

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_has_each_activity_with_its_times(self):
        with sqlite3.connect(self.database) as db:
            expected = collections.Counter(db.execute(
                "SELECT kind, name, start_ns, duration_ns, correlation, bytes FROM activities"))
        found = collections.Counter((s["kind"], s["name"], s["start"], s["duration"], s.get("correlation"), s.get("bytes"))
                                    for s in self.trace.slices)
        self.assertEqual(sum(found.values()), sum(expected.values()))
        self.assertEqual(found, expected)
        self.assertEqual(self.trace.left_open, 0)
        self.assertTrue(self.trace.in_order)
        self.assertRegex(self.said, r"t\.pftrace has [\d,]+ activities: open it in ui\.perfetto\.dev")
        self.assertEqual(self.printed, "")

    def test_rows_lie_below_their_device_or_thread(self):
        places = {}
        for one in self.trace.slices:
            above = list(self.trace.parents(one["track"]))
            places.setdefault(one["kind"], set()).add(
                tuple(t.name or (f"thread {t.thread.tid}" if t.HasField("thread") else f"process {t.process.pid}")
                      for t in above))
        self.assertEqual(places["kernel"], {("process 1000, context 1, stream 7", "NVIDIA H200 #0"),
                                            ("process 2000, context 1, stream 7", "NVIDIA H200 #1")})
        self.assertEqual(places["range"], {("thread 1001, ranges", "thread 1001", "process 1000"),
                                           ("thread 2001, ranges", "thread 2001", "process 2000")})
        self.assertEqual({name for name, *_ in places["call"]}, {"thread 1001, calls", "thread 2001, calls"})

    def test_ranges_nest(self):
        depths = collections.Counter((s["name"], s["depth"]) for s in self.trace.slices if s["kind"] == "range")
        self.assertEqual({place for place in depths}, {("step", 0), ("forward", 1)})
        self.assertEqual(depths["step", 0], depths["forward", 1])

    def test_a_flow_leads_from_a_call_to_its_kernel(self):
        kinds = collections.defaultdict(list)
        for one in self.trace.slices:
            for flow in one["flows"]:
                kinds[flow].append(one["kind"])
        self.assertGreater(len(kinds), ACTIVITIES // 3)
        self.assertEqual({tuple(sorted(k)) for k in kinds.values()}, {("call", "kernel"), ("call", "copy")})

    def test_kernels_have_their_geometry(self):
        kernel = next(s for s in self.trace.slices if s["kind"] == "kernel")
        self.assertEqual((kernel["grid"], kernel["block"], kernel["registers"]), ("264 x 1 x 1", "256 x 1 x 1", 64))

    def test_the_report_of_a_run_without_launches_has_its_timeline(self):
        database = pathlib.Path(self.folder.name, "no_launches.db")
        shutil.copy(self.database, database)
        with sqlite3.connect(database) as db:
            db.execute("DELETE FROM t_launch")
        done = subprocess.run([WARPMETER, "report", "--db", database], capture_output=True, text=True)
        self.assertIn("## Timeline", done.stdout, done.stderr)


del sys.argv[1:]
unittest.main()
