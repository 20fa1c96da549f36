"""How late Throng itself is, while a hundredth of the samples run a script that keeps a processor busy.

A paced load on both CPUs; the lag is that of the HTTP requests, as the run's own summary tells it (docs/reading-results.md):
what passed between an answer's arrival at the kernel, or a sample's start, and this process getting to it."""
import json
import shutil

import measure
import peers
import report
import target
from place import OUT, throng


def run(case, options):
    rounds = {"throng": []}
    seconds = options.seconds or case["seconds"]
    runs = OUT / "runs"
    with target.nginx():
        for n in range(options.rounds):
            measure.wait_for_quiet(options.patience)
            shutil.rmtree(runs, ignore_errors=True)
            command = [throng(), "run", case["plan"], "--runs", str(runs), *peers.properties(case, seconds)]
            before = measure.machine_busy()
            process = measure.start(command, case["name"], OUT / "work", pinned=False)
            code = measure.end(process, seconds + 60)
            busy = measure.machine_busy() - before
            found = list(runs.glob("*/summary.json"))
            if not found:
                print(f"nothing measured; see {OUT}/{case['name']}.out")
                continue
            summary = json.loads(found[0].read_text())
            lag, generator = summary["lag"], summary["generator"]
            own = generator["user_s"] + generator["system_s"]
            scripted = sum(line["samples"] for line in summary["aggregate"]["lines"] if line["label"] == case["script"])
            rounds["throng"].append({
                "lag_p99_ms": lag["p99"], "lag_p50_ms": lag["p50"], "lag_p999_ms": lag["p999"], "lag_max_ms": lag["max"],
                "requests_per_s": summary["requests_per_s"], "scripts": scripted, "exit": code,
                "others_busy": max(0.0, (busy - own) / seconds),
            })
            print(f"round {n} p50 {lag['p50']} ms, p99 {lag['p99']} ms, p99.9 {lag['p999']} ms, {summary['requests']} samples, {scripted} of them scripts, "
                  f"others {rounds['throng'][-1]['others_busy']:.2f} exit {code}", flush=True)
    return report.save(case, "lag_p99_ms", rounds, [])
