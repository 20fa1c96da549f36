"""WebSocket cases: echo, and held connections. The target is Throng's `websocket-echo` on the target's CPU. It counts connections
and messages; CPU and memory are measured from outside, as in all cases."""
import contextlib
import http.client
import json
import resource
import subprocess
import time

import measure
import peers
import report
from place import OUT, PORTS, TARGET_CPU, hurry, target

# File descriptors of a process that are not connections of the case: files, libraries, pipes.
RESERVED = 1000


class Echo:
    """The target. Its counters are read over one connection."""

    def __init__(self):
        port = PORTS["websocket"]
        self.process = subprocess.Popen(
            ["taskset", "-c", TARGET_CPU, target(), "target", "websocket-echo", "--port", str(port), "--seconds", "900"],
            stdout=subprocess.PIPE, text=True)
        if not self.process.stdout.readline().startswith("listening on"):
            raise SystemExit(f"the target did not start; is port {port} taken?")
        hurry(self.process.pid)
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def stats(self):
        """Returns the number of open connections, and the connections opened and messages received since the start."""
        for _ in range(2):
            with contextlib.suppress(http.client.HTTPException, ConnectionError):
                self.connection.request("GET", "/stats")
                counts = json.loads(self.connection.getresponse().read())
                return counts["ws"], counts["ws_total"], counts["ws_msgs"]
            self.connection.close()
        raise SystemExit("the target does not answer")

    def settle(self):
        """Waits until the connections of the last tool are closed."""
        for _ in range(200):
            if self.stats()[0] == 0:
                return
            time.sleep(0.1)


@contextlib.contextmanager
def echo():
    target = Echo()
    try:
        yield target
    finally:
        target.process.terminate()
        target.process.wait()


def names(case, options):
    wanted = [n for n in ["throng", *case["peers"]] if not options.only or n in options.only]
    for name in [n for n in wanted if not peers.available(n)]:
        print(f"{name} is not installed: left out (bench/get-tools)")
        wanted.remove(name)
    return wanted


def echoes(case, options):
    """Measures round trips between the third second and the last: CPU of the generator, and round trips per second."""
    tools = names(case, options)
    rounds = {name: [] for name in tools}
    seconds = options.seconds or case["seconds"]
    with echo() as target:
        for n in range(options.rounds):
            for name in tools[n % len(tools):] + tools[:n % len(tools)]:
                measure.wait_for_quiet(options.patience)
                result = echo_round(target, peers.WEBSOCKET[name](case, seconds), f"{case['name']}-{name.replace(' ', '-')}", case["users"], seconds)
                target.settle()
                if result is None:
                    print(f"{name}: nothing measured; see {OUT}/{case['name']}-{name}.out")
                    continue
                rounds[name].append(result)
                print(f"round {n} {name:10} {result['us_per_trip']:8.2f} µs/trip {result['requests_per_s']:9.0f}/s "
                      f"busy {result['generator_busy']:.2f} target {result['target_busy']:.2f} others {result['others_busy']:.2f} exit {result['exit']}", flush=True)
    return report.save(case, "us_per_trip", rounds, case["bar"]["peers"])


def echo_round(target, command, log, users, seconds):
    _, opened_0, _ = target.stats()
    process = measure.start(command, log, OUT / "work")
    until = time.monotonic() + 60
    while target.stats()[1] - opened_0 < users:
        if process.poll() is not None or time.monotonic() > until:
            measure.end(process, 0)
            return None
        time.sleep(0.05)
    time.sleep(2)

    def look():
        pids = measure.tree(process.pid)
        return (time.monotonic(), target.stats()[2], measure.cpu(pids), measure.cpu([target.process.pid]), measure.machine_busy(), measure.rss(pids))

    a = look()
    time.sleep(max(seconds - 4, 1))
    b = look()
    alive = process.poll() is None
    code = measure.end(process, seconds + 30)
    wall, count = b[0] - a[0], b[1] - a[1]
    if count <= 0 or not alive:
        return None
    own, its = b[2] - a[2], b[3] - a[3]
    return {
        "us_per_trip": own * 1e6 / count,
        "requests_per_s": count / wall,
        # Round trips per second if the generator used one core without waiting.
        "trips_per_core_s": count / own,
        "generator_busy": own / wall,
        "target_busy": its / wall,
        "others_busy": max(0.0, (b[4] - a[4] - own - its) / wall),
        "rss_mib": b[5] / 1024,
        "exit": code,
    }


