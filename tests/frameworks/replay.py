# SPDX-License-Identifier: MIT
"""Launches the kernels of a recording (triton_recorder.py) again, with nothing but ctypes, and compares what they leave in
memory with what the recording's device left.

    replay.py RECORDING [SCRIPT...]

One line a script: `SCRIPT right`, or what is wrong. Memory is right where each byte is the recorded one, or, for floats,
where each number is near the recorded one: sums by atomics and approximated functions may round otherwise.
"""
import base64
import ctypes
import json
import lzma
import math
import pathlib
import struct
import sys
import tempfile

FORMATS = {"i1": "b", "i8": "b", "i16": "h", "i32": "i", "i64": "q", "u1": "B", "u8": "B", "u16": "H", "u32": "I", "u64": "Q",
           "fp16": "e", "fp32": "f", "fp64": "d"}
FLOATS = {"float16": ("e", 1e-2), "float32": ("f", 1e-4), "float64": ("d", 1e-12)}
MAX_DYNAMIC_SHARED_SIZE = 8  # a CUfunction_attribute
# Triton's number of a type is the device's; cuTensorMapEncodeTiled takes another for three of them.
MAP_TYPES = {8: 10, 9: 8, 10: 9}


class Driver:
    def __init__(self):
        self._library = ctypes.CDLL("libcuda.so.1")
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self("cuInit", 0)
        self("cuDeviceGet", ctypes.byref(device), 0)
        self("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self("cuCtxSetCurrent", context)

    def __call__(self, function, *arguments):
        code = self._library[function](*arguments)
        if code != 0:
            raise RuntimeError(f"{function} returned {code}")

    def allocate(self, size):
        address = ctypes.c_uint64()
        self("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(size, 1)))
        return address

    def read(self, address, size):
        content = ctypes.create_string_buffer(size)
        self("cuMemcpyDtoH_v2", content, address, ctypes.c_size_t(size))
        return content.raw

    def kernel(self, code, name, folder):
        """The function. The PTX lies beside the machine code, as in Triton's cache."""
        (folder / f"{name}.ptx").write_text(code["ptx"])
        (folder / f"{name}.json").write_text("{}")
        cubin = base64.b64decode(code["cubin"])
        (folder / f"{name}.cubin").write_bytes(cubin)
        cubin = (folder / f"{name}.cubin").read_bytes()
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self("cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p(cubin))
        self("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        return function

    def tensor_map(self, address, entry):
        """A CUtensorMap, as Triton's driver fills it."""
        meta, rank = entry["meta"], len(entry["shape"])
        shape = [*entry["shape"][:-1], entry["shape"][-1] * (2 if meta["fp4_padded"] else 1)]
        numbers = lambda kind, values: (kind * max(len(values), 1))(*values)
        room = ctypes.create_string_buffer(128 + 64)
        place = -(-ctypes.addressof(room) // 64) * 64
        self("cuTensorMapEncodeTiled", ctypes.c_void_p(place), MAP_TYPES.get(meta["elem_type"], meta["elem_type"]), rank,
             ctypes.c_void_p(address), numbers(ctypes.c_uint64, shape[::-1]),
             numbers(ctypes.c_uint64, [meta["elem_size"] * one for one in entry["strides"][-2::-1]]),
             numbers(ctypes.c_uint32, meta["block_size"][::-1]), numbers(ctypes.c_uint32, [1] * rank), 0, meta["swizzle"],
             2, 1 if entry["padding"] == "nan" else 0)
        return room, place


def packed(kind, value):
    if kind == "bf16":
        return struct.pack("<f", value)[2:]
    return struct.pack("<" + FORMATS[kind], value)


def arguments_of(driver, launch, addresses):
    """The buffers of the kernel's parameters, and what has to live as long."""
    buffers, alive = [], []
    for argument in launch["arguments"]:
        if "tensor" not in argument:
            buffers.append(ctypes.create_string_buffer(packed(argument["type"], argument["value"])))
            continue
        address = addresses[argument["tensor"]].value + argument["offset"]
        entry = argument.get("map")
        if entry is None:
            buffers.append(ctypes.c_uint64(address))
            continue
        if entry["meta"] is None:
            raise RuntimeError("a tensor descriptor without a tensor map")
        room, place = driver.tensor_map(address, entry)
        alive.append(room)
        buffers.append((ctypes.c_char * 128).from_address(place))
        buffers += [ctypes.c_int32(one) for one in entry["shape"]] + [ctypes.c_int64(one) for one in entry["strides"]]
    for size in launch["scratch"]:
        buffers.append(driver.allocate(size) if size else ctypes.c_uint64())
    return buffers, alive


def difference(kind, found, expected):
    """A sentence, or an empty text."""
    if found == expected:
        return ""
    if kind not in FLOATS:
        return f"{sum(a != b for a, b in zip(found, expected))} of {len(expected)} bytes differ"
    form, error = FLOATS[kind]
    numbers = [struct.unpack(f"<{len(expected) // struct.calcsize(form)}{form}", content) for content in (found, expected)]
    far = [(a, b) for a, b in zip(*numbers) if not (a == b or math.isclose(a, b, rel_tol=error, abs_tol=error)
                                                    or math.isnan(a) and math.isnan(b))]
    return f"{len(far)} of {len(numbers[0])} numbers differ, the first {far[0]}" if far else ""


def launch_again(driver, recording, launch, folder):
    content = {key: base64.b64decode(text) for key, text in recording["bytes"].items()}
    addresses = []
    for tensor in launch["tensors"]:
        addresses.append(driver.allocate(tensor["size"]))
        if tensor["before"]:
            driver("cuMemcpyHtoD_v2", addresses[-1], content[tensor["before"]], ctypes.c_size_t(tensor["size"]))
    function = driver.kernel(recording["codes"][launch["code"]], launch["kernel"], folder)
    if launch["shared"] > 48 << 10:
        driver("cuFuncSetAttribute", function, MAX_DYNAMIC_SHARED_SIZE, launch["shared"])
    buffers, alive = arguments_of(driver, launch, addresses)
    pointers = (ctypes.c_void_p * len(buffers))(*(ctypes.addressof(one) for one in buffers))
    driver("cuLaunchKernel", function, *launch["grid"], launch["block"], 1, 1, launch["shared"], None, pointers, None)
    driver("cuCtxSynchronize")
    del alive
    differences = []
    for address, tensor in zip(addresses, launch["tensors"]):
        expected = content[tensor["after"] or tensor["before"]]
        differences.append(difference(tensor["type"], driver.read(address, tensor["size"]), expected))
        driver("cuMemFree_v2", address)
    return [one for one in differences if one]


def recording_at(path):
    with lzma.open(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def main():
    path, *names = sys.argv[1:]
    recording = recording_at(path)
    driver, wrong = Driver(), {}
    scripts = dict.fromkeys(launch["script"] for launch in recording["launches"])
    with tempfile.TemporaryDirectory() as folder:
        for name in names or scripts:
            wrong[name] = []
            for launch in recording["launches"]:
                if launch["script"] == name:
                    wrong[name] += launch_again(driver, recording, launch, pathlib.Path(folder))
            print(name, f"wrong: {'; '.join(wrong[name])}" if wrong[name] else "right", flush=True)
    return 1 if any(wrong.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
