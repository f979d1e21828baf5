# SPDX-License-Identifier: MIT
"""Kernels for tests, launched with the driver's API by ctypes: no framework is needed."""

from __future__ import annotations

import ctypes
import pathlib
from array import array
from collections.abc import Sequence
from typing import Any

threads = 32

_TILE = """
.version 7.0
.target sm_70
.address_size 64

.file 1 "tile.cu"

.visible .entry {name}(.param .u64 target, .param .u32 stride)
{{
  .reg .b32 %r<8>;
  .reg .b64 %rd<6>;
  .shared .align 4 .b8 tile[4096];
  ld.param.u64 %rd1, [target];
  ld.param.u32 %r1, [stride];
  mov.u32 %r2, %tid.x;
  mul.lo.s32 %r3, %r2, %r1;
  shl.b32 %r3, %r3, 2;
  mov.u32 %r4, tile;
  add.s32 %r5, %r4, %r3;
  .loc 1 6 0
  st.shared.u32 [%r5], %r2;
  bar.sync 0;
  .loc 1 8 0
  ld.shared.u32 %r6, [%r5];
  cvta.to.global.u64 %rd2, %rd1;
  mul.wide.u32 %rd3, %r2, 4;
  add.s64 %rd4, %rd2, %rd3;
  .loc 1 9 0
  st.global.u32 [%rd4], %r6;
  ret;
}}
"""


class Cuda:
    """A context of device 0. Calls that fail raise RuntimeError."""

    def __init__(self) -> None:
        self._driver = ctypes.CDLL("libcuda.so.1")
        self("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self("cuDeviceGet", ctypes.byref(device), 0)
        self("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self("cuCtxSetCurrent", context)

    def __call__(self, function: str, *arguments: Any) -> None:
        code = self._driver[function](*arguments)
        if code != 0:
            raise RuntimeError(f"{function} returned {code}")

    def kernel(self, ptx: str, name: str) -> ctypes.c_void_p:
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self("cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p(ptx.encode()))
        self("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        return function

    def memory(self, size: int) -> ctypes.c_uint64:
        address = ctypes.c_uint64()
        self("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        return address

    def launch(self, kernel: ctypes.c_void_p, *arguments: Any, block: int = threads, grid: int = 1) -> None:
        pointers = (ctypes.c_void_p * len(arguments))(*(ctypes.addressof(one) for one in arguments))
        self("cuLaunchKernel", kernel, grid, 1, 1, block, 1, 1, 0, None, pointers, None)

    def read(self, address: ctypes.c_uint64, count: int) -> list[int]:
        self("cuCtxSynchronize")
        target = array("I", bytes(4 * count))
        self("cuMemcpyDtoH_v2", ctypes.c_void_p(target.buffer_info()[0]), address, ctypes.c_size_t(4 * count))
        return target.tolist()


class Tile:
    """A warp writes into shared memory with a stride of words, reads it again, and stores 128 bytes.

    Counts by hand, of one launch: with stride s the 32 lanes lie on 32 / gcd(32, s) banks, so one shared load and one
    shared store each take gcd(32, s) wavefronts. The store to global memory is 32 · 4 bytes in 4 sectors: 100 %.
    """

    def __init__(self, cuda: Cuda, name: str = "tile") -> None:
        self._cuda = cuda
        self._kernel = cuda.kernel(_TILE.format(name=name), name)
        self._target = cuda.memory(4 * threads)

    def launch(self, stride: int, block: int = threads) -> None:
        self._cuda.launch(self._kernel, self._target, ctypes.c_uint32(stride), block=block)

    def __call__(self, stride: int) -> list[int]:
        """Returns the numbers that the lanes stored: their own."""
        self.launch(stride)
        return self._cuda.read(self._target, threads)
