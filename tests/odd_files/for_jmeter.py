"""Makes result files that JMeter's -g reads: CSV with columns in JMeter's order, and all that may stand in them.

JMeter refuses columns in another order, columns that it does not know and XML; it reads time stamps only as
jmeter.save.saveservice.timestamp_format says. So there is a rule for each of these here, and for nothing else.
"""
import make

# All columns that JMeter knows, in its order, and those that its report can do without.
COLUMNS = ("timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,"
           "sentBytes,grpThreads,allThreads,URL,Filename,Latency,Encoding,SampleCount,ErrorCount,Hostname,IdleTime,"
           "Connect").split(",")
SPARE = ["dataType", "failureMessage", "sentBytes", "URL", "IdleTime", "Connect"]
MORE = ["Filename", "Encoding", "SampleCount", "ErrorCount", "Hostname"]
FORMATS = ["yyyy/MM/dd HH:mm:ss.SSS", "yyyy-MM-dd HH:mm:ss", "MM/dd/yy HH:mm:ss", "yyyy-MM-dd'T'HH:mm:ss.SSSXXX",
           "yyyyMMddHHmmss", "dd.MM.yyyy HH:mm:ss"]
LABELS = ["Login", "Search, all", 'say "hi"', "Größe 中文", "two\nlines", "a;b\tc|d", ",x", "'single'", "Total", "Login-1",
          "/a?b=1&c=<d>", " spaces ", "Transaction"]
CODES = ["500", "404", "Non HTTP response code: java.net.ConnectException", "", "200", "302"]
MESSAGES = ["OK", "two, words", 'a "quote"', "", "Non HTTP response message: Connection refused", "Not Found"]
FAILURES = ["", "expected: a,b\nseen: c", 'Test failed: text expected to contain "/x/"', "The operation lasted too long"]
RARE = 0.1


def rows_of(r, n):
    at = 1_700_000_000_000 + r.randrange(10**9)
    gap = r.choice([0, 1, 40, 400, 5000, 3_600_000])
    longest = r.choice([0, 1, 30, 900, 30_000, 2**31 - 1])
    labels = r.sample(LABELS, r.randint(1, 5))
    share = r.choice([0, 0, 0.05, 0.5, 1])
    transactions = r.random() < 0.4
    most_bytes = r.choice([0, 500, 10**6, 10**12])
    rows = []
    for _ in range(n):
        at += r.randint(0, gap)
        failed = r.random() < share
        inside = r.choice([0, 1, 3])
        message = r.choice(MESSAGES)
        label = r.choice(labels)
        if transactions and r.random() < 0.3:
            label = f"step {r.randint(1, 2)}"
            message = f"Number of samples in transaction : {inside}, number of failing samples : {int(failed and inside)}"
        rows.append({
            "timeStamp": at, "elapsed": r.randint(0, longest) if r.random() < 0.9 else 0, "label": label,
            "responseCode": r.choice(CODES) if failed else r.choice(["200", "200", ""]), "responseMessage": message,
            "threadName": f"Users {r.randint(1, 2)}-{r.randint(1, 9)}", "dataType": r.choice(["text", "bin", ""]),
            "success": ("false" if failed else "true"), "failureMessage": r.choice(FAILURES) if failed else "",
            "bytes": r.randint(0, most_bytes), "sentBytes": r.randint(0, most_bytes // 10), "grpThreads": 3,
            "allThreads": r.randint(0, 9), "URL": r.choice(["http://h/p?q=1,2", "null", ""]), "Filename": "", "Latency": r.randint(0, 50),
            "Encoding": "UTF-8", "SampleCount": r.choice([1, 1, 5]), "ErrorCount": int(failed), "Hostname": "h-1", "IdleTime": 0,
            "Connect": r.randint(0, 9),
        })
    if r.random() < RARE:
        r.shuffle(rows)
    return rows


def properties(r, form):
    props = {"sampleresult.timestamp.start": r.choice(["true", "false"])}
    if form.format:
        props["jmeter.save.saveservice.timestamp_format"] = form.format
    if r.random() < 0.2:
        props.update(zip(("aggregate_rpt_pct1", "aggregate_rpt_pct2", "aggregate_rpt_pct3"), r.choice([("50", "75", "99.9"), ("1", "90.5", "100")])))
    if r.random() < 0.2:
        props["jmeter.reportgenerator.statistic_window"] = r.choice(["10", "100", "-1"])
    if r.random() < 0.2:
        props["backend_metrics_percentile_estimator"] = r.choice(["R_1", "R_3", "R_7", "LEGACY"])
    if r.random() < RARE:
        props["jmeter.reportgenerator.sample_filter"] = r.choice(["^(Log|say|Sea|step).*", ".*[a-z].*"])
    return props


def make_file(r):
    """Bytes of a file, properties for both programs, and the delimiter."""
    form = make.Csv(r)
    form.format = r.choice(FORMATS) if r.random() < 0.3 else None
    form.heading = r.random() > RARE
    names = [name for name in COLUMNS if name not in MORE]
    if form.heading and r.random() < 0.5:
        dropped = r.sample(SPARE, r.randint(1, 4))
        added = r.sample(MORE, r.randint(0, 3))
        names = [name for name in COLUMNS if name in added or name not in dropped + MORE]
    variables = [f"variable_{n}" for n in range(r.choice([0, 0, 1, 3]))]
    form.names = names + variables
    rows = rows_of(r, 25_000 if r.random() < 0.02 else r.choice([1, 2, 3, 10, 30, 200, 1000]))
    props = properties(r, form)
    if variables and not form.heading:
        props["sample_variables"] = ",".join(variables)
    # Names of columns stand without quotation marks, those of variables with them.
    heading = form.delimiter.join(f'"{name}"' if name in variables else name for name in form.names)
    lines = ([heading] if form.heading else []) + [form.line(row) for row in rows]
    text = form.end.join(lines) + (form.end if r.random() > RARE else "")
    return text.encode(), props, form.delimiter
