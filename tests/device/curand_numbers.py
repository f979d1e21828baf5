# SPDX-License-Identifier: MIT
"""Compares the numbers of cuRAND's generators for the device with those of its generators for the host, on a GPU.

    curand_numbers.py

One line a generator and distribution: whether all bits are equal, else how many differ and by how much. The model takes the
host's (collector/runtime/entry/curand_calls.cpp). Needs CuPy, which brings libcurand.
"""
import ctypes
import sys

import cupy
import numpy as np
from cupy_backends.cuda.libs import curand as _loaded  # noqa: F401, loads the library

KINDS = {"XORWOW": 101, "MRG32K3A": 121, "MTGP32": 141, "MT19937": 142, "PHILOX": 161, "SOBOL32": 201,
         "SCRAMBLED_SOBOL32": 202, "SOBOL64": 203, "SCRAMBLED_SOBOL64": 204}
FIRST_QUASI, FIRST_OF_64 = 200, 203
F, D = ctypes.c_float, ctypes.c_double
DISTRIBUTIONS = [
    ("Generate", np.uint32, ()), ("GenerateLongLong", np.uint64, ()), ("GenerateUniform", np.float32, ()),
    ("GenerateUniformDouble", np.float64, ()), ("GenerateNormal", np.float32, (F(1.0), F(2.0))),
    ("GenerateNormalDouble", np.float64, (D(1.0), D(2.0))), ("GenerateLogNormal", np.float32, (F(0.0), F(1.0))),
    ("GenerateLogNormalDouble", np.float64, (D(0.0), D(1.0))), ("GeneratePoisson", np.uint32, (D(7.5),)),
    ("GeneratePoisson", np.uint32, (D(500.0),)),
]


def library():
    with open("/proc/self/maps", encoding="ascii") as maps:
        return ctypes.CDLL(next(line.split()[-1] for line in maps if "libcurand.so" in line))


def numbers(curand, kind, make, name, dtype, arguments, count):
    generator = ctypes.c_void_p()
    status = curand[make](ctypes.byref(generator), kind)
    if kind < FIRST_QUASI:
        curand.curandSetPseudoRandomGeneratorSeed(generator, ctypes.c_ulonglong(20261130))
    on_device = cupy.zeros(count, dtype)
    on_host = np.zeros(count, dtype)
    address = on_device.data.ptr if make == "curandCreateGenerator" else on_host.ctypes.data
    statuses = [status]
    for part in (0, 1):  # a second call goes on where the first stopped
        offset = part * (count // 2) * on_host.itemsize
        statuses.append(curand["curand" + name](generator, ctypes.c_void_p(address + offset), ctypes.c_size_t(count // 2), *arguments))
    curand.curandDestroyGenerator(generator)
    return statuses, on_device.get() if make == "curandCreateGenerator" else on_host


def main():
    curand = library()
    differing = 0
    for kind_name, kind in KINDS.items():
        for name, dtype, arguments in DISTRIBUTIONS:
            for count in (1000, 200000):
                device = numbers(curand, kind, "curandCreateGenerator", name, dtype, arguments, count)
                host = numbers(curand, kind, "curandCreateGeneratorHost", name, dtype, arguments, count)
                what = f"{kind_name} {name}{[one.value for one in arguments] or ''} {count}:"
                if any(device[0]) or any(host[0]):
                    print(what, "status", *device[0], "and", *host[0])
                    continue
                apart = device[1] != host[1]
                if not apart.any():
                    print(what, "equal")
                    continue
                differing += 1
                wide = np.abs(device[1].astype(np.float64) - host[1].astype(np.float64))
                print(what, f"{apart.sum()} of {count} differ, by at most {wide.max():.3g}",
                      f"(relative {(wide / np.maximum(np.abs(host[1].astype(np.float64)), 1e-30)).max():.3g})")
    print(f"{differing} differ")
    return 0


if __name__ == "__main__":
    sys.exit(main())
