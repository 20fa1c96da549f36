#!/usr/bin/env python3
"""Reads odd result files by the program itself: report, verdict, compare and -g, each a process.

    processes.py PROGRAM --count 10000 --seed 1 --jobs 2 [--jmeter HOME]

`make.py` makes the files and says what a plain reading gives. Each verb must give the same figures, or refuse the file
with the word that is expected. With --jmeter, the files are those of `for_jmeter.py`, and each is read by -g of both
programs, a Java for each: every figure of statistics.json must be the same. Prints the number of files by verb, and each
difference; ends with 1 if there is one.
"""
import argparse
import collections
import concurrent.futures
import csv
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import for_jmeter  # noqa: E402
import make  # noqa: E402

REFUSED = 2
UNDECIDED = 6
# Relative difference of doubles that were added in another order.
NEAR = 1e-12


class Wrong(Exception):
    pass


def same(what, found, expected):
    if found != expected:
        raise Wrong(f"{what}: {found}, expected {expected}")


def run(line, folder):
    ended = subprocess.run(line, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120,
                           env={**os.environ, "NO_COLOR": "1", "LC_ALL": "C.UTF-8", "TZ": "UTC"}, errors="replace")
    if ended.returncode not in (0, REFUSED, UNDECIDED) and not (line[1] == "-g" and ended.returncode == 1):
        raise Wrong(f"exit code {ended.returncode}: {ended.stderr[-300:]}")
    return ended


def refused(ended, word):
    """Whether the file is refused, by name and for the reason that is expected."""
    if word is None:
        if ended.returncode in (1, REFUSED):
            raise Wrong(f"refused: {ended.stderr[-300:]}")
        return False
    if ended.returncode not in (1, REFUSED):
        raise Wrong(f"not refused, exit code {ended.returncode}: {ended.stdout[-200:]}")
    if word not in ended.stderr:
        raise Wrong(f"refused without {word!r}: {ended.stderr[-300:]}")
    return True


def props(expected):
    return [f"-J{key}={value}" for key, value in expected["props"].items()]


def verdict(program, name, expected, folder):
    ended = run([program, "verdict", "--json", name, *props(expected)], folder)
    if refused(ended, expected.get("refused")):
        return
    said = json.loads(ended.stdout)
    same("requests read", said["read"]["requests"], expected["count"])
    for finding in said["findings"]:
        for figure in finding["evidence"]:
            if figure["metric"] == "requests" and finding["id"] == "too_few_samples":
                same("requests", figure["value"], expected["count"])
            if figure["metric"] == "errors" and finding["id"] == "errors_named":
                same("errors", figure["value"], expected["errors"])
    # Rows that are lost, or do not say which of them failed, may leave it open.
    open_end = "undecided" in said and (expected["errors"] is None or expected["lost"])
    same("exit code", ended.returncode, UNDECIDED if open_end else 0)
    if expected["errors"] is not None:
        same("errors named", any(f["id"] == "errors_named" for f in said["findings"]), expected["errors"] > 0)
    losses = " ".join(loss["en"] for loss in said["losses"])
    lost = "could not be read" in losses or "left out" in losses
    same("loss said", lost, expected["lost"])


def report(program, name, expected, folder):
    out = name + ".report"
    line = [program, "report", name, "-o", out + ".html", "--tables", out, "--markdown", out + ".md"]
    ended = run([*line, *props(expected)], folder)
    if refused(ended, expected.get("refused")):
        return
    same("exit code", ended.returncode, 0)
    with open(os.path.join(folder, out, "labels.csv"), newline="") as table:
        rows = list(csv.DictReader(table))
    if not os.path.getsize(os.path.join(folder, out + ".html")):
        raise Wrong("an empty page")
    labels = {}
    for row in rows:
        label = labels.setdefault(row["label"], [0, 0])
        label[0] += int(row["samples"])
        label[1] += int(row["failed"] or 0)
    same("samples of labels", sum(label[0] for label in labels.values()), expected["count"])
    if expected["labels"] is not None:
        wanted = {name: [value[0], value[1]] for name, value in expected["labels"].items()}
        same("labels", labels, wanted)


def compare(program, name, expected, folder):
    line = [program, "compare", name, name, "--no-report", "--json", "--anyway"]
    ended = run([*line, *props(expected)], folder)
    if refused(ended, expected.get("refused")):
        return
    same("exit code", ended.returncode, 0)
    said = json.loads(ended.stdout)
    for figure in said["comparison"]["all"]["differences"]:
        if figure["change"] not in (None, 0):
            raise Wrong(f"a file differs from itself: {figure}")


