#!/usr/bin/env python3
"""Builds, tests and runs this package on a Mac, and writes one report.

  scripts/apple run [FILE]     writes .build/apple/report.txt, or FILE; fails if a step has failed
  scripts/apple table          prints the table of docs/Apple.md, from the newest report in docs/development/apple-reports
  scripts/apple table --write | --check

With Xcode it also builds the app of Examples/iOS, and starts it in a simulator of its own, with a server of this Mac. The home
folder, and the folder of the package, are not named in the report. docs/Apple.md asks for its text.
"""

import contextlib
import datetime
import http.server
import json
import os
import re
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "Apple.md"
REPORTS = ROOT / "docs" / "development" / "apple-reports"
WORK = ROOT / ".build" / "apple"
APP, IDENTIFIER = ROOT / "Examples" / "iOS" / "Shop.xcodeproj", "example.shop"
OLDEST_IOS, TESTS_NEED = 18, 26
# What a step may take, and the app, for which a rehearsal has less patience.
SECONDS, SECONDS_OF_APP = 3600, int(os.environ.get("APPLE_RUN_SECONDS", "600"))
STEPS = {
    "build": "`swift build`",
    "tests": "`swift test`, on macOS 26",
    "vectors": "the vectors",
    "app for the simulator": "the app of Examples/iOS, built for the simulator",
    "app for a device": "the same for a device",
    "simulator": "the app in a simulator",
}
TRIALS = {
    "client": "`HTTPClient` at a chosen address",
    "session": "a `URLProtocol` in a session",
    "objective-c": "the same from Objective-C",
    "alamofire": "the same in Alamofire's session",
    "web-view": "a web view by the local proxy",
}
REFUSALS = ["client", "session", "objective-c", "alamofire"]


class NotRun(Exception):
    """Why a step cannot be had here."""


class Failed(Exception):
    """What went wrong, in a line; what was printed is the second argument."""


# The report


class Report:
    """A line for each fact and step, and after them what the steps that failed have printed last."""

    def __init__(self):
        self.lines, self.ends, self.has_failed = ["direct-http on Apple's systems, report 1"], [], False

    def fact(self, name, value):
        self.lines.append(f"{name}: {value or 'not there'}")

    def add(self, name, outcome, printed=""):
        """An outcome begins with ok, failed or not run."""
        self.lines.append(f"step {name}: {outcome}")
        print(f"apple: {name}: {without_places(outcome)}", flush=True)
        if outcome.startswith("failed"):
            self.has_failed = True
            if printed:
                last = printed.rstrip().split("\n")[-40:]
                self.ends.append("\n".join([f"-- {name}, the end of what it has printed", *("   " + line for line in last)]))

    def step(self, name, work):
        """Runs `work`, which returns a few words, or throws `NotRun` or `Failed`. Returns whether it succeeded."""
        begin = time.monotonic()
        print(f"apple: {name} …", flush=True)
        try:
            words, outcome, printed = work(), "ok", ""
        except NotRun as reason:
            words, outcome, printed = str(reason), "not run", ""
        except Failed as failure:
            (words, printed), outcome = failure.args, "failed"
        seconds = "" if outcome == "not run" else f"{time.monotonic() - begin:.0f} s"
        self.add(name, ", ".join(filter(None, [outcome, words, seconds])), printed)
        return outcome == "ok"

    def text(self):
        return without_places("\n".join(self.lines + self.ends) + "\n")


def without_places(text):
    return text.replace(str(ROOT), ".").replace(str(Path.home()), "~")


# Commands


