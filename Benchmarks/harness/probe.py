"""Measures sni-probe as scripts/install builds it, and compares the figures with their limits: scripts/bench probe [WORK…]

  one        a probe of one server, as a whole process, compared with curl and openssl s_client
  thousand   1,000 probes of healthy servers, two handshakes each: CPU time and memory
  many       10,000 probes in one run, compared with curl --parallel
  hanging    200 probes, of which 10 get no response: the time it takes
  silent     1,000 probes, of which 100 get no response from one address: the time it takes
  names      1,000 names, of which 50 are never resolved: the time it takes, by DNS and by the system's resolver
  far        servers 50 ms away, 64 probes at a time: probes per second
  lines      1,000,000 lines of standard input: memory, and the time of the first result

docs/sni-probe.md has the figures. Elapsed times mean little on a machine that has other work.
"""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from statistics import median

from . import children
from .children import BenchError, note
from .programs import BENCHMARKS, REPOSITORY, install_missing
from .servers import HOST, free_port, make_certificates, openssl, start_nginx

sys.path.insert(0, str(REPOSITORY / "scripts" / "lab.d"))
from kit import Names  # noqa: E402

ADDRESSES = [f"127.0.0.{number}" for number in range(1, 9)]

SERVER = """
    ssl_session_cache off;
    ssl_session_tickets off;
    server {{ {listen} return 200 "hello"; }}
"""


class Outcome:
    """The outcome of a process: CPU time in milliseconds, elapsed time in seconds, peak memory in MiB, and output."""

    def __init__(self, command, environment, stdin=None, codes=(0,)):
        start = time.monotonic()
        process = subprocess.Popen(
            [str(word) for word in command],
            env=children.environment_with(environment),
            stdin=stdin if stdin is not None else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # Without a function to run before `exec`: with one Python would fork, and copying its pages would count.
        )
        self.first_output = process.stdout.readline()
        self.first_after = time.monotonic() - start
        self.lines = len(self.first_output) and 1 + sum(1 for _ in process.stdout)
        process.stdout.close()
        _, status, usage = os.wait4(process.pid, 0)
        self.wall = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        self.cpu = (usage.ru_utime + usage.ru_stime) * 1000
        self.memory = usage.ru_maxrss / 1024
        if process.returncode not in codes:
            raise BenchError(f"{' '.join(map(str, command))}\n  ended with {process.returncode}")


