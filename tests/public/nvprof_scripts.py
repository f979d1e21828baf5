#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Public scripts that call nvprof or read its output, unmodified, with warpmeter's nvprof first in PATH.

    tests/public/nvprof_scripts.py WARPMETER FOLDER [NAME…]     FOLDER: clones, each at OWNER+NAME or OWNER+NAME/repo, or
                                                                the scripts' files alone, below OWNER+NAME

A script is taken from its commit and runs in a folder of its own. The programs that it profiles are links to
nvprof_program.cu; a Python script that it profiles becomes that program (exec). Each row says what the script must have
found. `needs_gpu` marks what only a GPU answers: there --gpu runs it."""
import argparse
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BECOMES = "import os, sys\nos.execv('./app', ['./app'] + sys.argv[1:])\n"


@dataclasses.dataclass
class Script:
    name: str
    repository: str
    commit: str
    paths: list  # in the repository; each is written under its own path
    command: str  # for bash, where the files are
    found: list  # patterns of what the command printed or wrote into files named in `files`
    files: str = ""  # a glob of files that it wrote
    programs: list = dataclasses.field(default_factory=list)  # names that the program has
    pythons: list = dataclasses.field(default_factory=list)  # Python scripts that become the program
    needs_gpu: bool = False


AXPY = r"axpy\(float, float const \*, float\*\)"
SCRIPTS = [
    Script("djinn metrics", "northtiger/djinn", "5a1502051cb4bbee74386e2120048d1b42c8281a",
           ["load_simulator/nvprof-metrics.sh"], "cd load_simulator && bash nvprof-metrics.sh nets/net.prototxt 1 0",
           [r'"Device","Kernel","Invocations","Metric Name","Metric Description","Min","Max","Avg"',
            rf'"[^"]+ \(0\)","{AXPY}",2,"achieved_occupancy","Achieved Occupancy",'],
           "load_simulator/net/metrics_net_*.csv", ["load_simulator/load-simulator"]),
    Script("djinn trace", "northtiger/djinn", "5a1502051cb4bbee74386e2120048d1b42c8281a",
           ["load_simulator/nvprof-trace.sh"], "cd load_simulator && bash nvprof-trace.sh nets/net.prototxt 1 0",
           [r'"Start","Duration","Grid X","Grid Y","Grid Z"', rf'8,1,1,128,1,1,.*"{AXPY}'],
           "load_simulator/net/trace_net_*.csv", ["load_simulator/load-simulator"]),
    Script("djinn timing", "northtiger/djinn", "5a1502051cb4bbee74386e2120048d1b42c8281a",
           ["load_simulator/nvprof-timing.sh"], "cd load_simulator && bash nvprof-timing.sh nets/net.prototxt 1 0",
           [r'"Type","Time\(%\)","Time","Calls","Avg","Min","Max","Name"\n', rf'"GPU activities",.*,2,.*"{AXPY}"'],
           "load_simulator/net/summary_net_*.csv", ["load_simulator/load-simulator"]),
    Script("magus", "leimingyu/magus", "b9153ef6ab81f876310e7618dd241cdfeee35a19",
           ["apps/devid_cudasdk80/0_Simple/vectorAdd/profile-this.sh"],
           "cd apps/devid_cudasdk80/0_Simple/vectorAdd && bash profile-this.sh",
           [rf'"{AXPY}",2,"gst_transactions","Global Store Transactions",128,128,128', r'"Start","Duration","Grid X"',
            r'\[CUDA memset\]'],
           "apps/devid_cudasdk80/0_Simple/vectorAdd/*.csv", ["apps/devid_cudasdk80/0_Simple/vectorAdd/vectorAdd"]),
    Script("COMET", "pnnl/COMET", "04dc384a701e161d486d7ff68f2b388c147b90c0",
           ["tutorial/session-2/01-matrix-add/runner.py"], 
           "cd tutorial/session-2/01-matrix-add && python3 runner.py matrix_add.py",
           [r" GPU activities: +\S+ +\S+ +\d+ .*\n", r"void add_rows<int=32>\(float const \*, float\*\)"], "",
           ["tutorial/session-2/01-matrix-add/app"], ["tutorial/session-2/01-matrix-add/matrix_add.py"]),
    Script("Easy-Nvprof", "acazares/Easy-Nvprof", "688b303cd1887677f1929de1f23b4d0050a98dfd", ["easy-nvprof"],
           "bash easy-nvprof -m gld_efficiency,gst_efficiency -- ./app && bash easy-nvprof --query-metrics",
           [r"2 +gst_efficiency +Global Memory Store Efficiency +100.00% +100.00% +100.00%\n",
            r"Available Metrics:\n +Name   Description\nDevice 0 \("], "", ["app"]),
    Script("OpenNMT", "gwli/OpenNMT-py", "bc23722b7f1f7e263df2fd3b5f576ff0dc33ab17", ["devtools/cuda_nvprof.sh"],
           "cd devtools && bash cuda_nvprof.sh",
           [r'"Type","Time\(%\)","Time","Calls","Avg","Min","Max","Name"\n', r"2 +inst_executed +Instructions Executed +\d+",
            r"Available Metrics:"], "", ["devtools/app"], ["devtools/train.py"]),
    Script("specfem3d", "gwli/specfem3d", "b9f58d1255f6f1f1784c2cac312cc7f10d8d1c3e", ["devtools/cuda_nvprof.sh"],
           "mkdir DATA && echo 'NPROC = 2' >DATA/Par_file && printf '#!/bin/sh\\nexec ./app\\n' >mpirun && chmod +x mpirun && "
           "export PATH=$PATH:$PWD && cd devtools && bash cuda_nvprof.sh",
           [r'"GPU activities",', r"2 +inst_executed +Instructions Executed +\d+"], "", ["app"]),
    Script("benchmarker", "undertherain/benchmarker", "0b4d905a11328effc82d834f343f24708d382a00",
           ["benchmarker/profiling/nvprof.py", "benchmarker/util/abstractprocess.py"],
           "touch benchmarker/__init__.py benchmarker/profiling/__init__.py benchmarker/util/__init__.py && python3 -c \""
           "from benchmarker.profiling.nvprof import get_gflop; print('flop', round(get_gflop(['./app'], 'FP32') * 1e9))\"",
           [r"flop 5120\n"], "", ["app"], needs_gpu=True),
    Script("uva", "hasegawa-yuta-jaea/uva", "4c20f02ff4efc28f06048f1420739ef9a21a2d0b", ["prof.sh"], "bash prof.sh",
           [r"Event result:\n", r"2 +gld_efficiency +Global Memory Load Efficiency +100.00% +100.00% +100.00%\n",
            r"1 +flop_count_sp +Floating Point Operations\(Single Precision\) "], "logprof.txt", ["run"]),
    Script("IoTensorJuly", "Kyrie-Zhao/IoTensorJuly", "b029f931536daadb23ca17d32d5531e22ebc7491",
           ["interference_test/kernel_test/control_conv.sh"],
           "cd interference_test/kernel_test && bash control_conv.sh; python3 -c \"import sqlite3; print('kernels', "
           "*sqlite3.connect('net.sql').execute('SELECT count(*) FROM CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL').fetchone())\"",
           [r"kernels 3\n", r"Generated result file: \S+/net.sql\n"], "", ["interference_test/kernel_test/app"],
           ["interference_test/kernel_test/conv.py"]),
    Script("pid_monitor", "jschaub30/pid_monitor", "d10a673fcfd0e84a00fe76986c4a031142a1aae2", ["tidy_nvprof.sh"],
           "mkdir raw && nvprof -o raw/run.%p.nvprof ./app && bash tidy_nvprof.sh raw run",
           [r'"Start","Duration","Grid X".*"Throughput"', r"\[CUDA memcpy HtoD\]"], "raw/*.csv", ["app"]),
    Script("thrust2D", "sankarmanoj/thrust2D", "9af247b7742f68a2d0a027ba36092b122c49cf44", ["blend/Makefile"],
           "cd blend && cp -L ../app blend.o && touch blend.cu && touch -d +1hour blend.o && make blend.profile",
           [r"2 +dram_read_throughput +Device Memory Read Throughput"], "blend/blend.profile", ["app"]),
    Script("FreeTensor", "roastduck/FreeTensor", "00d8aff23e9d5955abcc5d39f38b699177748d27",
           ["experiments/gather_nvprof_log.py"],
           "nvprof -m all ./app >nvprof_inference.log 2>&1; python3 experiments/gather_nvprof_log.py nvprof_inference.log",
           [r"FLOP:  5120\n", r"FLOP \(FMA\):  2048\n"], "", ["app"], needs_gpu=True),
]


def git_folder(folder, repository):
    base = folder / repository.replace("/", "+")
    for place in (base, base / "repo", base / "repo" / ".git"):
        if (place / "objects").is_dir() or (place / ".git").exists():
            return place
    return base if base.is_dir() else None


def take(script, source, work):
    """The script's files, as they are at its commit."""
    for path in script.paths:
        target = work / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if (source / path).is_file() and not (source / ".git").exists():
            shutil.copy(source / path, target)
            continue
        text = subprocess.run(["git", "-C", source, "show", f"{script.commit}:{path}"], capture_output=True,
                              check=True).stdout
        target.write_bytes(text)


