"""Results: one JSON file per case, and one Markdown page with all measured results."""
import json
import os
import platform
import statistics
import subprocess
import time

from place import BENCH, REALTIME, REPO, throng

RESULTS = BENCH / "results"
BUSY = 0.85
OTHERS = 0.15
# Generators of recorded rounds that new rounds do not run: k6 is under the AGPL, which the tool chain does not contain.
FORMER = ("k6",)


def machine():
    cpu = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    memory = int(open("/proc/meminfo").readline().split()[1]) // (1 << 20)
    return f"{os.cpu_count()} x {cpu}, {memory} GiB, Linux {platform.release()}"


def commit():
    """Returns the measured commit: HEAD, if the program was built after it and none of its sources is changed."""
    def git(*words):
        return subprocess.run(["git", "-C", str(REPO), *words], stdout=subprocess.PIPE, text=True).stdout.strip()

    head = git("rev-parse", "--short", "HEAD")
    built, committed = os.path.getmtime(throng()), int(git("log", "-1", "--format=%ct") or 0)
    if built < committed or git("status", "--porcelain", "--", "crates", "Cargo.lock"):
        return f"about {head}, from a working tree with changes"
    return head


def undisturbed(rounds):
    """Returns the rounds in which nothing else ran and the generator or the target was busy; all rounds if there is none.
    In the other rounds the machine was idle or shared, so CPU per request means little."""
    def good(r):
        return max(r.get("generator_busy", 1), r.get("target_busy", 1)) >= BUSY and r.get("others_busy", 0) <= OTHERS

    return [r for r in rounds if good(r)] or rounds


def median(rounds, key):
    values = [r[key] for r in undisturbed(rounds) if r.get(key) is not None]
    return statistics.median(values) if values else None


def save(case, key, rounds, peers):
    """`rounds`: name -> list of measurements. `peers`: the tools that define the limit; the best of them counts."""
    middle = {name: median(runs, key) for name, runs in rounds.items()}
    bar = [middle[p] for p in peers if middle.get(p)]
    ours = middle.get("throng")
    result = {
        "case": case["name"],
        "title": case["title"],
        "unit": case["unit"],
        "bar": case["bar"],
        "machine": machine(),
        "realtime": REALTIME["on"],
        "commit": commit(),
        "measured": time.strftime("%Y-%m-%d %H:%M", time.gmtime()) + " UTC",
        "key": key,
        "medians": middle,
        "ratio": ours / min(bar) if ours and bar else None,
        "rounds": rounds,
    }
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{case['name']}.json").write_text(json.dumps(result, indent=1) + "\n")
    page()
    return result


def verdict(result):
    limit = result["bar"].get("ratio")
    if limit is not None:
        ratio = result["ratio"]
        if ratio is None:
            return "not measured"
        return f"{ratio:.3f} x, bar {limit} x: {'met' if ratio <= limit else 'MISSED'}"
    ours = result["medians"].get("throng")
    if ours is None:
        return "not measured"
    return f"bar {result['bar']['value']}: {'met' if ours <= result['bar']['value'] else 'MISSED'}"


def table(result):
    key, lines = result["key"], []
    lines.append(f"| | {result['unit']}, median [min-max] | rounds used/run | requests/s | generator busy | target busy | others busy | RSS MiB |")
    lines.append("|---|---|---|---|---|---|---|---|")
    for name, rounds in result["rounds"].items():
        used = undisturbed(rounds)
        values = [r[key] for r in used if r.get(key) is not None]
        if not values:
            lines.append(f"| {name} | none | 0/{len(rounds)} | | | | | |")
            continue

        def cell(field, form):
            middle = median(rounds, field)
            return "" if middle is None else form.format(middle)

        lines.append(
            f"| {name}{' (no longer run)' if name in FORMER else ''} | {statistics.median(values):.2f} [{min(values):.2f}-{max(values):.2f}] | {len(values)}/{len(rounds)} | "
            f"{cell('requests_per_s', '{:.0f}')} | {cell('generator_busy', '{:.2f}')} | {cell('target_busy', '{:.2f}')} | "
            f"{cell('others_busy', '{:.2f}')} | "
            f"{cell('rss_mib', '{:.0f}')} |")
    return "\n".join(lines)


def page():
    parts = ["# Results", "", "Written by `bench/run`; figures as measured. Lower is better."]
    for file in sorted(RESULTS.glob("*.json")):
        result = json.loads(file.read_text())
        parts += ["", f"## {result['case']}: {result['title']}", "", verdict(result) + ".", "", table(result), "",
                  f"{result['machine']}; commit {result['commit']}; {result['measured']}."
                  + (" Targets and generators under the real-time scheduler." if result.get("realtime") else "")]
    (RESULTS / "README.md").write_text("\n".join(parts) + "\n")
