"""Paths of folders and programs, and the few programs that the benches build.

All files created at run time are in the folder bench/ of CACHE (THRONG_CACHE, default ~/.cache/throng), and none in the
repository."""
import os
import shutil
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent
REPO = BENCH.parent
CACHE = Path(os.environ.get("THRONG_CACHE") or Path.home() / ".cache" / "throng") / "bench"
BIN = CACHE / "bin"
OUT = CACHE / "out"
PORTS = {"http": 19080, "https": 19443, "https_full": 19444, "slow": 19081, "websocket": 19082}
TARGET_CPU = "0"
GENERATOR_CPU = os.environ.get("GENERATOR_CPU", "1")
# True if targets and generators run under the real-time scheduler, for machines that run other work.
REALTIME = {"on": False}

for directory in (BIN, OUT):
    directory.mkdir(parents=True, exist_ok=True)
os.environ["PATH"] = f"{BIN}:{CACHE / 'cargo' / 'bin'}:{os.environ['PATH']}"


def built(name):
    """Returns the path of a C or C++ program of the driver; compiles it if its source is newer."""
    source, binary = BENCH / "driver" / f"{name}.c", BIN / name
    compiler = ["cc", "-O2"]
    if not source.exists():
        source, compiler = source.with_suffix(".cpp"), ["c++", "-O2", "-std=c++17"]
    if not binary.exists() or binary.stat().st_mtime < source.stat().st_mtime:
        subprocess.run([*compiler, "-Wall", str(source), "-o", str(binary), "-lpthread"], check=True)
    return str(binary)


def boost():
    """Returns true if the C++ library that one of the peers needs is installed."""
    return os.path.exists("/usr/include/boost/beast/websocket.hpp")


def hurry(pid, priority=1):
    """Puts a process and its future children under the real-time scheduler, if requested. 0 is this thread, which needs a higher
    priority than the measured processes."""
    if REALTIME["on"]:
        os.sched_setscheduler(pid, os.SCHED_RR, os.sched_param(priority))


def found(name):
    """Returns the path of a tool, or None."""
    return shutil.which(name) or next((p for p in (f"/usr/sbin/{name}",) if os.access(p, os.X_OK)), None)


def throng():
    """Returns the program under test: --throng, THRONG, or the release build."""
    path = os.environ.get("THRONG") or str(REPO / "target" / "release" / "throng")
    if not os.access(path, os.X_OK):
        sys.exit(f"{path} is not there: cargo build --release, or --throng PATH")
    return path


def target():
    """Returns the program that provides the targets: THRONG_TARGET, so that two builds use the same target, or the program under test."""
    return os.environ.get("THRONG_TARGET") or throng()


def jmeter_home():
    """Returns a JMeter 5.6.3: JMETER_HOME, or the one that tests/parity/get-jmeter assembles."""
    home = os.environ.get("JMETER_HOME")
    if not home:
        script = REPO / "tests" / "parity" / "get-jmeter"
        home = subprocess.run([str(script)], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    return Path(home)