def run(script, source, program, path, environment):
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        take(script, source, work)
        for link in script.programs:
            (work / link).parent.mkdir(parents=True, exist_ok=True)
            (work / link).symlink_to(program)
        for python in script.pythons:
            (work / python).write_text(BECOMES, encoding="utf-8")
        said = subprocess.run(["bash", "-c", script.command], cwd=work, capture_output=True, text=True, timeout=600,
                              env={**environment, "PATH": f"{path}:{environment['PATH']}"})
        text = said.stdout + said.stderr
        for file in sorted(work.glob(script.files)) if script.files else []:
            text += file.read_text(encoding="utf-8")
        missing = [pattern for pattern in script.found if not re.search(pattern, text)]
        return missing, text


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("warpmeter", type=pathlib.Path)
    options.add_argument("folder", type=pathlib.Path)
    options.add_argument("names", nargs="*")
    options.add_argument("--gpu", action="store_true", help="run what needs a GPU too")
    options.add_argument("--show", action="store_true", help="print what the scripts printed")
    asked = options.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = folder / "program"
        subprocess.run(["nvcc", "-arch=sm_90", "-lineinfo", "-o", program, HERE / "nvprof_program.cu"], check=True)
        os.symlink(asked.warpmeter.resolve(), folder / "nvprof")
        if not shutil.which("python"):
            os.symlink(sys.executable, folder / "python")
        for script in SCRIPTS:
            source = git_folder(asked.folder, script.repository)
            if asked.names and script.name not in asked.names:
                continue
            if source is None or (script.needs_gpu and not asked.gpu):
                print(f"{script.name:16} skipped: {'no clone' if source is None else 'needs a GPU'}")
                continue
            missing, text = run(script, source, program, folder, dict(os.environ))
            print(f"{script.name:16} {'found' if not missing else 'NOT FOUND: ' + '; '.join(missing)}")
            failed += bool(missing)
            if asked.show or missing:
                print(text)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
