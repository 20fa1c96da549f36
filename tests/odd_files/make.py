#!/usr/bin/env python3
"""Makes odd result files, and says what a plain reading of each gives.

    make.py FOLDER --seed 1 --count 300

The same seed makes the same files. FOLDER/expected.jsonl has a line for each file: its name, properties, and either the
figures of its rows or a word of the refusal. Figures come from the rows that were written; those of CSV files that are
not torn are read once more with Python's csv module, and those of XML with ElementTree, to check this program.
"""
import argparse
import codecs
import csv
import gzip
import io
import json
import os
import random
import time
import xml.etree.ElementTree as ET
from xml.sax.saxutils import escape, quoteattr

os.environ["TZ"] = "UTC"
time.tzset()

COLUMNS = ("timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,"
           "sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect").split(",")
NEEDED = {"timeStamp", "elapsed"}
FORMATS = {  # Java's pattern, strftime's, and whether it is read without being named
    "yyyy/MM/dd HH:mm:ss.SSS": ("%Y/%m/%d %H:%M:%S.{ms}", True),
    "yyyy-MM-dd HH:mm:ss": ("%Y-%m-%d %H:%M:%S", True),
    "MM/dd/yy HH:mm:ss": ("%m/%d/%y %H:%M:%S", True),
    "yyyy-MM-dd'T'HH:mm:ss.SSSXXX": ("%Y-%m-%dT%H:%M:%S.{ms}Z", True),
    "yyyyMMddHHmmss": ("%Y%m%d%H%M%S", True),
    "dd.MM.yyyy HH:mm:ss": ("%d.%m.%Y %H:%M:%S", False),
    "EEE, d MMM yyyy HH:mm:ss": ("%a, %-d %b %Y %H:%M:%S", False),
}
LABELS = ["Login", "Search, all", 'say "hi"', "Größe 中文", "two\nlines", "", "a;b\tc|d", ",x", "'single'", "HTTP-Request 7"]


