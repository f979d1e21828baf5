# SPDX-License-Identifier: MIT
"""A Slurm cluster on this machine, of its own: munged, slurmctld and a slurmd a node, all in a temporary folder, on
ports that were free. It ends with the program that started it, however that ends.

    with cluster.Cluster() as lab:
        lab.run(["sbatch", "--wrap", "hostname"])

    tests/slurm/cluster.py      a cluster to try things on, until Ctrl-C: prints the SLURM_CONF to export
"""
import atexit
import ctypes
import os
import pathlib
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "sinfo", "scontrol", "scancel")
os.environ["PATH"] += ":/usr/sbin:/sbin"

# cred_expire: so long waits what is queued again, too; two minutes where nothing is said.
CONFIGURATION = """\
ClusterName=lab
SlurmctldHost={host}(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=30
CryptoType=crypto/munge
SlurmUser=root
SlurmdUser=root
SlurmctldPort={controller}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/run/slurmctld.pid
SlurmdPidFile={folder}/run/slurmd-%n.pid
SlurmctldLogFile={folder}/log/slurmctld
SlurmdLogFile={folder}/log/slurmd-%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=2,batch_sched_delay=0,bf_interval=2,sched_min_interval=0
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
MpiDefault=none
KillWait=2
InactiveLimit=0
SlurmdTimeout=10
MaxArraySize=1001
SlurmdParameters=config_overrides
{gres}
{nodes}
PartitionName=lab Nodes=ALL Default=YES MaxTime=INFINITE State=UP
PartitionName=night Nodes={first} MaxTime=INFINITE State=UP
"""