def said(*command):
    """What a command prints, or nothing if there is none or it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, stdin=subprocess.DEVNULL, timeout=SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def run(*command, more=None, seconds=SECONDS):
    """What a command prints; throws if it fails, or does not end."""
    try:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, errors="replace",
            cwd=ROOT, env={**os.environ, **(more or {})}, start_new_session=True,
        )
    except OSError as error:
        raise Failed(f"{command[0]}: {error.strerror}", "") from None
    try:
        printed, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        # What it has started, too.
        os.killpg(process.pid, signal.SIGKILL)
        printed, _ = process.communicate()
        raise Failed(f"no end within {seconds} s", printed) from None
    if process.returncode:
        raise Failed(f"exit status {process.returncode}", printed)
    return printed


# The steps


def main(arguments):
    if arguments[:1] == ["table"]:
        return table(arguments[1:])
    if len(arguments) > 2 or arguments[:1] != ["run"]:
        sys.exit(__doc__)
    if os.uname().sysname != "Darwin" and said("uname") != "Darwin":
        sys.exit("apple: `run` is for a Mac; the other tasks are for Linux")
    file = Path(arguments[1]) if arguments[1:] else WORK / "report.txt"
    report = Report()
    has_xcode = facts(report)
    is_built = report.step("build", build)
    report.step("tests", tests if is_built else without("the build failed"))
    report.step("vectors", vectors if is_built else without("the build failed"))
    no_xcode = without("there is no Xcode")
    has_app = report.step("app for the simulator", simulator_app if has_xcode else no_xcode)
    report.step("app for a device", device_app if has_xcode else no_xcode)
    lines = []
    tried = report.step("simulator", (lambda: simulator(lines)) if has_app else without("there is no app") if has_xcode else no_xcode)
    trials(report, lines, tried)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(report.text())
    print(f"apple: the report is {file}; please send its text, as docs/Apple.md says")
    return 1 if report.has_failed else 0


def without(reason):
    def step():
        raise NotRun(reason)

    return step


def facts(report):
    changed = " with changes" if said("git", "status", "--porcelain") else ""
    report.fact("revision", said("git", "rev-parse", "HEAD")[:12] + changed)
    report.fact("date", datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"))
    report.fact("macOS", f"{said('sw_vers', '-productVersion')} on {said('uname', '-m')}")
    version = re.search(r"Swift version (\S+)", said("swift", "--version"))
    report.fact("Swift", version and version[1])
    xcode = said("xcodebuild", "-version").replace("\n", ", ")
    report.fact("Xcode", xcode)
    report.fact("OpenSSL", said("pkg-config", "--modversion", "openssl"))
    return bool(xcode)


def build():
    run("swift", "build")
    return ""


def tests():
    version = said("sw_vers", "-productVersion")
    if int(version.split(".")[0] or 0) < TESTS_NEED:
        raise NotRun(f"they need macOS {TESTS_NEED}")
    target = f"{said('uname', '-m')}-apple-macosx{TESTS_NEED}.0"
    try:
        printed = run("swift", "test", "-Xswiftc", "-target", "-Xswiftc", target)
    except Failed as failure:
        # Each test that failed, and the sum, in place of the end.
        told = [line for line in failure.args[1].split("\n") if re.search(r"✘|error:|Fatal error", line)]
        raise Failed(failure.args[0], "\n".join(told) or failure.args[1]) from None
    sums = re.findall(r"Test run with (\d+ tests?)", printed)
    if not sums:
        raise Failed("no test has run", printed)
    return sums[-1]


def vectors():
    run("swift", "build", "-c", "release", "--product", "tls-fixtures")
    folder = run("swift", "build", "-c", "release", "--show-bin-path").strip().split("\n")[-1]
    printed = run(f"{folder}/tls-fixtures", "run")
    sums = re.findall(r"^(\d+) passed, (\d+) failed", printed, re.M)
    if not sums or sums[-1][0] == "0":
        raise Failed("no vector was judged", printed)
    return f"{sums[-1][0]} vectors"


def xcodebuild(destination, *settings):
    run("xcodebuild", "build", "-project", str(APP), "-scheme", "Shop", "-destination", destination,
        "-derivedDataPath", str(WORK / "derived"), *settings)
    return ""


def simulator_app():
    return xcodebuild("generic/platform=iOS Simulator")


def device_app():
    return xcodebuild("generic/platform=iOS", "CODE_SIGNING_ALLOWED=NO")


# The simulator


def simulator(lines):
    """Starts the app in a new simulator, which trusts the server's root, and collects what it prints."""
    app = WORK / "derived" / "Build" / "Products" / "Debug-iphonesimulator" / "Shop.app"
    if not app.is_dir():
        raise Failed(f"there is no {app}", "")
    kind, runtime, words = newest_phone()
    device = run("xcrun", "simctl", "create", "direct-http-trial", kind, runtime).strip()
    try:
        run("xcrun", "simctl", "bootstatus", device, "-b")
        run("xcrun", "simctl", "install", device, str(app))
        with server() as (port, root):
            run("xcrun", "simctl", "keychain", device, "add-root-cert", str(root))
            environment = {
                "SHOP_RIGHT": f"https://{RIGHT}:{port}/", "SHOP_WRONG": f"https://{WRONG}:{port}/",
                "SHOP_MAP": f"{RIGHT}:{port}:127.0.0.1 {WRONG}:{port}:127.0.0.1", "SHOP_ROOT": root.read_text(),
            }
            # simctl hands variables with this prefix to the app.
            more = {f"SIMCTL_CHILD_{name}": value for name, value in environment.items()}
            printed = ""
            try:
                printed = run("xcrun", "simctl", "launch", "--console", device, IDENTIFIER, more=more, seconds=SECONDS_OF_APP)
            except Failed as failure:
                printed = failure.args[1]
                raise
            finally:
                lines += re.findall(r"^trial (.*)$", printed, re.M)
            if "ended" not in lines:
                raise Failed("the app ended before its trials", printed)
    finally:
        said("xcrun", "simctl", "shutdown", device)
        said("xcrun", "simctl", "delete", device)
    return words


