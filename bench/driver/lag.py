"""Measures the lag of Throng while one in a hundred samples runs a script that keeps a processor busy, and while none does.

The load is paced and uses both CPUs. The lag of the HTTP requests comes from the run's summary (docs/reading-results.md): the
time from the arrival of a response at the kernel, or from the due start of a sample, until this process handles it. On a virtual
machine it includes the time for which the host gave the processor to others ("steal"). So each round has a control: the same
plan with the JVM loaded, in which no iteration runs a script."""
import json
import shutil

import measure
import peers
import report
import target
from place import OUT, throng

PERCENT = {"throng": 1.0, "throng, no script runs": 0.0}


def stolen():
    """Returns the seconds that the host has taken from all processors so far."""
    with open("/proc/stat") as file:
        return int(file.readline().split()[8]) / 100


def once(case, seconds, percent):
    runs = OUT / "runs"
    shutil.rmtree(runs, ignore_errors=True)
    command = [throng(), "run", case["plan"], "--runs", str(runs), *peers.properties(case, seconds), f"-Jpercent={percent}"]
    before, stolen_before = measure.machine_busy(), stolen()
    process = measure.start(command, case["name"], OUT / "work", pinned=False)
    code = measure.end(process, seconds + 60)
    busy = measure.machine_busy() - before
    found = list(runs.glob("*/summary.json"))
    if not found:
        print(f"nothing measured; see {OUT}/{case['name']}.out")
        return None
    summary = json.loads(found[0].read_text())
    lag, generator = summary["lag"], summary["generator"]
    own = generator["user_s"] + generator["system_s"]
    scripted = sum(line["samples"] for line in summary["aggregate"]["lines"] if line["label"] == case["script"])
    return {
        "lag_p99_ms": lag["p99"], "lag_p50_ms": lag["p50"], "lag_p999_ms": lag["p999"], "lag_max_ms": lag["max"],
        "requests_per_s": summary["requests_per_s"], "scripts": scripted, "exit": code,
        "others_busy": max(0.0, (busy - own) / seconds), "stolen_s": stolen() - stolen_before,
    }


def run(case, options):
    rounds = {name: [] for name in PERCENT}
    seconds = options.seconds or case["seconds"]
    with target.nginx():
        for n in range(options.rounds):
            for name, percent in PERCENT.items():
                measure.wait_for_quiet(options.patience)
                measured = once(case, seconds, percent)
                if measured is None:
                    continue
                rounds[name].append(measured)
                print(f"round {n} {name}: p50 {measured['lag_p50_ms']} ms, p99 {measured['lag_p99_ms']} ms, p99.9 {measured['lag_p999_ms']} ms, "
                      f"{measured['scripts']} scripts, stolen by the host {measured['stolen_s']:.2f} s, others {measured['others_busy']:.2f} "
                      f"exit {measured['exit']}", flush=True)
    return report.save(case, "lag_p99_ms", rounds, [])
