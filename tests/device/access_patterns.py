# SPDX-License-Identifier: MIT
"""Joins the list of accesses with the counts of the launches that made them, in the same order, into a golden file."""

import collections
import csv
import sys

SHAPES = [count + trans for count in ("x1", "x2", "x4") for trans in ("", "_trans")]

# The kinds of each access's counters, its transactions, and whether distinct bytes are counted.
COUNTERS = {
    "lds": ("shared_load", "wavefronts", False),
    "sts": ("shared_store", "wavefronts", False),
    "atoms_add": ("shared_atomic", "wavefronts", False),
    "atoms_exch": ("shared_atomic", "wavefronts", False),
    "ldg": ("global_load", "sectors", True),
    "stg": ("global_store", "sectors", True),
    "atomg": ("global_atomic", "sectors", False),
    "redg": ("global_reduction", "sectors", False),
    **{f"ldsm_{shape}": ("shared_matrix_load", "wavefronts", False) for shape in SHAPES},
    **{f"stsm_{shape}": ("shared_matrix_store", "wavefronts", False) for shape in SHAPES},
}
KINDS = {kind for kind, _, _ in COUNTERS.values()}


def main(list_path, counts_path, golden_path):
    launches = collections.defaultdict(dict)
    names = {}
    with open(counts_path) as file:
        for row in csv.DictReader(file):
            launch = int(row["launch_id"])
            launches[launch][row["counter"]] = int(float(row["value"]))
            names[launch] = row["variant"]
    with open(list_path) as file:
        accesses = list(csv.DictReader(file))
    if len(launches) != len(accesses):
        sys.exit(f"access_patterns.py: {len(launches)} launches were counted, of {len(accesses)} accesses")
    with open(golden_path, "w") as file:
        file.write("op,width_bytes,pattern,active_mask,lane_byte_offsets,transactions,bytes\n")
        for access, launch in zip(accesses, sorted(launches)):
            op, width = access["op"], access["width_bytes"]
            counts = launches[launch]
            kind, unit, has_bytes = COUNTERS[op]
            requests = {other: counts[f"{other}_requests"] for other in KINDS}
            if f"{op}_{width}" not in names[launch] or requests != {k: int(k == kind) for k in KINDS}:
                sys.exit(f"access_patterns.py: {op} {width} {access['pattern']} is not one access alone: {requests}")
            cells = [op, width, access["pattern"], access["active_mask"], access["lane_byte_offsets"],
                     str(counts[f"{kind}_{unit}"]), str(counts[f"{kind}_bytes"]) if has_bytes else ""]
            file.write(",".join(cells) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
