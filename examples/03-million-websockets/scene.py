"""Common parts of the scripts in this folder: the program, its chat target, a watched run, and checks.

Each process is started in a separate session, ends by itself after a limited time, and is ended if the script fails."""

import contextlib
import http.client
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# Connections per process of the target. A process may have 20 000 descriptors, but members choose addresses at random,
# so some processes get more than the average.
PER_PROCESS = 18_500


def throng():
    """Returns the program under test: $THRONG, or a release build of this checkout."""
    if given := os.environ.get("THRONG"):
        return str(Path(given).resolve())
    subprocess.run(["cargo", "build", "--release", "--quiet", "--bin", "throng"], cwd=ROOT, check=True)
    metadata = subprocess.run(
        ["cargo", "metadata", "--format-version", "1", "--no-deps"], cwd=ROOT, check=True, capture_output=True)
    return str(Path(json.loads(metadata.stdout)["target_directory"]) / "release" / "throng")


def say(text):
    print(text, file=sys.stderr, flush=True)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def end(process, patience=30):
    """Ends a process and its descendants, which share its session."""
    for how, wait in ((signal.SIGTERM, patience), (signal.SIGKILL, 10)):
        if process.poll() is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, how)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(wait)


def tree(pid):
    """Returns the process and its descendants."""
    found, todo = [], [pid]
    while todo:
        process = todo.pop()
        found.append(process)
        with contextlib.suppress(OSError):
            for task in os.listdir(f"/proc/{process}/task"):
                todo += map(int, Path(f"/proc/{process}/task/{task}/children").read_text().split())
    return found


def memory_kib(pids):
    """Returns the memory of processes together: private memory, pages of the program, and the number of processes.

    The sum consists of proportional shares (PSS), but pages of the program that the target also uses count fully. Their number
    depends on the build and on the read-ahead of the kernel, not on connections."""
    own, program, count = 0, 0, 0
    for pid in pids:
        # Ignores processes that have just ended and have no figures.
        with contextlib.suppress(OSError, LookupError):
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            kib = {line.split(":")[0]: int(line.split()[1]) for line in lines[1:]}
            own += kib["Anonymous"]
            program = max(program, kib["Rss"] - kib["Anonymous"])
            count += 1
    return own, program, count


def cpu_s(pids):
    """Returns the seconds of user and system time so far."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


class Target:
    """The bundled chat, with as many processes as the connections need, each with a separate address."""

    def __init__(self, program, connections, seconds, tls=False, options=()):
        self.count = -(-connections // PER_PROCESS)
        self.port = free_port()
        # The kernel chooses the local port of a connection by its destination, so each target address has the full port
        # range.
        self.addresses = f"127.0.1.1-127.0.1.{self.count}"
        self.host = f"127.0.1.${{__Random(1,{self.count})}}" if self.count > 1 else "127.0.1.1"
        self.process = subprocess.Popen(
            [program, "target", "chat", "--port", str(self.port), "--seconds", str(seconds), *(["--tls"] if tls else []),
             "--option", f"processes={self.count}", "--option", f"listen={self.addresses}",
             *(word for option in options for word in ("--option", option))],
            stdout=subprocess.PIPE, text=True, start_new_session=True)
        self.tls = tls

    def __enter__(self):
        line = self.process.stdout.readline()
        if not line.startswith("listening on"):
            end(self.process)
            sys.exit(f"the target did not start: {line}")
        return self

    def __exit__(self, *_):
        end(self.process)

    def stats(self):
        """Returns the counters of all processes of the target together."""
        kind, more = http.client.HTTPConnection, {}
        if self.tls:
            # The target's certificate is self-signed, so it is not verified.
            kind, more = http.client.HTTPSConnection, {"context": ssl._create_unverified_context()}
        with contextlib.closing(kind("127.0.1.1", self.port, timeout=30, **more)) as connection:
            connection.request("GET", "/stats")
            return json.load(connection.getresponse())


class Service:
    """The HTTP service in addition to the chat: a bundled service that answers every path after 10 ms."""

    def __init__(self, program, seconds):
        self.port = free_port()
        self.process = subprocess.Popen(
            [program, "target", "service", "--port", str(self.port), "--seconds", str(seconds), "--option", "ms=10"],
            stdout=subprocess.PIPE, text=True, start_new_session=True)

    def __enter__(self):
        line = self.process.stdout.readline()
        if not line.startswith("listening on"):
            end(self.process)
            sys.exit(f"the service did not start: {line}")
        return self

    def __exit__(self, *_):
        end(self.process)


@contextlib.contextmanager
def exporter():
    """Returns the flags that watch this machine by a node exporter during the block; none if there is no node exporter."""
    program = shutil.which("prometheus-node-exporter") or shutil.which("node_exporter")
    if program is None:
        say("no node exporter (Debian: prometheus-node-exporter): the machine is not watched")
        yield []
        return
    address = f"127.0.0.1:{free_port()}"
    process = subprocess.Popen([program, f"--web.listen-address={address}"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        yield ["--watch", f"machine={address}"]
    finally:
        end(process)


class Run:
    """A run of `throng run`. Once a second, it reads the counters of the target and the memory of all processes."""

    def __init__(self, program, folder, plan, properties, watch, flags=()):
        self.folder = Path(folder)
        self.output = open(self.folder / "output", "w")
        self.seen, self.seconds = [], []
        words = [f"-J{name}={value}" for name, value in properties.items()]
        self.command = [program, "run", str(plan), "--runs", str(self.folder / "runs"), *flags, *words]
        self.process = subprocess.Popen(
            self.command, cwd=folder, stdout=self.output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True)
        self.began = time.monotonic()
        self.watch = threading.Thread(target=self._watch, args=(watch,), daemon=True)
        self.watch.start()

    def _watch(self, watch):
        while self.process.poll() is None:
            pids = tree(self.process.pid)
            own, program, processes = memory_kib(pids)
            second = {"s": time.monotonic() - self.began, "cpu_s": cpu_s(pids)}
            second.update(kib=own, program_kib=program, own_processes=processes)
            with contextlib.suppress(OSError, ValueError, http.client.HTTPException):
                second.update(watch())
            self.seen.append(second)
            time.sleep(1)

    def wait(self, seconds):
        """Waits for the end of the run, and ends it if that takes too long. Returns the summary as data, and the printed text."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            say(f"not done after {seconds} s: ended")
            end(self.process)
        self.watch.join(10)
        self.output.close()
        text = (self.folder / "output").read_text()
        found = sorted((self.folder / "runs").glob("*/summary.json"))
        if not found:
            sys.exit(f"throng ended with {self.process.returncode} and left no summary:\n{text}")
        self.seconds = [json.loads(line) for line in (found[-1].parent / "seconds.jsonl").read_text().splitlines()]
        return json.loads(found[-1].read_text()), text

    def close(self):
        end(self.process)


def table(rows):
    """Formats rows of cells as a Markdown table; the first row is the header."""
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[n]) for row in cells) for n in range(len(cells[0]))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in cells]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def verdict(checks):
    """Prints sentences, each with its truth. Returns the exit code."""
    checks = list(checks)
    for sentence, holds in checks:
        print("yes" if holds else " NO", "", sentence)
    return 0 if all(holds for _, holds in checks) else 1
