"""Time in milliseconds from the start of a program to the arrival of its first request at the target."""
import shutil
import socket
import threading
import time

import measure
import peers
import report
from place import OUT, PORTS

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nok\n"


def first_request(command, log):
    """Returns the milliseconds until the first request line has arrived completely; None after 60 s without one."""
    door = socket.create_server(("127.0.0.1", PORTS["slow"]))
    door.settimeout(60)
    arrived = []

    def serve():
        try:
            while True:
                peer, _ = door.accept()
                if peer.recv(65536):
                    arrived.append(time.perf_counter())
                    peer.sendall(ANSWER)
                peer.close()
        except OSError:
            return

    server = threading.Thread(target=serve)
    server.start()
    began = time.perf_counter()
    process = measure.start(command, log, OUT / "work")
    measure.end(process, 60)
    whole = time.perf_counter() - began
    door.shutdown(socket.SHUT_RDWR)
    door.close()
    server.join()
    return {"ms": (arrived[0] - began) * 1000, "whole_ms": whole * 1000} if arrived else None


def run(case, options):
    rounds = {}
    commands = {
        "throng": lambda: peers.run_throng({**case, "users": 1}, 1),
        "oha": lambda: ["oha", "-n", "1", "-c", "1", "--no-tui", case["url"]],
        "jmeter": lambda: peers.run_jmeter({**case, "users": 1}, 1),
    }
    names = [n for n in ["throng", *case["peers"]] if peers.available(n) and (not options.only or n in options.only)]
    for n in range(max(options.rounds, case["rounds"])):
        for name in names:
            if n >= case.get("long", {}).get(name, {}).get("rounds", 10**6):
                continue
            shutil.rmtree(OUT / "work", ignore_errors=True)
            result = first_request(commands[name](), f"{case['name']}-{name}")
            if result:
                rounds.setdefault(name, []).append(result)
                print(f"round {n} {name:10} {result['ms']:8.1f} ms to the first request, {result['whole_ms']:8.1f} ms in all", flush=True)
    return report.save(case, "ms", rounds, [])
