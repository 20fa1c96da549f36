"""How late Throng itself is, while a hundredth of the samples run a script that keeps a processor busy, and while none does.

A paced load on both CPUs; the lag is that of the HTTP requests, as the run's own summary tells it (docs/reading-results.md):
what passed between an answer's arrival at the kernel, or a sample's start, and this process getting to it. On a virtual machine
that includes the time for which its host gave the processor to others ("steal"), so each round has its control: the same plan,
the Java machine loaded, of which no iteration runs a script."""
import json
import shutil

import measure
import peers
import report
import target
from place import OUT, throng

PERCENT = {"throng": 1.0, "throng, no script runs": 0.0}


def stolen():
    """Seconds that the host has taken from all processors so far."""
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
