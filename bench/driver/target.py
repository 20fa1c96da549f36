"""The targets: nginx with one worker on the target's CPU, and the slow server for the memory case."""
import contextlib
import http.client
import os
import re
import subprocess
import time

from place import BENCH, CACHE, PORTS, TARGET_CPU, built, found, hurry

DIR = CACHE / "target"


def _files():
    www = DIR / "www" / "shop"
    www.mkdir(parents=True, exist_ok=True)
    (DIR / "www" / "100k").write_bytes(b"b" * 102_400)
    (www / "style.css").write_text("".join(f".c{n} {{ margin: {n}px; color: #0{n % 10}{n % 7}; }}\n" for n in range(30)))
    rows = "".join(f"<li class=\"c{n}\"><a href=\"/shop/api/items/{n}\">Item {n}</a></li>\n" for n in range(60))
    (www / "index.html").write_text(
        "<!DOCTYPE html>\n<html><head><title>Shop</title><link rel=\"stylesheet\" href=\"style.css\"></head>\n<body>\n"
        "<h1>Welcome</h1>\n<form action=\"/shop/login\" method=\"post\">\n"
        "<input type=\"hidden\" name=\"csrf\" value=\"4f1c09ba77d2e855\">\n<input name=\"user\"><input name=\"password\">\n"
        f"</form>\n<ul>\n{rows}</ul>\n</body></html>\n")
    _page(DIR / "www" / "page")
    items = ",\n".join(f'{{"id":{1000 + n},"name":"Item {n}","tags":["t{n % 3}","t{n % 5}"],"stock":{n * 3}}}' for n in range(25))
    (www / "items.json").write_text(f'{{"page":1,"items":[\n{items}\n]}}\n')
    if not (DIR / "authority.pem").exists():
        _certificates()


def _certificates():
    """Creates an authority, and the server's certificate, which the authority signs."""
    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], check=True, stderr=subprocess.DEVNULL, cwd=DIR)

    new = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    openssl("req", "-x509", *new, "-days", "3650", "-subj", "/CN=Bench", "-keyout", "authority.key", "-out", "authority.pem")
    openssl("req", *new, "-subj", "/CN=localhost", "-keyout", "key.pem", "-out", "request.pem")
    (DIR / "names").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    openssl("x509", "-req", "-in", "request.pem", "-CA", "authority.pem", "-CAkey", "authority.key", "-CAcreateserial",
            "-days", "3650", "-extfile", "names", "-out", "certificate.pem")


def _page(folder):
    """Creates a page with 30 resources: four style sheets, six scripts, twenty images of 8 KiB."""
    folder.mkdir(exist_ok=True)
    sheets = [f"<link rel=\"stylesheet\" href=\"sheet{n}.css\">" for n in range(4)]
    scripts = [f"<script src=\"script{n}.js\"></script>" for n in range(6)]
    pictures = [f"<p>Picture {n}: <img src=\"picture{n}.png\" alt=\"Picture {n}\" width=\"100\" height=\"80\"></p>" for n in range(20)]
    for n in range(4):
        rules = "".join(f".c{n}-{m} {{ margin: {m}px; color: #0{m % 10}{m % 7}; }}\n" for m in range(60))
        (folder / f"sheet{n}.css").write_text(rules)
    for n in range(6):
        (folder / f"script{n}.js").write_text("".join(f"function f{n}_{m}(x) {{ return x + {m}; }}\n" for m in range(200)))
    for n in range(20):
        (folder / f"picture{n}.png").write_bytes(bytes(8192))
    text = "<p>" + "Some words that a page has besides. " * 20 + "</p>\n"
    (folder / "index.html").write_text(
        "<!DOCTYPE html>\n<html><head><title>Page</title>\n" + "\n".join(sheets + scripts) + "\n</head>\n<body>\n" + text +
        "\n".join(pictures) + "\n</body></html>\n")


def _answers():
    try:
        Status().get()
        return True
    except (OSError, http.client.HTTPException):
        return False


@contextlib.contextmanager
def nginx():
    """Runs nginx. Returns the worker's process id."""
    _files()
    conf = (BENCH / "driver" / "nginx.conf").read_text()
    # nginx's default user cannot read files in root's home folder.
    user = "user root;\n" if os.geteuid() == 0 else ""
    for name, value in {"user": user, "dir": DIR, **PORTS}.items():
        conf = conf.replace("{" + name + "}", str(value))
    (DIR / "nginx.conf").write_text(conf)
    program = found("nginx")
    if not program:
        raise SystemExit("nginx is not installed (apt-get install nginx-light)")
    master = subprocess.Popen([program, "-c", str(DIR / "nginx.conf"), "-g", "daemon off;"])
    try:
        for _ in range(100):
            time.sleep(0.05)
            if master.poll() is not None:
                raise SystemExit(f"nginx did not start; are ports {PORTS['http']} and {PORTS['https']} taken?")
            workers = open(f"/proc/{master.pid}/task/{master.pid}/children").read().split()
            if workers and _answers():
                hurry(int(workers[0]))
                yield int(workers[0])
                return
        raise SystemExit("nginx does not answer")
    finally:
        master.terminate()
        master.wait()


@contextlib.contextmanager
def slow_server(delay_ms):
    """Runs the slow server."""
    server = subprocess.Popen(["taskset", "-c", TARGET_CPU, built("slow_server"), str(PORTS["slow"]), str(delay_ms)])
    try:
        time.sleep(0.3)
        hurry(server.pid)
        yield server.pid
    finally:
        server.terminate()
        server.wait()


class Status:
    """Reads nginx's counters over one connection. The requests for the counters are subtracted."""

    def __init__(self):
        self.connection = http.client.HTTPConnection("127.0.0.1", PORTS["http"])
        self.polls = 0

    def get(self):
        """Returns the numbers of accepted connections and of served requests so far."""
        self.polls += 1
        self.connection.request("GET", "/status")
        text = self.connection.getresponse().read().decode()
        accepted, _, requests = map(int, re.search(r"\n\s*(\d+)\s+(\d+)\s+(\d+)", text).groups())
        self.waiting = int(re.search(r"Waiting: (\d+)", text)[1])
        return accepted, requests - self.polls


def waiting():
    """Returns the number of requests that the slow server holds."""
    connection = http.client.HTTPConnection("127.0.0.1", PORTS["slow"])
    connection.request("GET", "/waiting")
    return int(connection.getresponse().read())
