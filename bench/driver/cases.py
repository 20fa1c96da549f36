"""The cases, and the measurement of each kind of case."""
import os
import time
import tomllib

import database
import lag
import measure
import memory
import peers
import report
import startup
import target
import websocket
from place import BENCH, OUT, jmeter_home


def load(name):
    directory = BENCH / name
    case = tomllib.loads((directory / "case.toml").read_text())
    plan = (directory / case.get("plan", "plan.jmx")).resolve()
    return {**case, "name": name, "plan": str(plan), "directory": directory}


def names():
    return sorted(path.parent.name for path in BENCH.glob("*/case.toml"))


def closed_loop(case, options):
    """Runs every tool once per round. Each round begins with another tool."""
    names = [n for n in ["throng", *case["peers"]] if not options.only or n in options.only]
    missing = [n for n in names if not peers.available(n)]
    for name in missing:
        print(f"{name} is not installed: left out (bench/get-tools)")
        names.remove(name)
    rounds = {name: [] for name in names}
    long = case.get("long", {})
    with target.nginx() as worker:
        for n in range(options.rounds):
            for name in names[n % len(names):] + names[:n % len(names)]:
                settings = long.get(name, {})
                if n >= settings.get("rounds", options.rounds):
                    continue
                seconds = settings.get("seconds", options.seconds or case["seconds"])
                warm = settings.get("warm", case.get("warm", 3))
                measure.wait_for_quiet(options.patience)
                command = peers.ALL[name](case, seconds)
                result = measure.closed_loop(command, f"{case['name']}-{name.replace(' ', '-')}", worker, seconds, warm, case.get("tail", 1.0),
                                             directory=OUT / "work")
                if result is None:
                    print(f"{name}: nothing measured; see {OUT}/{case['name']}-{name}.out")
                    continue
                rounds[name].append(result)
                print(f"round {n} {name:10} {result['us_per_request']:8.2f} µs/request {result['requests_per_s']:9.0f}/s "
                      f"busy {result['generator_busy']:.2f} target {result['target_busy']:.2f} others {result['others_busy']:.2f} exit {result['exit']}", flush=True)
                time.sleep(0.5)
    return report.save(case, "us_per_request", rounds, case["bar"].get("peers", []))


def run(case, options):
    """Measures a case by the method for its kind."""
    if case.get("jvm"):
        # Throng loads Java classes from the JMeter home that JMeter itself runs from.
        os.environ["JMETER_HOME"] = str(jmeter_home())
    return KINDS[case["kind"]](case, options)


KINDS = {"closed loop": closed_loop, "memory": memory.run, "idle memory": memory.idle, "resident memory": memory.resident, "start-up": startup.run,
         "database": database.run, "lag": lag.run,
         "websocket echo": websocket.echoes, "websocket idle": websocket.held}
