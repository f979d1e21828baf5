# SPDX-License-Identifier: MIT
"""Builds the programs of tests/runtime, runs them on this machine's GPU and compares what they print (printed.sh). Sources and
flags are those of tests/runtime/CMakeLists.txt."""
import concurrent.futures
import csv
import os
import pathlib
import re
import shutil
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
RUNTIME, EXPRESSIONS = TESTS / "runtime", TESTS / "golden/rounded_expressions"
FOLDER = pathlib.Path(sys.argv[1])
CUDA = pathlib.Path(shutil.which("nvcc")).resolve().parents[1]
LIBRARIES = [f"-I{CUDA}/include", f"-L{CUDA}/lib64", f"-L{CUDA}/lib64/stubs"]
SECONDS = 60

PARTS = ("linked_part.fatbin", "-fatbin"), ("linked_part.o", "-c"), ("linked_part.a", "-lib")
# Name of the output → program, arguments of each run. The outputs of all runs of surface_traps are one.
RUNS = {"children_pending": ("children_mistakes", [["m"]]), "children_trap": ("children_mistakes", [["t"]]),
        "children_wild": ("children_mistakes", [["w"]]), "from_threads": ("from_threads", [["3"]]),
        "linker": ("linker", [[name for name, _ in PARTS]]),
        "surface_traps": ("surface_traps", [[str(case)] for case in range(18)])}
# Why an output differs from that of a GPU, or needs what a machine may lack.
DIFFERENT = {"bulk_misuse": "a race", "driver_refused": "the model's words", "earlier": "of CUDA 12", "parted_barriers": "it hangs",
             "small_stacks": "NVIDIA's driver crashes", "two_devices": "it needs two GPUs", "two_devices_symbols": "it needs two GPUs"}


def flags_of_cmake():
    """Program → its sources and flags."""
    text = (RUNTIME / "CMakeLists.txt").read_text(encoding="utf-8")
    found = {}
    for names, body in re.findall(r"foreach\(name ([^)]*)\)\s*cuda_program\(([^)]*)\)", text):
        found.update({body.split()[0].replace("${name}", name): body.replace("${name}", name) for name in names.split()})
    found.update({body.split()[0]: body for body in re.findall(r"^cuda_program\(([^)]*)\)", text, re.M)})
    return found


PROGRAMS = flags_of_cmake()


def command(name):
    if (RUNTIME / f"programs/{name}.cpp").is_file():
        blas = ["-lcublas", "-lcudart"]
        more = {"driver_linked": ["-lnvJitLink"], "blas": blas, "blas_parts": blas}.get(name, [])
        return ["g++", "-std=c++17", "-Wno-deprecated-declarations", *LIBRARIES, "-o", FOLDER / name, RUNTIME / f"programs/{name}.cpp",
                "-lcuda", "-lnvrtc", *more, f"-Wl,-rpath,{CUDA}/lib64"]
    if name == "with_library":
        return ["nvcc", "-std=c++17", "-arch=sm_90", "-o", FOLDER / name, RUNTIME / "programs/with_library.cu",
                FOLDER / "libof_kernels.so", "-Xlinker", f"-rpath={FOLDER}"]
    sources, _, flags = PROGRAMS[name].split("SOURCES ")[1].partition(" FLAGS ")
    flags = flags.replace("${WARPMETER_CUDA_LIBRARY}", "-lcuda").replace("${CMAKE_SOURCE_DIR}", str(TESTS.parent))
    flags = flags.replace("${sm_90a}", "-gencode arch=compute_90a,code=[sm_90a,compute_90a]")
    return ["nvcc", "-std=c++17", "-lineinfo", *LIBRARIES, "-o", FOLDER / name, *(RUNTIME / source for source in sources.split()),
            *flags.split()]


def build(words):
    done = subprocess.run(words, capture_output=True, text=True, cwd=FOLDER, check=False)
    return "" if done.returncode == 0 else (done.stderr or "it cannot be built")[-400:]


def output_of(program, runs):
    text = ""
    for arguments in runs:
        try:
            text += subprocess.run([FOLDER / program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=FOLDER,
                                   timeout=SECONDS, check=False).stdout.decode(errors="replace")
        except subprocess.TimeoutExpired:
            text += f"(killed after {SECONDS} s)\n"
    return text


def wrong_expressions():
    """The expressions whose bits are others here."""
    with open(EXPRESSIONS / "results.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    names = list(dict.fromkeys(row["expression"] for row in rows))
    inputs = [row for row in rows if row["expression"] == names[0]]
    n = len(inputs)
    lines = ["#include <cstdio>", f'#include "{EXPRESSIONS}/expressions.cu"', "int main() {", f"  unsigned in[3][{n}] = {{"]
    lines += ["{" + ", ".join("0x" + row[key] for row in inputs) + "}," for key in "abc"]
    lines += ["};", f"  unsigned out[{n}]; float* d; cudaMalloc(&d, sizeof in + sizeof out);",
              "  cudaMemcpy(d, in, sizeof in, cudaMemcpyHostToDevice);"]
    lines += [f"  {name}<<<1, {n}>>>(d + {3 * n}, d, d + {n}, d + {2 * n}); cudaMemcpy(out, d + {3 * n}, sizeof out, "
              f"cudaMemcpyDeviceToHost); for (unsigned x : out) std::printf(\"{name} %08x\\n\", x);" for name in names]
    (FOLDER / "expressions_main.cu").write_text("\n".join(lines + ["}"]), encoding="utf-8")
    failure = build(["nvcc", "-arch=sm_90", "-o", FOLDER / "expressions", FOLDER / "expressions_main.cu"])
    if failure:
        return [failure]
    found = output_of("expressions", [[]]).splitlines()
    wanted = [f"{row['expression']} {int(row['result'], 16):08x}" for name in names for row in rows if row["expression"] == name]
    return [f"{have}, not {want}" for have, want in zip(found, wanted) if have != want] + ([] if len(found) == len(wanted) else ["lines are missing"])


def main():
    expected = {file.stem: file.read_text(encoding="utf-8") for file in sorted((RUNTIME / "expected").glob("*.txt"))
                if not file.stem.startswith("check_")}
    expected["copies"] = "4\n" + expected["copies"]  # the tests' expectation has this line, too
    runs = {name: RUNS.get(name, (name, [[]])) for name in expected if name != "earlier"}
    for file, flag in PARTS:
        build(["nvcc", "-std=c++17", "-rdc=true", "-arch=sm_90", flag, "-o", FOLDER / file, RUNTIME / "programs/linked_part.cu"])
    build(["nvcc", "-std=c++17", "-arch=sm_90", "-shared", "-Xcompiler", "-fPIC", "-o", FOLDER / "libof_kernels.so",
           RUNTIME / "programs/library_of_kernels.cu"])
    programs = sorted({program for program, _ in runs.values()})
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        failures = dict(zip(programs, pool.map(lambda name: build(command(name)), programs)))
    same = wrong = 0
    for name, (program, arguments) in runs.items():
        text = failures[program] or output_of(program, arguments)
        if text == expected[name]:
            same += 1
            continue
        (FOLDER / f"{name}.out").write_text(text, encoding="utf-8")
        print(f"{name} prints something else: {DIFFERENT.get(name, 'look at ' + name + '.out')}")
        wrong += name not in DIFFERENT
    for text in wrong_expressions():
        print(f"rounded expression: {text}")
        wrong += 1
    print(f"{same} of {len(runs)} programs print what is recorded")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
