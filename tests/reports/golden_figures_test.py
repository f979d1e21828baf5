#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Figures of the golden reports are derived from their counters and times as nvprof derived them: golden/hardware.csv is
computed again here, without the program that wrote it, and so are the speed-ups and shares of golden/hardware.md."""
import csv, pathlib, re, unittest

GOLDEN = pathlib.Path(__file__).parent / "golden"


def launches():
    """(variant, size) → metric → value."""
    found = {}
    with open(GOLDEN / "hardware.csv", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault((row["variant"], int(row["size"])), {})[row["metric"]] = float(row["value"]) if row["value"] else None
    return found


def quotient(numerator, denominator, scale=1):
    return scale * numerator / denominator if denominator else None


def table(heading):
    """Rows of the table below a heading: column → text."""
    below = (GOLDEN / "hardware.md").read_text(encoding="utf-8").split(f"## {heading}\n")[1]
    lines = [line for line in below.split("\n## ")[0].split("\n### ")[0].splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return [dict(zip(cells[0], row)) for row in cells[2:]]


class Figures(unittest.TestCase):
    def test_of_the_csv_follow_from_its_counters(self):
        self.assertEqual(len(launches()), 6)
        for launch, of in launches().items():
            size = launch[1]
            derived = {"achieved_bandwidth": quotient(2 * 4 * size * size, of["duration"])}  # a matrix in, a matrix out; bytes/ns
            for kind, name in (("load", "gld"), ("store", "gst")):
                sectors, requests = of[f"global_{kind}_sectors"], of[f"global_{kind}_requests"]
                derived[f"{name}_transactions"] = sectors
                derived[f"{name}_transactions_per_request"] = quotient(sectors, requests)
                derived[f"{name}_efficiency"] = quotient(of[f"global_{kind}_bytes"], 32 * sectors, 100)
                wavefronts, requests = of[f"shared_{kind}_wavefronts"], of[f"shared_{kind}_requests"]
                derived[f"shared_{kind}_transactions"] = wavefronts
                derived[f"shared_{kind}_transactions_per_request"] = quotient(wavefronts, requests)
            for metric, value in derived.items():
                with self.subTest(launch=launch, metric=metric):
                    if value is None:
                        self.assertIsNone(of[metric])
                    else:
                        self.assertAlmostEqual(of[metric], value, delta=1e-9 * value)

    def test_of_the_page_follow_from_the_times(self):
        of = launches()
        for size in (1024, 4096):
            below = (GOLDEN / "hardware.md").read_text(encoding="utf-8").split(f"### transpose, size {size:,}\n")[1]
            rows = [re.split(r" *\| *", line)[1:-1] for line in below.split("\n## ")[0].split("\n### ")[0].splitlines() if line.startswith("|")]
            head, first = rows[0], of[("copy", size)]["duration"]
            count = 0
            for row in (dict(zip(head, row)) for row in rows[2:]):
                if row["speed-up (×)"] == "–":
                    continue
                count += 1
                duration = of[(row["variant"], size)]["duration"]
                self.assertAlmostEqual(float(row["time (µs)"]), duration / 1000, delta=0.006 * duration / 1000, msg=str(row))
                self.assertAlmostEqual(float(row["speed-up (×)"]), first / duration, delta=0.006, msg=str(row))
            self.assertEqual(count, 3)

    def test_of_the_ceiling_are_shares_of_the_copy(self):
        of = launches()
        rows = table("Share of the memory's bandwidth")
        self.assertEqual(len(rows), 3)
        for row in rows:
            variant = re.match(r"transpose/(\w+) at 4,096", row["variant"])[1]
            bandwidth = of[(variant, 4096)]["achieved_bandwidth"]
            self.assertAlmostEqual(float(row["bandwidth (GB/s)"].replace(",", "")), bandwidth, delta=0.5)
            share = 100 * bandwidth / of[("copy", 4096)]["achieved_bandwidth"]
            self.assertAlmostEqual(float(row["of the ceiling (%)"]), share, delta=0.05)


if __name__ == "__main__":
    unittest.main()
