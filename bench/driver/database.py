"""CPU per statement of a database client. The server is a separate PostgreSQL (tests/servers/postgresql), which counts statements
by a sequence.

As in the closed loop with nginx, the server runs on the target's CPU and the generator on another one. Both are measured from
/proc, in a window that excludes start and end."""
import contextlib
import os
import subprocess
import tempfile
import time

import measure
import peers
import report
from place import OUT, REPO, TARGET_CPU

SCRIPT = str(REPO / "tests" / "servers" / "postgresql")


def ask(*arguments):
    return subprocess.run([SCRIPT, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


@contextlib.contextmanager
def postgresql():
    """Runs the server on the target's CPU. Returns its folder, port and process."""
    folder = tempfile.mkdtemp(prefix="throng-postgresql-", dir="/tmp")
    os.chmod(folder, 0o755)
    own = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {int(TARGET_CPU)})
    try:
        port = ask("start", folder)
    finally:
        os.sched_setaffinity(0, own)
    try:
        yield folder, port, int(open(f"{folder}/data/postmaster.pid").readline())
    finally:
        ask("stop", folder)


def run(case, options):
    names = [n for n in ["throng", *case["peers"]] if not options.only or n in options.only]
    rounds = {name: [] for name in names}
    seconds, warm = options.seconds or case["seconds"], case["warm"]
    with postgresql() as (folder, port, server):
        for n in range(options.rounds):
            for name in names[n % len(names):] + names[:n % len(names)]:
                measure.wait_for_quiet(options.patience)
                settings = {**case, "properties": {**case.get("properties", {}), "dbport": port}}
                result = one(peers.ALL[name](settings, seconds), f"{case['name']}-{name}", folder, server, seconds, warm)
                if result is None:
                    print(f"{name}: nothing measured; see {OUT}/{case['name']}-{name}.out")
                    continue
                rounds[name].append(result)
                print(f"round {n} {name:10} {result['us_per_request']:8.2f} µs/statement {result['requests_per_s']:9.0f}/s "
                      f"busy {result['generator_busy']:.2f} target {result['target_busy']:.2f} others {result['others_busy']:.2f} exit {result['exit']}", flush=True)
    return report.save(case, "us_per_request", rounds, case["bar"]["peers"])


def one(command, log, folder, server, seconds, warm):
    """Measures one run; None if the server received no statement."""
    process = measure.start(command, log, OUT / "work")
    time.sleep(warm)

    def look():
        pids = measure.tree(process.pid)
        return (time.monotonic(), int(ask("sql", folder, "SELECT last_value FROM calls")), measure.cpu(pids),
                measure.cpu(measure.tree(server)), measure.machine_busy(), measure.rss(pids))

    a = look()
    time.sleep(max(seconds - warm - 3, 1.0))
    b = look()
    alive = process.poll() is None
    code = measure.end(process, 60)
    wall, count = b[0] - a[0], b[1] - a[1]
    if count <= 0 or not alive:
        return None
    own, its = b[2] - a[2], b[3] - a[3]
    return {
        "us_per_request": own * 1e6 / count, "requests_per_s": count / wall, "generator_busy": own / wall, "target_busy": its / wall,
        "others_busy": max(0.0, (b[4] - a[4] - own - its) / wall), "rss_mib": b[5] / 1024, "exit": code,
    }
