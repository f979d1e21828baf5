# SPDX-License-Identifier: MIT
"""Programs under a limit of time, with all that they start: what outlives a tool keeps the card's counters."""

import contextlib
import os
import signal
import subprocess


def run_whole(command, seconds, **options):
    """The exit code (None: it did not end in time), standard output and standard error, which `options` may join."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "errors": "replace"} | options
    with subprocess.Popen(command, start_new_session=True, **options) as process:
        try:
            output, errors = process.communicate(timeout=seconds)
            return process.returncode, output, errors
        except subprocess.TimeoutExpired:
            end_all(process)
            return None, *process.communicate()
        finally:
            end_all(process)


def end_all(process):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
