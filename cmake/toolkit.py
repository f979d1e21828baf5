# SPDX-License-Identifier: MIT
"""Makes a CUDA toolkit of NVIDIA's wheels, for a machine that has none: fetches those that toolkit.txt pins and
gives them a toolkit's shape.

    python3 toolkit.py FOLDER

The wheels lack names that a linker looks for: libraries without version, and lib64.
"""
import pathlib
import sys

import wheels

HERE = pathlib.Path(__file__).resolve().parent


def link(path: pathlib.Path, target: str) -> None:
    if not path.is_symlink():
        path.symlink_to(target)


def main(folder: pathlib.Path) -> None:
    if not wheels.fetch(HERE / "toolkit.txt", folder):
        return
    packed = folder / "nvidia" / "cu13"
    for part in packed.iterdir():
        part.rename(folder / part.name)
    for library in (folder / "lib").glob("lib*.so.*"):
        link(library.with_name(library.name.split(".so.")[0] + ".so"), library.name)
    link(folder / "lib64", "lib")
    wheels.mark(HERE / "toolkit.txt", folder)


main(pathlib.Path(sys.argv[1]))