def rows_of(r, n):
    """Rows in the order of their ends, as a test would write them."""
    at = 1_700_000_000_000 + r.randrange(10**9)
    gap = r.choice([1, 40, 400, 5000])
    jump = r.choice([0, 0, 0, 3_600_000, 30 * 86_400_000, 400 * 86_400_000])
    labels = r.sample(LABELS, r.randint(1, 4))
    rows = []
    for i in range(n):
        at += r.randint(0, gap) + (jump if i == n // 2 else 0)
        failed = r.random() < 0.2
        message = r.choice(["OK", "two, words", 'a "quote"'])
        rows.append({
            "timeStamp": at, "elapsed": r.choice([0, 1, r.randint(0, 900), r.randint(0, 30_000)]),
            "label": r.choice(labels), "responseCode": "500" if failed else "200", "responseMessage": message,
            "threadName": f"Users 1-{r.randint(1, 9)}", "dataType": "text", "success": "false" if failed else "true",
            "failureMessage": r.choice(["", "expected: a,b\nseen: c"]) if failed else "",
            "bytes": r.randint(0, 10**6), "sentBytes": r.randint(0, 10**4), "grpThreads": 3, "allThreads": r.randint(1, 9),
            "URL": "http://h/p?q=1,2", "Latency": 0, "IdleTime": 0, "Connect": 0,
        })
    return rows


def figures(rows, has_success=True, has_label=True):
    labels = {}
    for row in rows:
        label = labels.setdefault(row["label"] if has_label else "", [0, 0, 0])
        label[0] += 1
        label[1] += row["success"].lower() != "true"
        label[2] += row["elapsed"]
    total = [sum(label[n] for label in labels.values()) for n in range(3)]
    return {"count": total[0], "errors": total[1] if has_success else None, "elapsed_ms": total[2],
            "longest_ms": max(row["elapsed"] for row in rows), "labels": labels if has_success else None}


class Csv:
    """A CSV file by its settings."""

    def __init__(self, r):
        self.r = r
        self.delimiter = r.choice([",", ",", ",", ";", "\t", "|"])
        self.end = r.choice(["\n", "\n", "\r\n"])
        names = COLUMNS[:]
        kind = r.random()
        if kind < 0.4:
            r.shuffle(names)
        if kind < 0.3:
            names = [n for n in names if n in NEEDED | {"label", "success"} or r.random() < 0.7]
        if r.random() < 0.1:
            names = [n for n in names if n != "success"]
        self.names = names
        for n in range(r.choice([0, 0, 1, 3])):
            self.names.insert(r.randint(0, len(self.names)) if kind < 0.4 else len(self.names), f"variable_{n}")
        self.quoted = r.random() < 0.2
        self.heading = not (self.names[:17] == COLUMNS and r.random() < 0.2)
        self.format = r.choice(list(FORMATS)) if r.random() < 0.3 else None
        self.props = {}
        if self.format and (not FORMATS[self.format][1] or r.random() < 0.5):
            self.props["jmeter.save.saveservice.timestamp_format"] = self.format
        self.whole_s = self.format and "SSS" not in self.format

    def cell(self, text, always=False):
        special = any(c in text for c in '"\r\n' + self.delimiter)
        return '"' + text.replace('"', '""') + '"' if special or always else text

    def time(self, ms):
        if not self.format:
            return str(ms)
        return time.strftime(FORMATS[self.format][0], time.gmtime(ms // 1000)).replace("{ms}", f"{ms % 1000:03}")

    def heading_line(self):
        return self.delimiter.join(self.cell(n, self.quoted or n.startswith("variable")) for n in self.names)

    def line(self, row):
        cells = []
        for name in self.names:
            value = self.time(row[name]) if name == "timeStamp" else str(row.get(name, "v"))
            cells.append(self.cell(value, self.quoted))
        return self.delimiter.join(cells)

    def check(self, text, rows):
        """The same with Python's reader."""
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=self.delimiter)
        read = [dict(zip(self.names, line)) for line in lines if line]
        read = read[1:] if self.heading else read
        read = [line for line in read if line["elapsed"] != "elapsed"]
        assert [int(line["elapsed"]) for line in read] == [row["elapsed"] for row in rows], "csv module"


def make_csv(r):
    form = Csv(r)
    rows = rows_of(r, r.choice([1, 2, 5, 30, 200]))
    lines = [form.line(row) for row in rows]
    kept = rows[:]
    lost = False
    jmeter = form.heading and not form.format
    fault = r.choice(["", "", "", "repeat", "blank", "torn line", "torn quote", "merged", "nul", "cut", "no end", "zero"])
    at = r.randrange(len(lines))
    torn = form.line(rows[at])
    fields = sum(1 for _ in form.names)
    if fault == "repeat" and form.heading:
        lines.insert(at, form.heading_line())
    elif fault == "blank":
        lines.insert(at, "")
    elif fault == "torn line" and fields > 3:
        # One row of which the end is missing: fewer fields, and no open quote.
        plain = form.delimiter.join(["17"] * r.randint(1, fields - 1))
        lines.insert(at + 1, plain)
        lost = True
    elif fault == "torn quote" and len(lines) > 1 and at + 1 < len(lines):
        lines.insert(at, form.delimiter.join(["17", '"Logi']))
        lost = True
    elif fault == "merged" and fields > 4 and form.heading and at + 1 < len(lines) and "\n" not in lines[at] + lines[at + 1] and '"' not in lines[at]:
        part = form.delimiter.join(torn.split(form.delimiter)[:r.randint(2, fields - 1)])
        lines[at:at + 2] = [part + lines[at + 1]]
        del kept[at:at + 2]
        lost = True
    elif fault == "nul":
        lines.insert(at + 1, "\0" * r.choice([1, 600, 5000]))
        lost = True
    if fault == "zero" and form.heading and not form.format:
        never = dict(rows[0], timeStamp=0, elapsed=0)
        lines.insert(0, form.line(never))
        lost, jmeter = True, False
    text = form.end.join(([form.heading_line()] if form.heading else []) + lines) + form.end
    if fault == "no end":
        text = text[:-len(form.end)]
    if fault in ("", "repeat", "blank", "no end"):
        form.check(text, kept)
    if fault == "cut":
        # Anywhere in the last row, before its last delimiter.
        begin = len(text) - len(form.end) - len(lines[-1])
        last = lines[-1].rfind(form.delimiter)
        cut = r.randint(1, max(1, last))
        if '"' not in lines[-1][cut:] and fields > 1:
            text = text[:begin + cut]
            kept.pop()
            lost = True
    if fault not in ("", "no end"):
        jmeter = False
    if not kept:
        return text, form.props, {"refused": ""}
    has_success, has_label = "success" in form.names, "label" in form.names
    found = figures(kept, has_success, has_label)
    found["lost"] = lost
    found["jmeter"] = jmeter and has_success and has_label
    found["delimiter"] = form.delimiter
    return text, form.props, found


def make_xml(r):
    rows = rows_of(r, r.choice([1, 2, 5, 30, 100]))
    step = r.choice(["", "", "\n", "\n  ", "\n\t"])
    names = [("t", "elapsed"), ("it", "IdleTime"), ("lt", "Latency"), ("ct", "Connect"), ("ts", "timeStamp"), ("s", "success"),
             ("lb", "label"), ("rc", "responseCode"), ("rm", "responseMessage"), ("tn", "threadName"), ("by", "bytes"),
             ("sby", "sentBytes"), ("ng", "grpThreads"), ("na", "allThreads")]
    if r.random() < 0.4:
        r.shuffle(names)
    mine = r.random() < 0.3

    def sample(row, depth=0):
        tag = r.choice(["httpSample", "sample"])
        text = [f"<{tag}"]
        for short, name in names:
            value = str(row[name])
            value = quoteattr(value, {"\n": "&#xa;"}) if r.random() < 0.5 else '"' + escape(value, {'"': "&quot;", "\n": "&#10;"}) + '"'
            text.append(f" {short}={value}")
        if mine:
            text.append(' xts="9" plug="a > b" lbx=\'t="5"\'')
        children = []
        if row["failureMessage"]:
            children.append("<assertionResult><name>a</name><failure>true</failure><error>false</error><failureMessage>"
                            + escape(row["failureMessage"]) + "</failureMessage></assertionResult>")
        if depth < 2 and r.random() < 0.2:
            children.append(sample(dict(row, elapsed=1, label="inside"), depth + 1))
        if r.random() < 0.2:
            children.append("<responseData class=\"java.lang.String\"><![CDATA[<sample t=\"1\" ts=\"1\"/>]]></responseData>")
        if r.random() < 0.2:
            children.append("<!-- <sample t=\"7\"/> --><java.net.URL>http://h/</java.net.URL>")
        if not children:
            return "".join(text) + "/>"
        inner = step + ("  " if "\n" in step else "")
        return "".join(text) + ">" + "".join(inner + child for child in children) + step + f"</{tag}>"

    def cut(text):
        # Not within a comment or CDATA, which JMeter does not write.
        while True:
            part = text[:r.randint(10, len(text) - 9)]
            if part.count("<!--") == part.count("-->") and part.count("<![CDATA[") == part.count("]]>"):
                return part

    samples = [sample(row) for row in rows]
    kept, lost = rows[:], False
    fault = r.choice(["", "", "", "no root end", "cut", "torn", "appended"])
    head = '<?xml version="1.0" encoding="UTF-8"?>' + r.choice(["", "\n"]) + '<testResults version="1.2">'
    end = step + "</testResults>" + r.choice(["", "\n"])
    if fault == "no root end":
        end = ""
    elif fault == "cut":
        samples[-1] = cut(samples[-1])
        kept.pop()
        end, lost = "", True
    elif fault == "torn" and len(rows) > 1:
        # A run that was killed, and a further one in the same file.
        at = r.randrange(len(rows) - 1)
        samples[at] = cut(samples[at]) + "\n" + head
        kept.pop(at)
        lost = True
    elif fault == "appended":
        at = r.randrange(len(rows))
        samples[at] += step + "</testResults>\n" + head
    text = head + "".join(step + sample for sample in samples) + end
    if fault == "":
        read = [sample for sample in ET.fromstring(text.encode()) if sample.tag in ("sample", "httpSample")]
        assert [int(sample.get("t")) for sample in read] == [row["elapsed"] for row in rows], "ElementTree"
    if not kept:
        return text, {}, {"refused": ""}
    found = figures(kept)
    found["lost"], found["jmeter"] = lost, False
    return text, {}, found


FOREIGN = [
    (b"", "empty"),
    (b'{"log": {"version": "1.2", "creator": {}, "entries": []}}\n', "JSON"),
    (b"metric_name,timestamp,metric_value,check,error\nhttp_reqs,1700000000,1.0,,\n", "k6"),
    (b"Type,Name,Request Count,Failure Count\nGET,/,10,0\n", "Locust"),
    (b"RUN\tsimulation\tx\t1700000000000\t \t3.9\nREQUEST\t\tr\t1\t2\tOK\t \n", "Gatling"),
    (b"This is ApacheBench, Version 2.3\n\nRequests per second: 100\n", "ab"),
    (b"Running 30s test @ http://h/\n  2 threads and 10 connections\n", "wrk"),
    (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "image"),
    (b"PK\x03\x04\x14\0\x06\0\x08\0\0\0!\0[Content_Types].xml", "zip"),
    (b"\0" * 5000, "binary"),
    (b"timeStamp,label,success\n1700000000000,a,true\n", "elapsed"),
    (b"elapsed,label,success\n5,a,true\n", "timeStamp"),
    (b"timeStamp,elapsed,label,success\nyesterday,5,a,true\n", "line 2"),
    (b"timeStamp,elapsed,label,success\n", "whole row"),
    (b'<?xml version="1.0"?>\n<jmeterTestPlan version="1.2"><hashTree/></jmeterTestPlan>\n', "test plan"),
    (b"<testsuite name='x'><testcase name='y' time='1'/></testsuite>\n", "JUnit"),
    (b"hello\nworld\n", "timeStamp"),
    (b"a,b,c\n1,2,3\n", "timeStamp"),
    (b"<!DOCTYPE html><html></html>", "HTML"),
]


def packed(r, text):
    """The bytes of a text in some encoding, perhaps compressed; and the text that is left of it."""
    encodings = [("utf-8", b""), ("utf-8", b""), ("utf-8", codecs.BOM_UTF8), ("utf-16-le", codecs.BOM_UTF16_LE),
                 ("utf-16-be", codecs.BOM_UTF16_BE), ("utf-16-le", b""), ("utf-16-be", b"")]
    encoding, mark = r.choice(encodings)
    data = mark + text.encode(encoding)
    kind = r.random()
    if kind < 0.1:
        data = gzip.compress(data, mtime=0)
    elif kind < 0.2:
        at = r.randint(0, len(data))
        data = gzip.compress(data[:at], mtime=0) + gzip.compress(data[at:], mtime=0)
    return data, encoding == "utf-8" and mark == b"" and kind >= 0.2


def make(r):
    kind = r.random()
    if kind < 0.1:
        data, why = r.choice(FOREIGN)
        if data and r.random() < 0.2:
            data = gzip.compress(data, mtime=0)
        return data, {}, {"refused": why}
    if kind < 0.12:
        data = bytes([r.choice([0, 200, 255])]) + r.randbytes(r.randint(600, 9000))
        return b"\x01\0\0" + data, {}, {"refused": "binary"}
    text, props, found = make_csv(r) if kind < 0.75 else make_xml(r)
    data, plain = packed(r, text)
    found["plain"] = plain
    if not plain:
        found["jmeter"] = False
    return data, props, found


def main():
    asked = argparse.ArgumentParser()
    asked.add_argument("folder")
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--count", type=int, default=300)
    asked = asked.parse_args()
    os.makedirs(asked.folder, exist_ok=True)
    with open(os.path.join(asked.folder, "expected.jsonl"), "w") as out:
        for n in range(asked.count):
            data, props, found = make(random.Random(f"{asked.seed}/{n}"))
            name = f"{n:05}.jtl"
            with open(os.path.join(asked.folder, name), "wb") as file:
                file.write(data)
            out.write(json.dumps({"file": name, "props": props, **found}) + "\n")


if __name__ == "__main__":
    main()
