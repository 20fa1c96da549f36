"""The command line of every generator. A case refers to generators by name."""
import subprocess

from place import BENCH, CACHE, OUT, PORTS, REPO, boost, built, found, jmeter_home, throng

JVM = ["java", "-Xms1g", "-Xmx1g", "-XX:MaxMetaspaceSize=256m", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=100",
       "-XX:G1ReservePercent=20", "-Djava.security.egd=file:/dev/urandom"]

# JMeter 5.6.3 logs a warning for every response that sets a cookie. Suppressing the warning keeps its cost out of the
# comparison.
QUIET = "-Lorg.apache.jmeter.protocol.http.sampler.HTTPSamplerBase=ERROR"


def properties(case, seconds):
    own = {name: str(value).replace("{target}", str(CACHE / "target")) for name, value in case.get("properties", {}).items()}
    return [f"-J{name}={value}" for name, value in {"users": case["users"], "seconds": seconds, **own}.items()]


def run_throng(case, seconds):
    result = OUT / "throng.jtl"
    result.unlink(missing_ok=True)
    rows = ["-l", str(result)] if case.get("rows") else []
    own = [f"-J{name}={value}" for name, value in case.get("throng", {}).items()]
    return [throng(), "-n", "-t", case["plan"], *rows, *properties(case, seconds), *own]


def run_throng_without(case, seconds):
    """Returns the command for the second plan of the case, which lacks the compared feature."""
    return run_throng({**case, "plan": str(BENCH / case["name"] / "without.jmx"), "throng": {}}, seconds)


def run_throng_unchecked(case, seconds):
    """Returns the command without the properties of the case, so that all certificates are accepted."""
    return run_throng({**case, "properties": {}}, seconds)


def run_jmeter(case, seconds):
    result = OUT / "jmeter.jtl"
    result.unlink(missing_ok=True)
    rows = ["-l", str(result)] if case.get("rows") else []
    plan, own = case["plan"], case.get("jmeter", {})
    if "script" in case:
        plan = str((BENCH / case["name"] / case["script"]).resolve())
        own = {"user.classpath": sample_jar(), **own}
    return [*JVM, "-jar", str(jmeter_home() / "bin" / "ApacheJMeter.jar"), "-n", "-t", plan,
            *rows, "-j", str(OUT / "jmeter.log"), QUIET, *properties(case, seconds), *(f"-J{name}={value}" for name, value in own.items())]


def sample_jar():
    """Returns the plug-in that scripts call to sign and encrypt; builds it if its source is newer."""
    folder = REPO / "examples" / "04-mobile-gateway" / "plugin"
    jar = folder / "target" / "mgs-sample.jar"
    source = folder / "src" / "dev" / "throng" / "example" / "mgs" / "Mgs.java"
    if not jar.exists() or jar.stat().st_mtime < source.stat().st_mtime:
        subprocess.run([str(folder / "build")], check=True, stdout=subprocess.DEVNULL)
    return str(jar)


def run_throng_plain(case, seconds):
    """Returns the command without the properties of the case for Throng, so that requests are not signed."""
    return run_throng({**case, "throng": {}}, seconds)


def run_jmeter_roomy(case, seconds):
    """Returns the command of JMeter with a heap for thousands of users, as a tester would configure it."""
    command = run_jmeter(case, seconds)
    return [command[0], "-Xms1g", "-Xmx8g", *command[3:]]


def run_wrk(case, seconds):
    close = ["-H", "Connection: close"] if case.get("close") else []
    return ["wrk", "-t1", f"-c{case['users']}", f"-d{seconds}s", "--timeout", "60s", *close, case["url"]]


def run_oha(case, seconds):
    return ["oha", "-c", str(case["users"]), "-z", f"{seconds}s", "--no-tui", "--insecure", "--http-version", "1.1",
            *(["--disable-keepalive"] if case.get("close") else []), case["url"]]


def run_bombardier(case, seconds):
    close = ["-H", "Connection: close"] if case.get("close") else []
    return ["bombardier", "-c", str(case["users"]), "-d", f"{seconds}s", "-k", "-p", "r", "-t", "30s", *close, case["url"]]


def run_bare_loop(case, seconds):
    path = "/" + case["url"].split("/", 3)[3]
    return [built("bare_loop"), str(PORTS["http"]), path, str(case["users"]), str(seconds)]


def websocket_throng(case, seconds):
    return [throng(), "-n", "-t", case["plan"], *properties(case, seconds), f"-Jport={PORTS['websocket']}"]


def websocket_jmeter(case, seconds):
    # JMeter needs a thread per connection, so stacks are small and the heap is large enough for all users.
    return ["java", "-Xms512m", "-Xmx6g", "-Xss256k", *JVM[3:], "-jar", str(jmeter_home() / "bin" / "ApacheJMeter.jar"), "-n", "-t", case["plan"],
            "-j", str(OUT / "jmeter.log"), *properties(case, seconds), f"-Jport={PORTS['websocket']}"]


def websocket_bare_loop(case, seconds):
    return [built("websocket_loop"), str(PORTS["websocket"]), str(case["users"]), str(seconds), str(case["size"])]


def websocket_beast(case, seconds):
    return [built("websocket_beast"), str(PORTS["websocket"]), str(case["users"]), str(seconds), str(case["size"])]


ALL = {
    "throng": run_throng,
    "throng unchecked": run_throng_unchecked,
    "throng without": run_throng_without,
    "throng plain": run_throng_plain,
    "wrk": run_wrk,
    "oha": run_oha,
    "bombardier": run_bombardier,
    "bare loop": run_bare_loop,
    "jmeter": run_jmeter,
}


WEBSOCKET = {
    "throng": websocket_throng,
    "beast": websocket_beast,
    "bare loop": websocket_bare_loop,
    "jmeter": websocket_jmeter,
}


def available(name):
    """Returns true if a peer can run on this machine."""
    if name == "beast":
        return boost()
    return name in ("throng", "throng unchecked", "throng without", "throng plain", "bare loop", "jmeter") or found(name) is not None