def held(case, options):
    """Measures the memory of a further connection, connects per second, and CPU per connect, with few and many connections."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1] - RESERVED
    few, many = case["few"], min(case["users"], limit)
    tools = names(case, options)
    rounds = {name: [] for name in tools}
    with echo() as target:
        for n in range(options.rounds):
            for name in tools[n % len(tools):] + tools[:n % len(tools)]:
                measure.wait_for_quiet(options.patience)
                sizes = {}
                for users in (few, many):
                    log = f"{case['name']}-{name}-{users}"
                    # 60 s are enough for all connections to open. The run is stopped as soon as its memory has been
                    # measured.
                    sizes[users] = held_round(target, peers.WEBSOCKET[name]({**case, "users": users}, 60), log, users)
                    target.settle()
                    if sizes[users] is None:
                        print(f"round {n} {name:8} {users:6}: not all came; see {OUT}/{log}.out", flush=True)
                        continue
                    print("round {} {:8} {:6}: {} KiB, {:.0f} connects/s, {:.1f} µs of CPU each".format(
                        n, name, users, sizes[users]["rss_kib"], sizes[users]["connects_per_s"], sizes[users]["us_per_connect"]), flush=True)
                if None in sizes.values():
                    continue
                small, large = sizes[few], sizes[many]
                rounds[name].append({
                    "kib_per_connection": (large["rss_kib"] - small["rss_kib"]) / (many - few),
                    "kib_per_connection_in_all": large["rss_kib"] / many,
                    "kib_per_connection_of_few_in_all": small["rss_kib"] / few,
                    "requests_per_s": large["connects_per_s"], "few": small, "many": large, "rss_mib": large["rss_kib"] / 1024,
                    "connections": many, "others_busy": large["others_busy"],
                })
    return report.save(case, "kib_per_connection", rounds, case["bar"]["peers"])


def held_round(target, command, log, users):
    _, opened_0, messages_0 = target.stats()
    process = measure.start(command, log, OUT / "work")
    first = full = None
    until = time.monotonic() + 75
    while time.monotonic() < until and process.poll() is None:
        _, opened, messages = target.stats()
        look = (time.monotonic(), opened - opened_0, measure.cpu(measure.tree(process.pid)), measure.machine_busy(), measure.cpu([target.process.pid]))
        if first is None:
            # Keeps the last measurement before the first connection opened, so that the start is included.
            if opened > opened_0:
                first = before
            else:
                before = look
        if opened - opened_0 >= users and messages - messages_0 >= users:
            full = look
            break
        time.sleep(0.01)
    if full is None:
        measure.end(process, 0)
        return None
    time.sleep(3)
    if "java" in command[0]:
        # Collects garbage first, so that the heap returns unused memory and only live objects count.
        subprocess.run(["jcmd", str(process.pid), "GC.run"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60)
    kib = measure.rss(measure.tree(process.pid))
    open_now = target.stats()[0]
    measure.end(process, 0)
    if open_now < users:
        return None
    wall, own = full[0] - first[0], full[2] - first[2]
    return {
        "rss_kib": kib, "connects_per_s": (full[1] - first[1]) / wall, "us_per_connect": own * 1e6 / max(full[1] - first[1], 1),
        "others_busy": max(0.0, (full[3] - first[3] - own - (full[4] - first[4])) / wall),
    }