def end_with_parent():
    """Run in a daemon before it starts: it gets SIGKILL when this program ends, even by SIGKILL."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def missing():
    """Why there can be no cluster here, in words; empty when there can."""
    absent = [name for name in PROGRAMS if shutil.which(name) is None]
    if absent:
        return f"{', '.join(absent)} not found: install slurm-wlm and munge"
    if os.geteuid() != 0:
        return "slurmctld, slurmd and munged of a test are started as root"
    return ""


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Cluster:
    def __init__(self, nodes=3, cpus=1, gpus=()):
        """`gpus`: for each node the types of its GPUs, as Slurm counts them; there is no hardware behind."""
        self.names = [f"n{i + 1}" for i in range(nodes)]
        self.cpus, self.gpus = cpus, list(gpus) + [()] * (nodes - len(gpus))
        self.daemons = {}
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="slurm-"))
        atexit.register(self.stop)
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: sys.exit(130))
        self.environment = dict(os.environ, SLURM_CONF=str(self.folder / "slurm.conf"),
                                XDG_STATE_HOME=str(self.folder / "home"))

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def configure(self):
        host = socket.gethostname().split(".")[0]
        ports = free_ports(1 + len(self.names))
        gres = {}
        for name, types in zip(self.names, self.gpus):
            for kind in dict.fromkeys(types):
                gres.setdefault(name, []).append(f"gpu:{kind}:{types.count(kind)}")
        nodes = [f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={self.cpus} State=UNKNOWN"
                 + (f" Gres={','.join(gres[name])}" if name in gres else "")
                 for name, port in zip(self.names, ports[1:])]
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(
            host=host, folder=self.folder, controller=ports[0], nodes="\n".join(nodes), first=self.names[0],
            gres="GresTypes=gpu" if gres else ""), encoding="utf-8")
        # A file that is there stands for a device.
        lines = []
        for name, types in zip(self.names, self.gpus):
            for index, kind in enumerate(types):
                device = self.folder / f"gpu-{name}-{index}"
                device.touch()
                lines.append(f"NodeName={name} Name=gpu Type={kind} File={device}")
        (self.folder / "gres.conf").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def start(self):
        for name in ("state", "run", "log"):
            (self.folder / name).mkdir()
        self.folder.chmod(0o755)
        self.configure()
        key = self.folder / "munge.key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o400)
        self.spawn("munged", ["munged", "--foreground", "--force", f"--key-file={key}",
                              f"--socket={self.folder}/munge.socket", f"--pid-file={self.folder}/run/munged.pid",
                              f"--log-file={self.folder}/log/munged", f"--seed-file={self.folder}/munge.seed"])
        self.wait_for(lambda: (self.folder / "munge.socket").exists(), 20, "munged's socket")
        self.spawn("slurmctld", ["slurmctld", "-D", "-c", "-f", self.environment["SLURM_CONF"]])
        for name in self.names:
            self.start_node(name)
        self.wait_for(lambda: self.node_states() == {"idle": len(self.names)}, 60, "the nodes to be idle")

    def start_node(self, name):
        self.spawn(name, ["slurmd", "-D", "-N", name, "-f", self.environment["SLURM_CONF"]])

    def spawn(self, name, words):
        log = open(self.folder / "log" / f"{name}.out", "ab")
        self.daemons[name] = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                              env=self.environment, start_new_session=True,
                                              preexec_fn=end_with_parent)
        log.close()

    def run(self, words, check=True, **options):
        result = subprocess.run(words, env=self.environment, text=True, stdin=subprocess.DEVNULL,
                                capture_output=True, check=False, **options)
        if check and result.returncode != 0:
            raise RuntimeError(f"{words}: {result.returncode}\n{result.stdout}{result.stderr}")
        return result

    def node_states(self):
        states = {}
        for word in self.run(["sinfo", "-h", "-N", "-p", "lab", "-o", "%T"], check=False).stdout.split():
            states[word] = states.get(word, 0) + 1
        return states

    def wait_for(self, is_so, seconds, what):
        end = time.monotonic() + seconds
        while not is_so():
            if time.monotonic() > end:
                raise TimeoutError(f"waited {seconds} s for {what}\n{self.logs()}")
            time.sleep(0.1)

    def processes_of(self, node):
        """Those that run under a node's slurmd: its steps, which carry their job in their name, and what they
        started."""
        jobs = self.run(["squeue", "-h", "-r", "-w", node, "-o", "%A"], check=False).stdout.split()
        steps = tuple(f"slurmstepd: [{job}." for job in jobs)
        parents, mine = {}, {self.daemons[node].pid}
        for entry in pathlib.Path("/proc").iterdir():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                if (entry / "cmdline").read_text(errors="replace").startswith(steps):
                    mine.add(int(entry.name))
            except (OSError, ValueError):
                continue
        grew = True
        while grew:
            more = {pid for pid, parent in parents.items() if parent in mine} - mine
            grew = bool(more)
            mine |= more
        return mine

    def fail_node(self, name):
        """The node loses its power: nothing of it runs on, and the controller is told."""
        processes = self.processes_of(name)
        # All are stopped before the first is killed: otherwise a step tells the controller how its program ended.
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in processes:
                try:
                    os.kill(pid, number)
                except ProcessLookupError:
                    pass
        self.daemons.pop(name).wait()
        self.run(["scontrol", "update", f"nodename={name}", "state=down", "reason=power"])

    def can_hide(self, folder):
        return subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", str(folder)], check=False,
                              capture_output=True).returncode == 0

    def hidden(self, folder, words, environment, cwd):
        """Runs a command that alone sees what it writes to the folder."""
        line = 'mount -t tmpfs tmpfs "$0" && exec "$@"'
        return subprocess.run(["unshare", "-m", "sh", "-c", line, str(folder), *words], env=environment, cwd=cwd,
                              text=True, capture_output=True, check=False)

    def logs(self):
        return "\n".join(f"--- {path.name}\n{path.read_text(errors='replace')[-2000:]}"
                         for path in sorted((self.folder / "log").iterdir()))

    def stop(self):
        if not self.folder.exists():
            return
        if "slurmctld" in self.daemons:
            self.run(["scancel", "--me"], check=False)
        mine = set()
        for name in list(self.daemons):
            if name in self.names:
                mine |= self.processes_of(name)
        for pid in mine | {daemon.pid for daemon in self.daemons.values()}:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for daemon in self.daemons.values():
            daemon.wait()
        self.daemons.clear()
        shutil.rmtree(self.folder, ignore_errors=True)


if __name__ == "__main__":
    why = missing()
    if why:
        sys.exit(why)
    with Cluster() as lab:
        print(f"export SLURM_CONF={lab.environment['SLURM_CONF']}", flush=True)
        try:
            signal.pause()
        except KeyboardInterrupt:
            pass