def throng_g(program, name, expected, folder):
    out = name + ".g"
    line = [program, "-g", name, "-o", out, "-Jsampleresult.timestamp.start=true"]
    ended = run([*line, *props(expected)], folder)
    word = expected.get("refused")
    if word is not None:
        # What JMeter's reader refuses it refuses in words of its own.
        if ended.returncode == 0:
            raise Wrong("not refused")
        if not ended.stderr.strip():
            raise Wrong("refused without a word")
        return None
    if ended.returncode != 0:
        if expected["jmeter"] or not ended.stderr.strip():
            raise Wrong(f"refused: {ended.stderr[-300:]}")
        return None
    with open(os.path.join(folder, out, "statistics.json")) as file:
        found = json.load(file)
    if expected["jmeter"]:
        total = found["Total"]
        same("samples", total["sampleCount"], expected["count"])
        same("errors", total["errorCount"], expected["errors"])
        mean = expected["elapsed_ms"] / expected["count"]
        if abs(total["meanResTime"] - mean) > 1e-6 * max(mean, 1):
            raise Wrong(f"mean {total['meanResTime']}, expected {mean}")
    return found


def statistics_of(line, out, folder):
    """The statistics of a program's -g; `None` and its last words where it makes no report."""
    ended = subprocess.run(line, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=600,
                           env={**os.environ, "NO_COLOR": "1", "LC_ALL": "C.UTF-8", "TZ": "UTC"}, errors="replace")
    statistics = os.path.join(folder, out, "statistics.json")
    if not os.path.exists(statistics):
        return None, (ended.stdout[-300:] + ended.stderr[-300:]).strip()
    with open(statistics) as file:
        return json.load(file), ""


def like_jmeter(found, wanted):
    """Every figure is that of JMeter. The last digit of a mean depends on the order of the additions."""
    same("labels", sorted(found), sorted(wanted))
    for label, theirs in wanted.items():
        ours = found[label]
        same(f"figures of {label!r}", sorted(ours), sorted(theirs))
        for key, value in theirs.items():
            if ours[key] == value:
                continue
            numbers = all(isinstance(one, (int, float)) for one in (ours[key], value))
            if not numbers or not abs(ours[key] - value) <= NEAR * abs(value):
                raise Wrong(f"{key} of {label!r}: {ours[key]}, in JMeter {value}")


def beside_jmeter(job):
    """A file that both programs read by -g."""
    program, seed, number, home = job
    data, given, delimiter = for_jmeter.make_file(random.Random(f"{seed}/{number}"))
    name = f"{number:05}.jtl"
    props = [f"-J{key}={value}" for key, value in given.items()]
    props.append("-Jjmeter.save.saveservice.default_delimiter=" + delimiter.replace("\t", "\\t"))
    with tempfile.TemporaryDirectory(prefix="throng-odd-") as folder:
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)
        ours, why = statistics_of([program, "-g", name, "-o", "ours", *props], "ours", folder)
        java = ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-jar", os.path.join(home, "bin/ApacheJMeter.jar")]
        theirs, their = statistics_of([*java, "-g", name, "-o", "theirs", "-j", "log", *props], "theirs", folder)
    try:
        if ours is None and theirs is None:
            return [("-g", "refused by both")], []
        if theirs is None:
            return [("-g", "refused by JMeter alone")], []
        if ours is None:
            raise Wrong(f"JMeter reads it, and Throng does not: {why}")
        like_jmeter(ours, theirs)
        return [("-g", "the same as JMeter")], []
    except (Wrong, KeyError) as error:
        return [], [f"{name}: {error} {their}\n  {json.dumps(given)}"]


def one(job):
    program, seed, number, _ = job
    data, given, found = make.make(random.Random(f"{seed}/{number}"))
    expected = {"props": given, **found}
    name, done, wrong = f"{number:05}.jtl", [], []
    with tempfile.TemporaryDirectory(prefix="throng-odd-") as folder:
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)
        kind = "refused" if "refused" in expected else "read"
        for verb in (verdict, report, compare, throng_g):
            try:
                verb(program, name, expected, folder)
                done.append((verb.__name__.replace("throng_g", "-g"), kind))
            except (Wrong, KeyError, ValueError, OSError, subprocess.TimeoutExpired) as error:
                wrong.append(f"{name}: {verb.__name__}: {type(error).__name__} {error}\n  {json.dumps(expected)[:300]}")
    return done, wrong


def main():
    asked = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    asked.add_argument("program")
    asked.add_argument("--count", type=int, default=200)
    asked.add_argument("--first", type=int, default=0)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    asked.add_argument("--jmeter", help="home of JMeter")
    asked = asked.parse_args()
    program = shutil.which(asked.program) or asked.program
    program = os.path.abspath(program)
    jobs = [(program, asked.seed, number, asked.jmeter) for number in range(asked.first, asked.first + asked.count)]
    counts, wrong = collections.Counter(), []
    with concurrent.futures.ProcessPoolExecutor(asked.jobs) as pool:
        for number, (done, differences) in enumerate(pool.map(beside_jmeter if asked.jmeter else one, jobs), 1):
            counts.update(done)
            if number % (25 if asked.jmeter else 500) == 0:
                print(f"{number} files so far, {len(wrong)} differences", flush=True)
            wrong += differences
            for difference in differences[:3]:
                print(difference, flush=True)
    for (verb, kind), count in sorted(counts.items()):
        print(f"{verb}: {count} {kind}")
    print(f"{asked.count} files, {len(wrong)} differences")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
