# SPDX-License-Identifier: MIT
# A program does here, with nothing but ctypes, as frameworks of Python do: it loads NVRTC and the
# driver with dlopen(), starts ptxas, and loads machine code that an earlier process has left.
# frameworks.py FOLDER PTXAS NVRTC ANOTHER-NVRTC fresh|again
import ctypes
import pathlib
import subprocess
import sys
import threading

try:
    import _interpreters as interpreters
except ImportError:  # before Python 3.13
    import _xxsubinterpreters as interpreters

folder, ptxas, nvrtc_path, other_path, when = sys.argv[1:]
folder = pathlib.Path(folder)
driver = ctypes.CDLL("libcuda.so.1")
SOURCE = b"""
extern "C" __global__ void twice(float* out, const float* in) {
  out[threadIdx.x] = 2 * in[2 * threadIdx.x];
}
"""


def compiled():
    nvrtc = ctypes.CDLL(nvrtc_path)
    ctypes.CDLL(other_path)  # is not the one that compiles
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), SOURCE, b"twice.cu", 0, None, None)
    options = (ctypes.c_char_p * 1)(b"-arch=sm_90")
    nvrtc.nvrtcCompileProgram(program, 1, options)
    results = []
    for what in ("CUBIN", "PTX"):
        getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value)
        getattr(nvrtc, f"nvrtcGet{what}")(program, text)
        results.append(text.raw)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return results


def launch(cubin):
    module, kernel = ctypes.c_void_p(), ctypes.c_void_p()
    if driver.cuModuleLoadData(ctypes.byref(module), cubin) != 0:
        return None
    driver.cuModuleGetFunction(ctypes.byref(kernel), module, b"twice")
    given = (ctypes.c_float * 64)(*range(64))
    x = ctypes.c_uint64()
    y = ctypes.c_uint64()
    driver.cuMemAlloc_v2(ctypes.byref(x), 256)
    driver.cuMemAlloc_v2(ctypes.byref(y), 128)
    driver.cuMemcpyHtoD_v2(x, given, 256)
    arguments = (ctypes.c_void_p * 2)(*(ctypes.addressof(one) for one in (y, x)))
    driver.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, None, arguments, None)
    result = (ctypes.c_float * 32)()
    driver.cuMemcpyDtoH_v2(result, y, 128)
    return list(result) == [4.0 * i for i in range(32)]


context = ctypes.c_void_p()
driver.cuInit(0)
driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
driver.cuCtxSetCurrent(context)
if when == "fresh":
    cubin, ptx = compiled()
    print("made here", launch(cubin))
    (folder / "kept.bin").write_bytes(b"a head" + cubin)  # as CuPy does
    (folder / "given.ptx").write_bytes(ptx.rstrip(b"\0"))
    words = [ptxas, "-lineinfo", "-arch=sm_90", folder / "given.ptx", "-o", folder / "made.cubin"]
    subprocess.run(words, check=True)
    (folder / "given.ptx").unlink()
    print("made by ptxas", launch((folder / "made.cubin").read_bytes()))
    # This ptxas fails, and leaves the cubin that the last one made.
    (folder / "given.ptx").write_bytes(ptx.rstrip(b"\0").replace(b"add.f32", b"sub.f32"))
    words[2] = "-arch=sm_80"
    print("ptxas failed", subprocess.run(words, stderr=subprocess.DEVNULL).returncode != 0)
    print("made by ptxas before", launch((folder / "made.cubin").read_bytes()))
    # PTX of an earlier architecture
    (folder / "given.ptx").write_bytes(ptx.rstrip(b"\0").replace(b"sm_90", b"sm_80"))
    words[2] = "-arch=sm_90"
    subprocess.run(words, check=True)
    print("made of earlier PTX", launch((folder / "made.cubin").read_bytes()))
    # Other code, which only the PTX beside it tells: as Triton's cache has it.
    ptx = ptx.rstrip(b"\0").replace(b"twice.cu", b"other.cu")
    (folder / "other.ptx").write_bytes(ptx)
    words = [ptxas, "-O1", "-lineinfo", "-arch=sm_90", folder / "other.ptx", "-o"]
    subprocess.run(words + [folder / "other.cubin"], check=True, env={})
    print("with any PTX beside it", launch((folder / "other.cubin").read_bytes()))
    (folder / "other.json").write_text("{}")
print("of an earlier process", launch((folder / "kept.bin").read_bytes()[len("a head") :]))
print("with PTX beside it", launch((folder / "other.cubin").read_bytes()))
print("of nobody", launch(b"\x7fELF" + bytes(14) + b"\xbe\0" + bytes(100)))
holds_lock = ctypes.PyDLL("libcuda.so.1")
room = ctypes.c_uint64()
exec(compile("holds_lock.cuMemAlloc_v2(ctypes.byref(room), 256)", "\udcff.py", "exec"))
print("from a file whose name is no text", holds_lock.cuMemFree_v2(room))


def allocate(one, results):
    one.cuCtxSetCurrent(context)
    for _ in range(100):
        place = ctypes.c_uint64()
        results.append(one.cuMemAlloc_v2(ctypes.byref(place), 256))
        one.cuMemFree_v2(place)


interpreters.create()
results = []
threads = [threading.Thread(target=allocate, args=(one, results)) for one in (driver, holds_lock)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("beside another interpreter", results == [0] * 200)
