"""Simulates distant machines: network namespaces that exchange packets with a delay.

Each machine has a namespace, and so has the program that connects to them; each namespace has a TUN device. This process
forwards the packets and delays each by a separate random time, as `tc netem` does, so that packets overtake each other. It
needs only TUN from the kernel. Needs root, iproute2, and OpenSSH's server and client."""
import fcntl
import heapq
import os
import random
import select
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
NETWORK = "10.93.0."
# Ethernet's maximum packet size in bytes; one read returns one packet.
MTU = 1500


class Distance:
    """Namespaces for `machines` machines, and the namespace `self.near`. A packet takes `delay` ± `jitter` ms, uniformly distributed."""

    def __init__(self, folder, machines, delay, jitter):
        self.folder, self.delay, self.jitter = Path(folder), delay, jitter
        self.ends, self.servers, self.carried = {}, [], 0
        self.stopping = threading.Event()
        mark = f"throng-{os.getpid()}"
        self.near = f"{mark}-0"
        self.spaces, self.thread = [], threading.Thread(target=self._carry, daemon=True)
        self.addresses = [f"{NETWORK}{n + 1}" for n in range(machines + 1)]
        try:
            for number in range(machines + 1):
                self._space(number, f"{mark}-{number}")
            self._ssh()
        except BaseException:
            self.end()
            raise
        self.thread.start()

    def _space(self, number, space):
        device, address = f"thr{os.getpid() % 100000}x{number}", self.addresses[number]
        end = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(end, TUNSETIFF, struct.pack("16sH14x", device.encode(), IFF_TUN | IFF_NO_PI))
        self.ends[socket.inet_aton(address)] = end
        run = lambda *words: subprocess.run(["ip", *words], check=True)  # noqa: E731
        run("netns", "add", space)
        self.spaces.append(space)
        run("link", "set", device, "netns", space)
        run("-n", space, "link", "set", "lo", "up")
        run("-n", space, "addr", "add", f"{address}/24", "dev", device)
        run("-n", space, "link", "set", device, "mtu", str(MTU), "up")

    def _carry(self):
        """Reads packets, and writes each after its delay."""
        waiting, count, ends = [], 0, list(self.ends.values())
        while not self.stopping.is_set():
            now = time.monotonic()
            while waiting and waiting[0][0] <= now:
                _, _, to, packet = heapq.heappop(waiting)
                try:
                    os.write(to, packet)
                    self.carried += 1
                except OSError:
                    pass  # The queue is full: the packet is dropped, as on any network.
            left = max(0.0, waiting[0][0] - now) if waiting else 0.1
            for end in select.select(ends, [], [], left)[0]:
                while True:
                    try:
                        packet = os.read(end, 65536)
                    except OSError:
                        break
                    # Only IPv4 packets are forwarded, by the destination address in bytes 16 to 19.
                    to = self.ends.get(packet[16:20]) if packet[0] >> 4 == 4 else None
                    if to is not None:
                        count += 1
                        due = time.monotonic() + random.uniform(self.delay - self.jitter, self.delay + self.jitter) / 1000
                        heapq.heappush(waiting, (due, count, to, packet))

    def _ssh(self):
        """Starts an ssh server with a separate home on each machine. `self.ssh` is a client that knows the machines as m1, m2, ..."""
        sshd = shutil.which("sshd", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
        os.makedirs("/run/sshd", exist_ok=True)
        for name in ["host", "user"]:
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.folder / name], check=True)
        client = f"Host *\n  IdentityFile {self.folder}/user\n  IdentitiesOnly yes\n  UserKnownHostsFile {self.folder}/known\n" \
            "  StrictHostKeyChecking accept-new\n  LogLevel ERROR\n"
        for number, (space, address) in enumerate(zip(self.spaces, self.addresses)):
            if number == 0:
                continue
            client += f"Host m{number}\n  HostName {address}\n"
            (self.folder / f"sshd{number}.conf").write_text(
                f"ListenAddress {address}\nHostKey {self.folder}/host\nAuthorizedKeysFile {self.folder}/user.pub\nPidFile none\n"
                "UsePAM no\nUseDNS no\nStrictModes no\nPasswordAuthentication no\nPermitRootLogin prohibit-password\n"
                f"SetEnv XDG_CACHE_HOME={self.folder}/homes/m{number}\n")
            log = open(self.folder / f"sshd{number}.log", "w")
            self.servers.append(subprocess.Popen(["ip", "netns", "exec", space, sshd, "-D", "-e", "-f", self.folder / f"sshd{number}.conf"], stdout=log, stderr=log))
        (self.folder / "ssh.conf").write_text(client)
        self.ssh = self.folder / "real-ssh"
        self.ssh.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {self.folder}/ssh.conf "$@"\n')
        self.ssh.chmod(0o755)

    def round_trips(self, count=20):
        """Returns sorted times in ms of TCP handshakes with the first machine, which show that the delay has an effect."""
        program = f"""if True:
            import socket, time
            for _ in range({count}):
                began = time.monotonic()
                socket.create_connection(("{self.addresses[1]}", 22), 5).close()
                print((time.monotonic() - began) * 1000)"""
        line = ["ip", "netns", "exec", self.near, sys.executable, "-c", program]
        out = subprocess.run(line, capture_output=True, text=True, check=True).stdout
        return sorted(map(float, out.split()))

    def end(self):
        for server in self.servers:
            server.terminate()
        for server in self.servers:
            server.wait(timeout=60)
        self.stopping.set()
        if self.thread.is_alive():
            self.thread.join()
        for space in self.spaces:
            subprocess.run(["ip", "netns", "del", space])
        for end in self.ends.values():
            os.close(end)
