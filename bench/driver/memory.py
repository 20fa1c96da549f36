"""Resident memory per user while all users wait for a response.

Every tool runs with few and with many users. The difference gives the memory of a user, without that of the program. Both are
measured while the slow server holds nearly all requests."""
import time

import measure
import peers
import report
import target
from place import OUT


def settled(command, log, users, limit_s):
    """Returns the peak resident memory in KiB while at least 97 % of the users wait, and the number of waiting users."""
    process = measure.start(command, log, OUT / "work")
    best, held, until = None, 0, time.monotonic() + limit_s
    while time.monotonic() < until and process.poll() is None:
        time.sleep(0.2)
        waiting = target.waiting()
        if waiting >= users * 0.97:
            best, held = max(best or 0, measure.rss(measure.tree(process.pid))), max(held, waiting)
    measure.end(process, 20)
    return best, held


def idle(case, options):
    """Like `run`, for users with idle connections to nginx."""
    few, many = case["few"], case["users"]
    rounds = {"throng": []}
    with target.nginx():
        for n in range(options.rounds):
            kib = []
            for users in (few, many):
                status = target.Status()
                command = peers.ALL["throng"]({**case, "users": users}, case["seconds"])
                process = measure.start(command, f"{case['name']}-{users}", OUT / "work")
                until, size = time.monotonic() + case["seconds"], None
                while size is None and time.monotonic() < until and process.poll() is None:
                    time.sleep(0.2)
                    status.get()
                    if status.waiting >= users:
                        # Waits until memory that only the handshakes needed may be released.
                        time.sleep(3)
                        size = measure.rss(measure.tree(process.pid))
                process.terminate()
                measure.end(process, 20)
                kib.append(size)
                print(f"round {n} throng {users:6} users: {size} KiB resident", flush=True)
            if None not in kib:
                rounds["throng"].append({"kib_per_user": (kib[1] - kib[0]) / (many - few),
                                         "kib_per_user_in_all": kib[1] / many, "rss_mib": kib[1] / 1024})
    return report.save(case, "kib_per_user", rounds, [])


def resident(case, options):
    """Returns the memory of the whole program while all users wait. The plan has scripts, so it is compared with JMeter."""
    users = case["users"]
    commands = {"throng": peers.run_throng, "jmeter": peers.run_jmeter_roomy}
    names = [name for name in commands if not options.only or name in options.only]
    rounds = {name: [] for name in names}
    with target.slow_server(case["delay_ms"]):
        for n in range(options.rounds):
            for name in names:
                seconds = options.seconds or case["seconds"]
                size, held = settled(commands[name](case, seconds), f"{case['name']}-{name}", users, seconds + 30)
                print(f"round {n} {name:10} {users:6} users: {size} KiB resident, {held} waiting", flush=True)
                time.sleep(2)
                if size is not None:
                    rounds[name].append({"mib": size / 1024, "rss_mib": size / 1024})
    return report.save(case, "mib", rounds, ["jmeter"])


def run(case, options):
    few, many = case["few"], case["users"]
    names = [n for n in ["throng", *case["peers"]] if peers.available(n) and (not options.only or n in options.only)]
    rounds = {name: [] for name in names}
    with target.slow_server(case["delay_ms"]):
        for n in range(options.rounds):
            for name in names[n % len(names):] + names[:n % len(names)]:
                seconds = options.seconds or case["seconds"]
                kib = []
                for users in (few, many):
                    command = peers.ALL[name]({**case, "users": users}, seconds)
                    size, held = settled(command, f"{case['name']}-{name}-{users}", users, seconds + 5)
                    kib.append(size)
                    print(f"round {n} {name:10} {users:6} users: {size} KiB resident, {held} waiting", flush=True)
                    time.sleep(2)
                if None in kib:
                    continue
                rounds[name].append({"kib_per_user": (kib[1] - kib[0]) / (many - few), "kib_per_user_in_all": kib[1] / many,
                                     "rss_mib": kib[1] / 1024})
    return report.save(case, "kib_per_user", rounds, [])
