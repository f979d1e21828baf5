"""Makes a CUDA toolkit of NVIDIA's wheels, for a machine that has none: fetches those that toolkit.txt pins and
gives them a toolkit's shape.

    python3 toolkit.py FOLDER

The wheels lack what a linker looks for: names without version, lib64, and the stub of the driver's library. The
stub is an empty library with the driver's functions, whose names stand in CUPTI's header of callbacks.
"""
import pathlib
import re
import subprocess
import sys

import wheels

HERE = pathlib.Path(__file__).resolve().parent


def link(path: pathlib.Path, target: str) -> None:
    if not path.is_symlink():
        path.symlink_to(target)


def driver_functions(header: pathlib.Path) -> list[str]:
    names = re.findall(r"CUPTI_DRIVER_TRACE_CBID_(cu\w+)", header.read_text(encoding="utf-8"))
    # The first were renamed before CUDA 4, the others exist on Windows.
    return sorted({name for name in names if not name.startswith("cu64") and "D3D" not in name})


def main(folder: pathlib.Path) -> None:
    if not wheels.fetch(HERE / "toolkit.txt", folder):
        return
    packed = folder / "nvidia" / "cu13"
    for part in packed.iterdir():
        part.rename(folder / part.name)
    for library in (folder / "lib").glob("lib*.so.*"):
        link(library.with_name(library.name.split(".so.")[0] + ".so"), library.name)
    link(folder / "lib64", "lib")
    stubs = folder / "lib" / "stubs"
    stubs.mkdir(exist_ok=True)
    names = driver_functions(folder / "include" / "cupti_driver_cbid.h")
    subprocess.run(["g++", "-shared", "-nostdlib", "-Wl,-soname,libcuda.so.1", "-x", "assembler", "-",
                    "-o", stubs / "libcuda.so"], check=True, text=True,
                   input="".join(f".globl {name}\n.type {name}, @function\n{name}: ret\n" for name in names) +
                   '.section .note.GNU-stack,"",@progbits\n')
    wheels.mark(HERE / "toolkit.txt", folder)


main(pathlib.Path(sys.argv[1]))