class Bench:
    def __init__(self, options, folder):
        self.options = options
        self.folder = folder
        self.missed = []
        self.program = options.program or self.install()
        # An intermediate between leaf and root, as public authorities have one.
        ca = make_certificates(folder)
        ca.issue("middle", ["middle"], extensions="basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign")
        leaf, middle = folder / "leaf", folder / "middle"
        openssl("x509", "-req", "-in", f"{leaf}.csr", "-CA", f"{middle}.pem", "-CAkey", f"{middle}.key", "-CAcreateserial",
                "-days", 30, "-extfile", f"{leaf}.ext", "-out", f"{leaf}.pem")
        with open(f"{leaf}.pem", "a") as chain:
            chain.write(Path(f"{middle}.pem").read_text())
        self.port = free_port()
        listen = " ".join(f"listen {address}:{self.port} ssl backlog=4096;" for address in ADDRESSES)
        if not start_nginx(folder, SERVER.format(listen=listen), (ADDRESSES[-1], self.port)):
            raise BenchError(f"nginx does not start: {(folder / 'error.log').read_text().strip()}")
        self.roots = {"SSL_CERT_DIR": str(folder / "roots")}

    def install(self):
        note("bench: building (scripts/install)")
        children.run([REPOSITORY / "scripts" / "install", "--stage", self.folder / "stage", "--prefix", "/p"], timeout=3600)
        return self.folder / "stage" / "p" / "bin" / "sni-probe"

    def say(self, what, figure, bar=None, kept=True):
        """Prints a row. Without --quick a missed limit is noted."""
        if self.options.quick:
            bar, kept = None, True
        if not kept:
            self.missed.append(what)
        word = "" if bar is None else f"   limit {bar}: {'met' if kept else 'MISSED'}"
        print(f"{what:<46} {figure}{word}", flush=True)

    def probe(self, *words, **options):
        return Outcome([self.program, *words], self.roots, **options)

    def list_of(self, count, port):
        """Writes a file of this many targets, which use all servers in turn."""
        path = self.folder / f"targets-{count}-{port}"
        path.write_text("".join(f"{HOST}:{port}@{ADDRESSES[index % 8]}\n" for index in range(count)))
        return path

    # The works

    def one(self):
        target, url = f"{HOST}:{self.port}", f"https://{HOST}:{self.port}/"
        pinned = ["--resolve", f"{target}:127.0.0.1"]
        curl = ["curl", "-q", "-sS", "-o", "/dev/null", *pinned]
        bundle, root = self.folder / "bundle.pem", self.folder / "ca.pem"
        commands = {
            "sni-probe, both handshakes": ([self.program, target, "@127.0.0.1"], self.roots),
            "sni-probe --skip-default": ([self.program, target, "@127.0.0.1", "--skip-default"], self.roots),
            "sni-probe URL, both handshakes and a GET": ([self.program, url, "@127.0.0.1"], self.roots),
            "sni-probe, both handshakes, one root": ([self.program, target, "@127.0.0.1", "--ca", root], {}),
            "sni-probe --version": ([self.program, "--version"], {}),
            "curl, bundle (its default)": ([*curl, url], {"CURL_CA_BUNDLE": str(bundle)}),
            "curl, one root": ([*curl, "--cacert", root, url], {}),
            "openssl s_client, hashed roots": (
                ["openssl", "s_client", "-CApath", self.folder / "roots", "-connect", f"127.0.0.1:{self.port}",
                 "-servername", HOST],
                {},
            ),
        }
        times = {name: [] for name in commands}
        for _ in range(2 if self.options.quick else (self.options.rounds or 40)):
            for name, (command, environment) in commands.items():
                times[name].append(Outcome(command, environment).cpu)
        ours, theirs = times["sni-probe, both handshakes"], times["curl, bundle (its default)"]
        ratio = median(a / b for a, b in zip(ours, theirs))
        for name, values in times.items():
            figure = f"{median(values):5.1f} ms of CPU ({min(values):.1f} to {max(values):.1f})"
            is_ours = values is ours
            self.say(name, figure, "10 ms" if is_ours else None, not is_ours or median(values) <= 10)
        self.say("sni-probe to curl with its default", f"{ratio:.2f}", "0.6", ratio <= 0.6)
        ours, theirs = times["sni-probe, both handshakes, one root"], times["curl, one root"]
        ratio = median(a / b for a, b in zip(ours, theirs))
        self.say("sni-probe to curl, one root each", f"{ratio:.2f}", "1.15", ratio <= 1.15)

    def thousand(self):
        path = self.list_of(1000, self.port)
        for name, extra in {"1,000 probes, both handshakes": [], "1,000 probes, --skip-default": ["--skip-default"]}.items():
            runs = []
            for _ in range(1 if self.options.quick else 7):
                run = self.probe("-f", path, *extra)
                if run.lines != 1000:
                    raise BenchError(f"{run.lines} results for 1000 targets")
                runs.append(run)
            cpu, memory = median(run.cpu for run in runs) / 1000, max(run.memory for run in runs)
            lowest = min(run.cpu for run in runs) / 1000
            has_bar = not extra
            self.say(name, f"{cpu:.2f} s of CPU (least {lowest:.2f})", "1.9 s" if has_bar else None, cpu <= 1.9 or not has_bar)
            self.say("  memory", f"{memory:.0f} MiB", "64 MiB" if has_bar else None, memory < 64 or not has_bar)

    def many(self):
        count = 500 if self.options.quick else 10_000
        path, root = self.list_of(count, self.port), self.folder / "ca.pem"
        urls = self.folder / "urls"
        # Each request closes its connection, so that curl makes as many handshakes as there are targets.
        url = f"https://{HOST}:{self.port}/"
        urls.write_text("".join(f'url = "{url}?{index}"\noutput = "/dev/null"\n' for index in range(count)))
        curl = ["curl", "-q", "-sS", "--parallel", "--parallel-max", "64", "-H", "Connection: close", "--cacert", root,
                "--resolve", f"{HOST}:{self.port}:127.0.0.1", "-K", urls]
        times = {"both handshakes": [], "--skip-default": [], "curl": []}
        for _ in range(1 if self.options.quick else 5):
            times["both handshakes"].append(self.probe("-f", path, "--ca", root).cpu)
            times["--skip-default"].append(self.probe("-f", path, "--ca", root, "--skip-default").cpu)
            times["curl"].append(Outcome(curl, {}).cpu)
        for name, values in times.items():
            self.say(f"{count:,} targets, {name}", f"{median(values) / 1000:.2f} s of CPU")
        for name, most in {"both handshakes": 1.25, "--skip-default": 0.7}.items():
            ratio = median(a / b for a, b in zip(times[name], times["curl"]))
            self.say(f"  sni-probe to curl --parallel, {name}", f"{ratio:.2f}", str(most), ratio <= most)

    def silent(self):
        count, quiet = (100, 10) if self.options.quick else (1000, 100)
        self.some_silent(count, quiet, f"{count} probes, {quiet} silent on one address", 2)

    def hanging(self):
        self.some_silent(200, 10, "200 probes, 10 of them silent", 1)

    def some_silent(self, count, quiet, what, more):
        """Probes of which some get no response: all may take the time limit and a little more."""
        limit, path = 1 if self.options.quick else 5, self.folder / "silent"
        with socket.socket() as silent:
            # The kernel accepts the connections; no process reads from them.
            silent.bind(("127.0.0.9", 0))
            silent.listen(256)
            lines = [f"{HOST}:{self.port}@{ADDRESSES[index % 8]}" for index in range(count)]
            for index in range(3, count, count // quiet):
                lines[index] = f"{HOST}:{silent.getsockname()[1]}@127.0.0.9"
            path.write_text("\n".join(lines) + "\n")
            run = self.probe("-f", path, "-t", f"{limit}s", codes=(28,))
        self.say(what, f"{run.wall:.2f} s", f"{limit + more} s", run.wall <= limit + more and run.lines == count)

    def names(self):
        count, dead = (100, 5) if self.options.quick else (1000, 50)
        limit = 1 if self.options.quick else 5
        path = self.folder / "names"
        path.write_text("".join(
            f"{'dead' if index % (count // dead) == 7 else 'n'}{index}.{HOST}:{self.port}\n" for index in range(count)
        ))
        if os.geteuid() != 0:
            return note("bench: only root can have the port of DNS; names are left out")
        answer = lambda name, kind: None if name.startswith("dead") else ["127.0.0.1"] if kind == "A" else []
        Names(answer, "127.0.0.77", servers=[])
        self.names_by("by DNS", path, [self.program], ["--resolver", "dns://127.0.0.77"], (count, dead, limit))
        (self.folder / "resolv.conf").write_text("nameserver 127.0.0.77\n")
        mount = f'mount --bind {self.folder}/resolv.conf /etc/resolv.conf && exec "$@"'
        wrapped = ["unshare", "--mount", "sh", "-c", mount, "sh", self.program]
        self.names_by("by the system", path, wrapped, [], (count, dead, limit))

    def names_by(self, what, path, program, extra, counts):
        """Probes names of which some are never resolved, and checks that all others pass."""
        count, dead, limit = counts
        words = [*program, "-f", path, "--ca", self.folder / "ca.pem", "-t", f"{limit}s", "--json", *extra]
        start = time.monotonic()
        run = subprocess.run([str(word) for word in words], env=children.environment_with({}), text=True, check=False,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        wall = time.monotonic() - start
        probes = [json.loads(line) for line in run.stdout.splitlines()]
        bad = sum((probe["tls"]["version"] is None) != probe["host"].startswith("dead") for probe in probes)
        self.say(f"{count} names, {dead} not resolved, {what}", f"{wall:.2f} s, {bad} wrong verdicts", f"{limit + 2} s",
                 wall <= limit + 2 and bad == 0 and len(probes) == count)

    def far(self):
        program = self.folder / "delay"
        children.run(["go", "build", "-o", program, BENCHMARKS / "peers" / "delay.go"], {"CGO_ENABLED": "0"})
        relay = children.start([program, str(self.port), "50ms"], first=children.be_a_server, stdout=subprocess.PIPE, text=True)
        port = int(relay.stdout.readline())
        count = 200 if self.options.quick else 3000
        path = self.list_of(count, port)
        for name, extra in {"both handshakes": [], "--skip-default": ["--skip-default"]}.items():
            rates = []
            for _ in range(1 if self.options.quick else 5):
                run = self.probe("-f", path, *extra)
                if run.lines != count:
                    raise BenchError(f"{run.lines} results for {count} targets")
                rates.append(count / run.wall)
            figure = f"{median(rates):.0f} per second (best {max(rates):.0f})"
            self.say(f"50 ms away, 64 at a time, {name}", figure, "500", max(rates) >= 500)
        children.stop(relay)

    def lines(self):
        count = 20_000 if self.options.quick else 1_000_000
        with socket.socket() as closed:
            # Bound but not listening: no other program gets the port, and every connection is refused.
            closed.bind(("127.0.0.1", 0))
            port = closed.getsockname()[1]
            reading, writing = os.pipe()
            fed = []
            feeder = threading.Thread(target=self.feed, args=(writing, port, count, fed))
            feeder.start()
            run = self.probe("-f", "-", "--skip-default", stdin=reading, codes=(7,))
            os.close(reading)
            feeder.join()
        if run.lines != count:
            raise BenchError(f"{run.lines} results for {count} lines")
        self.say(f"{count:,} lines", f"{run.cpu / 1000:.1f} s of CPU, {run.wall:.1f} s")
        self.say("  memory", f"{run.memory:.0f} MiB", "128 MiB", run.memory < 128)
        self.say("  first result, before the last line is read", f"{run.first_after * 1000:.0f} ms", "yes", run.first_after < fed[0])

    def feed(self, pipe, port, count, fed):
        start = time.monotonic()
        with open(pipe, "w") as lines:
            for index in range(count):
                lines.write(f"{HOST}:{port}@127.0.{index >> 16 & 3}.{index & 0xFF or 1}\n")
        fed.append(time.monotonic() - start)


WORKS = ["one", "thousand", "many", "hanging", "silent", "names", "far", "lines"]


def measure(options, folder):
    """Returns whether all limits are kept."""
    install_missing("go")
    bench = Bench(options, folder)
    for name in options.works or WORKS:
        getattr(bench, name)()
    return not bench.missed
