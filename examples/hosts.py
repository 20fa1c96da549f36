"""Hosts for an example: network namespaces on one bridge, which is in a separate namespace. The network of the machine is not
changed, and connections in TIME_WAIT disappear with the namespaces. Needs Linux and root."""

import contextlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def throng():
    """Returns the program: $THRONG, or a release build of this checkout."""
    if given := os.environ.get("THRONG"):
        return str(Path(given).resolve())
    subprocess.run(["cargo", "build", "--release", "--quiet", "--bin", "throng"], cwd=ROOT, check=True)
    metadata = subprocess.run(["cargo", "metadata", "--format-version", "1", "--no-deps"], cwd=ROOT, check=True, capture_output=True)
    return str(Path(json.loads(metadata.stdout)["target_directory"]) / "release" / "throng")


class Network:
    """The hosts during the block. `addresses` has a list for each host, beginning with its main address. `ports` has the number of
    local ports for hosts with a small range."""

    def __init__(self, name, addresses, bits=24, ports=None, probing="generator"):
        self.addresses, self.bits, self.ports, self.probing = addresses, bits, ports or {}, probing
        self.prefix = f"{name}-{os.getpid()}-"

    def __enter__(self):
        try:
            switch = self.prefix + "switch"
            self.ip("netns", "add", switch)
            self.ip("-n", switch, "link", "add", "bridge0", "type", "bridge")
            self.ip("-n", switch, "link", "set", "bridge0", "up")
            for host in self.addresses:
                self.add(host, switch)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for name in ["switch", *self.addresses]:
            subprocess.run(["ip", "netns", "del", self.prefix + name], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def ip(self, *words):
        subprocess.run(["ip", *words], check=True)

    def add(self, host, switch):
        name = self.prefix + host
        self.ip("netns", "add", name)
        self.ip("-n", switch, "link", "add", host, "type", "veth", "peer", "name", "eth0", "netns", name)
        self.ip("-n", switch, "link", "set", host, "master", "bridge0", "up")
        for address in self.addresses[host]:
            self.ip("-n", name, "address", "add", f"{address}/{self.bits}", "dev", "eth0")
        self.ip("-n", name, "link", "set", "eth0", "up")
        self.ip("-n", name, "link", "set", "lo", "up")
        first, count = 20000, self.ports.get(host, 40000)
        with contextlib.suppress(subprocess.CalledProcessError):
            subprocess.run(self.line(host, "sysctl", "-qw", f"net.ipv4.ip_local_port_range={first} {first + count - 1}",
                                     "net.core.somaxconn=4096"), check=True)

    def line(self, host, *words):
        return ["ip", "netns", "exec", self.prefix + host, *words]

    @contextlib.contextmanager
    def program(self, host, *words, log, port=None):
        """Runs a program on that host during the block, which begins when the program listens on that port."""
        with open(log, "a") as out:
            process = subprocess.Popen(self.line(host, *words), stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
        try:
            for _ in range(100 if port else 0):
                if process.poll() is not None:
                    sys.exit(f"{words[0]} ended: {Path(log).read_text()[-500:]}")
                line = self.line(self.probing, "bash", "-c", f"exec 3<>/dev/tcp/{self.addresses[host][0]}/{port}")
                if subprocess.run(line, stderr=subprocess.DEVNULL).returncode == 0:
                    break
                time.sleep(0.1)
            else:
                if port:
                    sys.exit(f"{words[0]} does not listen on {self.addresses[host][0]}:{port}")
            yield process
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def exporter(self, host, log):
        """Runs node_exporter on that host. It also reports the number of local ports."""
        return self.program(host, "prometheus-node-exporter", f"--web.listen-address={self.addresses[host][0]}:9100", "--collector.sysctl",
                            "--collector.sysctl.include=net.ipv4.ip_local_port_range", log=log, port=9100)