def newest_phone():
    """The kind of an iPhone, and the newest system, that simulators here can have."""
    try:
        listed = json.loads(run("xcrun", "simctl", "list", "devices", "available", "--json"))["devices"]
    except (ValueError, KeyError):
        raise Failed("simctl lists no devices", "") from None
    found = []
    for runtime, devices in listed.items():
        version = re.search(r"\.iOS-(\d+)-(\d+)", runtime)
        phones = [device for device in devices if "iPhone" in device.get("name", "")]
        if version and int(version[1]) >= OLDEST_IOS and phones:
            found.append(((int(version[1]), int(version[2])), runtime, phones[-1]))
    if not found:
        raise NotRun(f"there is no simulator of an iPhone with iOS {OLDEST_IOS} or newer")
    version, runtime, phone = max(found, key=lambda one: one[0])
    return phone["deviceTypeIdentifier"], runtime, f"{phone['name']}, iOS {version[0]}.{version[1]}"


RIGHT, WRONG = "right.shop.test", "wrong.shop.test"
# Apple's systems refuse a certificate that is valid for long.
CERTIFICATES = f"""
[req]
prompt = no
distinguished_name = name
[name]
CN = direct-http trial
[root]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign
subjectKeyIdentifier = hash
[server]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectAltName = DNS:{RIGHT}
authorityKeyIdentifier = keyid
"""


@contextlib.contextmanager
def server():
    """A server of one page, whose certificate is for the right name, until the block ends: its port and its root."""
    with tempfile.TemporaryDirectory() as folder:
        root = make_certificates(Path(folder))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(f"{folder}/server.pem", f"{folder}/server.key")
        with Server(("127.0.0.1", 0), Page) as listener:
            # The handshake is the thread's of the connection.
            listener.socket = context.wrap_socket(listener.socket, server_side=True, do_handshake_on_connect=False)
            thread = threading.Thread(target=listener.serve_forever)
            thread.start()
            try:
                yield listener.server_port, root
            finally:
                listener.shutdown()
                thread.join()


def make_certificates(folder):
    (folder / "names").write_text(CERTIFICATES)
    common = ("-config", f"{folder}/names", "-newkey", "rsa:2048", "-nodes")
    run("openssl", "req", *common, "-x509", "-extensions", "root", "-days", "30", "-keyout", f"{folder}/root.key",
        "-out", f"{folder}/root.pem")
    run("openssl", "req", *common, "-keyout", f"{folder}/server.key", "-out", f"{folder}/request.pem")
    run("openssl", "x509", "-req", "-in", f"{folder}/request.pem", "-CA", f"{folder}/root.pem", "-CAkey", f"{folder}/root.key",
        "-set_serial", "2", "-days", "30", "-extfile", f"{folder}/names", "-extensions", "server", "-out", f"{folder}/server.pem")
    return folder / "root.pem"


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        """A client that refuses the certificate ends the connection."""


class Page(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "6")
        self.send_header("Content-Type", "text/plain")
        self.end_headers()
        self.wfile.write(b"hello\n")

    def log_message(self, *_):
        pass


def trials(report, lines, has_ended):
    told = dict(line.split(": ", 1) for line in lines if ": " in line)
    for name in [name for way in TRIALS for name in ([way, f"{way} refuses"] if way in REFUSALS else [way])]:
        outcome = told.get(name, "failed, the app did not tell" if lines or has_ended else "not run")
        report.add(f"trial {name}", outcome if re.match(r"(ok|failed)\b", outcome) or not lines else f"failed, {outcome!r}")


# The table of docs/Apple.md


def table(arguments):
    made = "\n".join(rows(newest()))
    text = PAGE.read_text()
    found = re.search(r"^\| on a Mac, by `scripts/apple run` \|.*\n(?:\|.*\n)+", text, re.M)
    if not found:
        sys.exit("docs/Apple.md has no place for the table")
    if arguments == ["--write"]:
        PAGE.write_text(text.replace(found[0], made + "\n"))
    elif arguments == ["--check"]:
        if found[0] != made + "\n":
            sys.exit("docs/Apple.md: the table is not that of the newest report: scripts/apple table --write")
    else:
        print(made)
    return 0


def newest():
    """The lines of the newest report; none if there is no report."""
    reports = [lines_of(path.read_text()) for path in sorted(REPORTS.glob("*.txt"))]
    return max(reports, key=lambda report: report["date"], default={})


def lines_of(text):
    return dict(line.split(": ", 1) for line in text.split("\n") if re.match(r"[\w -]+: ", line) and not line.startswith("--"))


def rows(report):
    where = "no report yet"
    if report:
        where = f"{report['date']}: macOS {report['macOS']}, Swift {report['Swift']}, Xcode {report['Xcode']}, revision {report['revision']}"
    yield f"| on a Mac, by `scripts/apple run` | {where} |"
    yield "|---|---|"
    for name, words in STEPS.items():
        yield f"| {words} | {report.get(f'step {name}', 'not run')} |"
    for name, words in TRIALS.items():
        yield f"| {words} | {short(report.get(f'step trial {name}', 'not run'))} |"
    outcomes = [short(report.get(f"step trial {name} refuses", "not run")) for name in REFUSALS]
    yield f"| each of the first four at a wrong certificate: refused | {outcomes[0] if len(set(outcomes)) == 1 else ', '.join(outcomes)} |"


def short(outcome):
    return outcome.split(",")[0].split(":")[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
