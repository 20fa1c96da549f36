"""Runs one generator pinned to its CPU and measures it from outside.

Requests are counted by nginx. CPU is user + system of the whole process tree, from /proc, in a window that leaves out
start and end. Memory is the sum of VmRSS over the tree."""
import os
import re
import signal
import subprocess
import time

from place import GENERATOR_CPU, OUT, hurry
from target import Status

TICK = os.sysconf("SC_CLK_TCK")


def tree(pid):
    """Returns the process and all its descendants."""
    found, todo = [], [pid]
    while todo:
        process = todo.pop()
        found.append(process)
        try:
            for task in os.listdir(f"/proc/{process}/task"):
                todo += map(int, open(f"/proc/{process}/task/{task}/children").read().split())
        except OSError:
            pass
    return found


def cpu(pids):
    """Returns the seconds of user and system time so far."""
    total = 0.0
    for pid in pids:
        try:
            fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        total += (int(fields[11]) + int(fields[12])) / TICK
    return total


def rss(pids):
    """Returns the current resident memory of all processes together, in KiB."""
    total = 0
    for pid in pids:
        try:
            total += int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{pid}/status").read())[1])
        except (OSError, TypeError):
            continue
    return total


def machine_busy():
    """Returns the seconds that all CPUs together have been busy so far."""
    fields = [int(f) / TICK for f in open("/proc/stat").readline().split()[1:9]]
    return sum(fields) - fields[3] - fields[4]


def wait_for_quiet(limit_s, share=0.1):
    """Waits, at most `limit_s` seconds, until at most `share` CPUs have been busy over two seconds."""
    until = time.monotonic() + limit_s
    while time.monotonic() < until:
        before = machine_busy()
        time.sleep(2)
        if (machine_busy() - before) / 2 <= share:
            return


def start(command, log, directory=OUT, pinned=True):
    """Starts a generator on its CPU, or on all CPUs if not `pinned`, with its output in a file. It inherits CPU and scheduler from
    this thread, so that no helper program is needed."""
    directory.mkdir(parents=True, exist_ok=True)
    output = open(OUT / f"{log}.out", "wb")
    own = os.sched_getaffinity(0)
    if pinned:
        os.sched_setaffinity(0, {int(GENERATOR_CPU)})
    try:
        hurry(0)
        return subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                start_new_session=True, cwd=directory)
    finally:
        hurry(0, 2)
        os.sched_setaffinity(0, own)


def end(process, seconds):
    """Waits for the end of the process, and kills it after `seconds`. Returns its exit code."""
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.wait()


def last_look(process, look, tail):
    """Measures until the counter no longer grows, which is the end of the run, however long the program took to start. Returns the
    measurement from `tail` seconds before the end, and the resident memory in KiB at that time."""
    looks, still = [look()], 0
    memory = [rss(tree(process.pid))]
    while still < 4 and process.poll() is None:
        time.sleep(0.25)
        looks.append(look())
        memory.append(rss(tree(process.pid)))
        still = still + 1 if looks[-1][1] == looks[-2][1] else 0
    last = next((one for one in reversed(looks) if one[1] < looks[-1][1]), looks[0])
    at = max((n for n, one in enumerate(looks) if one[0] <= last[0] - tail), default=0)
    return looks[at], memory[at]


def closed_loop(command, log, worker, seconds, warm, tail=1.0, directory=OUT):
    """Measures the CPU per request of a generator that runs for `seconds`; None if it sent no request."""
    status = Status()
    accepted_0, requests_0 = status.get()
    began = time.monotonic()
    process = start(command, log, directory)
    while status.get()[1] == requests_0:
        if process.poll() is not None or time.monotonic() - began > 60:
            end(process, 0)
            return None
        time.sleep(0.02)
    time.sleep(warm)

    def look():
        return time.monotonic(), status.get()[1], cpu(tree(process.pid)), cpu([worker]), machine_busy()

    a = look()
    b, memory = last_look(process, look, tail)
    code = end(process, seconds + 60)
    accepted, requests = status.get()
    wall, count = b[0] - a[0], b[1] - a[1]
    if count <= 0:
        return None
    return {
        "us_per_request": (b[2] - a[2]) * 1e6 / count,
        "requests_per_s": count / wall,
        "generator_busy": (b[2] - a[2]) / wall,
        "target_busy": (b[3] - a[3]) / wall,
        # Processor time of all other processes on this machine, in CPUs.
        "others_busy": max(0.0, (b[4] - a[4] - (b[2] - a[2]) - (b[3] - a[3])) / wall),
        "rss_mib": memory / 1024,
        "requests": requests - requests_0,
        "connections": accepted - accepted_0,
        "exit": code,
    }
