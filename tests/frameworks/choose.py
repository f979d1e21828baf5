# SPDX-License-Identifier: MIT
"""Chooses launches of recordings (in_range.py) for replay_test.py: for each kernel of a script the first codes' first launches.

    choose.py COUNTS RECORDING CODES_OF_A_KERNEL FILE...

COUNTS (counts.py public) was recorded with the files on one device. RECORDING gets those of the files' launches that it counted.
recorded/public.json.xz has all but those of tutorial 08, whose memory holds addresses, of attorch's test_p_loss_layers.py, whose
kernel leaves a part of unset memory unset, and of Liger's RMS norms, which are under two licences (recorded/NOTICE has the others').
"""
import collections
import json
import lzma
import sys

import counts
from replay import recording_at


def is_counted(launch, rows):
    """True if the row of its order, among those of its script, is the launch's."""
    if launch["order"] >= len(rows):
        return False
    row, shape = rows[launch["order"]], ("x".join(map(str, launch["grid"])), f"{launch['block']}x1x1")
    return row["kernel"] == launch["kernel"] and (row["grid"], row["block"]) == shape and row["outcome"] == "done"


class Choice:
    def __init__(self, most):
        self._most, self._codes, self.bytes, self.launches = most, {}, {}, []
        self._of_kernel = collections.Counter()

    def add(self, recording, rows):
        for launch in sorted(recording["launches"], key=lambda one: one["order"]):
            kernel = (launch["script"], launch["kernel"])
            if not is_counted(launch, rows) or self._of_kernel[kernel] == self._most:
                continue
            self._of_kernel[kernel] += 1
            code = json.dumps(recording["codes"][launch["code"]])
            self.launches.append({**launch, "code": self._codes.setdefault(code, len(self._codes))})
            digests = {tensor[when] for tensor in launch["tensors"] for when in ("before", "after") if tensor[when]}
            self.bytes.update((digest, recording["bytes"][digest]) for digest in digests)

    def codes(self):
        return [json.loads(code) for code in self._codes]


def main():
    of_scripts, choice, head = counts.by_script(sys.argv[1]), Choice(int(sys.argv[3])), {}
    for path in sys.argv[4:]:
        recording = recording_at(path)
        head = {key: recording[key] for key in ("triton", "device")}
        if recording["launches"]:
            choice.add(recording, of_scripts.get(recording["launches"][0]["script"], []))
    with lzma.open(sys.argv[2], "wt", encoding="utf-8") as file:
        json.dump({**head, "codes": choice.codes(), "bytes": choice.bytes, "launches": choice.launches}, file)
    print(f"{len(choice.launches)} launches of {len(choice.codes())} codes")


if __name__ == "__main__":
    main()
