# SPDX-License-Identifier: MIT
"""Time and memory of writing a million activities as a Perfetto trace. Exits 1 where it takes longer than 10 s.

    trace_out.py WARPMETER WRITE_TRACE
"""
import pathlib
import subprocess
import sys
import tempfile

from limits import measured

TIME_LIMIT_S, ACTIVITIES = 10, 1_000_000


def main(program, write_trace):
    with tempfile.TemporaryDirectory() as folder:
        database, trace = pathlib.Path(folder, "traced.db"), pathlib.Path(folder, "t.pftrace")
        subprocess.run([write_trace, database, str(ACTIVITIES)], check=True)
        seconds, processor, memory = measured([program, "report", "--db", str(database), "--trace-out", str(trace)], 2)
        print(f"report --trace-out, {ACTIVITIES:,} activities: {seconds:.2f} s of {TIME_LIMIT_S} s, {processor:.2f} s on "
              f"processors, {memory:.0f} MB; the file has {trace.stat().st_size / 1e6:.0f} MB")
    return 1 if seconds > TIME_LIMIT_S else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
