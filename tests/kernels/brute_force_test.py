#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The catalogue's expectations are counted a second time, lane by lane, without the program: the accesses of one block in
Python, and the rules of banks and sectors that were measured on an H200 (collector/model/counts/rules/counting.h). Variants
that are not here are compared with an H200's counts by expectations_test.cpp."""
import collections, pathlib, unittest

import yaml

KERNELS = pathlib.Path(__file__).resolve().parents[2] / "kernels"


def degree(words):
    """The most distinct words of one bank."""
    banks = collections.defaultdict(set)
    for word in words:
        banks[word % 32].add(word)
    return max(map(len, banks.values()), default=0)


def wavefronts(addresses, width, is_store):
    """Wavefronts of lanes at byte addresses, for accesses of 4 or 8 bytes."""
    def of(lanes):
        return degree([addresses[lane] // 4 + i for lane in lanes for i in range(width // 4) if lane in addresses])

    def pairs(step):
        return all(addresses[lane] == addresses[lane ^ step] for lane in addresses if lane ^ step in addresses)

    if width == 4 or (not is_store and (pairs(1) or pairs(2))):
        return of(addresses)
    return of(l for l in addresses if l < 16) + of(l for l in addresses if l >= 16)


class Block:
    """Requests, wavefronts, bytes and sectors of one block, all of whose threads have their number in its warps' lanes."""
    def __init__(self, threads):
        self.threads = threads
        self.counts = collections.Counter()

    def shared(self, kind, place, width=4, active=lambda t: True):
        for warp in range(0, self.threads, 32):
            addresses = {lane: place(warp + lane) * width for lane in range(32) if active(warp + lane)}
            if addresses:
                self.counts[f"shared_{kind}_requests"] += 1
                self.counts[f"shared_{kind}_wavefronts"] += wavefronts(addresses, width, kind == "store")

    def global_(self, kind, place, width=4, active=lambda t: True):
        for warp in range(0, self.threads, 32):
            touched = {place(warp + lane) * width + byte for lane in range(32) if active(warp + lane) for byte in range(width)}
            self.counts[f"g{kind}_bytes"] += len(touched)
            self.counts[f"g{kind}_sectors"] += len({byte // 32 for byte in touched})

    def metric(self, name):
        counts = self.counts
        if name.endswith("efficiency"):
            return 100 * counts[name[:3] + "_bytes"] / (32 * counts[name[:3] + "_sectors"])
        kind = name.split("_")[1]
        return counts[f"shared_{kind}_wavefronts"] / counts[f"shared_{kind}_requests"]


def square_block(pitch=None):
    """A transpose by blocks of 16 × 16; `pitch`: of the tile in shared memory."""
    n, block = 1024, Block(256)
    x, y = lambda t: t % 16, lambda t: t // 16
    block.global_("ld", lambda t: y(t) * n + x(t))
    if pitch:
        block.shared("store", lambda t: y(t) * pitch + x(t))
        block.shared("load", lambda t: x(t) * pitch + y(t))
    return block, x, y, n


def transpose(variant):
    if variant in ("copy", "naive"):
        block, x, y, n = square_block()
        block.global_("st", (lambda t: y(t) * n + x(t)) if variant == "copy" else (lambda t: x(t) * n + y(t)))
    else:
        block, x, y, n = square_block(16 if variant == "tiled" else 17)
        block.global_("st", lambda t: y(t) * n + x(t))
    return block


def vector_add(variant):
    block = Block(int(variant.split("_")[1]))
    for _ in range(2):
        block.global_("ld", lambda t: t)
    block.global_("st", lambda t: t)
    return block


def reduction(variant):
    """A tree of 1,024 doubles in shared memory, whose steps load two and store one."""
    threads = 512 if variant == "first_add" else 1024
    block = Block(threads)
    for _ in range(1024 // threads):
        block.global_("ld", lambda t: t, 8)
    block.shared("store", lambda t: t, 8)
    strides = [2**i for i in range(threads.bit_length() - 1)]
    for stride in reversed(strides) if variant in ("interleaved", "first_add") else strides:
        if variant == "neighbored_divergent":
            own, active = (lambda t: t), (lambda t: t % (2 * stride) == 0)
        elif variant == "neighbored_strided":
            own, active = (lambda t: 2 * stride * t), (lambda t: 2 * stride * t < threads)
        else:
            own, active = (lambda t: t), (lambda t: t < stride)
        block.shared("load", own, 8, active)
        block.shared("load", lambda t: own(t) + stride, 8, active)
        block.shared("store", own, 8, active)
    block.shared("load", lambda t: 0, 8, lambda t: t == 0)
    block.global_("st", lambda t: t, 8, lambda t: t == 0)
    return block


def smem_square(variant):
    block, pitch = Block(1024), 33 if variant.endswith("pad") else 32
    rows, columns = (lambda t: t // 32 * pitch + t % 32), (lambda t: t % 32 * pitch + t // 32)
    block.shared("store", columns if variant.startswith("set_col") else rows)
    block.shared("load", columns if "read_col" in variant else rows)
    block.global_("st", lambda t: t)
    return block


def smem_rectangle(variant):
    """A block of 32 × 16 threads; a tile of 16 rows of 32 words, or of 32 rows of 16."""
    block, pitch = Block(512), 32 + (int(variant[-1]) if "pad" in variant else 0)
    rows, columns = (lambda t: t // 32 * pitch + t % 32), (lambda t: t % 16 * pitch + t // 16)
    if variant == "set_row_read_row2":
        rows = columns = lambda t: t
    if variant == "set_col_read_col":
        columns = lambda t: t % 32 * 16 + t // 32
    block.shared("store", columns if variant.startswith("set_col") else rows)
    block.shared("load", columns if "read_col" in variant else rows)
    block.global_("st", lambda t: t)
    return block


COUNTED = [(transpose, ("copy", "naive", "tiled", "tiled_padded")), (vector_add, ("block_128", "block_256")),
           (reduction, ("neighbored_divergent", "neighbored_strided", "interleaved", "first_add")),
           (smem_square, ("set_row_read_row", "set_col_read_col", "set_row_read_col", "set_row_read_col_dyn",
                          "set_row_read_col_pad", "set_row_read_col_dyn_pad")),
           (smem_rectangle, ("set_row_read_row", "set_row_read_row2", "set_col_read_col", "set_col_read_col2", "set_row_read_col",
                             "set_row_read_col_dyn", "set_row_read_col_pad1", "set_row_read_col_pad2",
                             "set_row_read_col_dyn_pad1", "set_row_read_col_dyn_pad2"))]


class Expectations(unittest.TestCase):
    def test_are_what_a_count_by_lanes_gives(self):
        for family, variants in COUNTED:
            expected = yaml.safe_load((KERNELS / f"{family.__name__}.yaml").read_text(encoding="utf-8"))["variants"]
            for variant in variants:
                block = family(variant)
                self.assertTrue(expected[variant]["expect"])
                for gate in expected[variant]["expect"]:
                    metric, value = gate.split(" == ")
                    numerator, _, denominator = value.partition("/")
                    with self.subTest(family=family.__name__, variant=variant, metric=metric):
                        self.assertAlmostEqual(block.metric(metric), float(numerator) / float(denominator or 1), places=9)


if __name__ == "__main__":
    unittest.main()
