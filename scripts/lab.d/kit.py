"""What the cases of scripts/lab share: the client in a process, servers, names, certificates, a file that breaks off."""

import contextlib
import json
import os
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import threading
import time
from pathlib import Path

CLIENT, FOLDER = os.environ.get("LAB_CLIENT", ""), Path(os.environ.get("LAB_FOLDER", "/nonexistent"))
SKIPPED = 77
# Ends a program with the one that has started it.
BOUND = ["setpriv", "--pdeathsig", "KILL"]
# Users that no machine has.
ALICE, MALLORY = 61234, 61235


class Wrong(Exception):
    """What was expected, and what was seen."""


class Skipped(Exception):
    """Why the case cannot be had here."""


CASES = {}


def case(space=None, root=False, tools=()):
    """Makes a function a case, whose first lines say what must come out. It throws if that is not so.

    `root` asks for root, `tools` for commands, `space` for namespaces: "mount", or "net" for both.
    """

    def add(run):
        run.space, run.root, run.tools = space, root, tools
        CASES[run.__name__.replace("_", "-")] = run
        return run

    return add


def true(what, expected, holds, seen):
    if not holds:
        text = repr(seen)
        raise Wrong(f"{what}: expected {expected}, seen {text if len(text) < 900 else f'{text[:100]} ... {text[-100:]}'}")


def same(what, seen, expected):
    true(what, repr(expected)[:100], seen == expected, seen)


def until(what, condition, within=10):
    """Waits for a condition; that it does not come is a finding."""
    end = time.monotonic() + within
    while not condition():
        true(what, f"within {within} s", time.monotonic() < end, "nothing")
        time.sleep(0.01)


def command(*words, **more):
    done = subprocess.run(words, capture_output=True, text=True, **more)
    if done.returncode:
        raise Skipped(f"{' '.join(words[:3])}: {done.stderr.strip()}")
    return done.stdout


def in_thread(function, *arguments, for_ever=False):
    def work():
        function(*arguments)
        while for_ever:
            function(*arguments)

    threading.Thread(target=work, daemon=True).start()


class Client:
    """A process with one client. Calls run side by side: `begin` one and `end` it with its answer, or `call` for both."""

    def __init__(self, program=CLIENT, prefix=(), environment=(), **settings):
        self.process = subprocess.Popen(
            [*BOUND, *prefix, program, json.dumps(settings)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, env={"PATH": os.environ["PATH"], **dict(environment)}, cwd="/",
        )
        self.pid, self.answers, self.count = self.process.pid, {}, 0
        in_thread(self.read)

    def read(self):
        for line in self.process.stdout:
            answer = json.loads(line)
            self.answers[answer["id"]] = answer

    def begin(self, url=None, kind="fetch", **order):
        self.count += 1
        self.process.stdin.write(json.dumps({"id": self.count, "kind": kind, "url": url, **order}).encode() + b"\n")
        self.process.stdin.flush()
        return self.count

    def end(self, number, within=20):
        until("an answer of the client", lambda: number in self.answers or self.process.poll() is not None, within)
        true("the client", "alive", number in self.answers, f"ended with {self.process.poll()}")
        return self.answers[number]

    def call(self, url=None, within=20, **order):
        return self.end(self.begin(url, **order), within)

    def stop(self):
        os.kill(self.pid, signal.SIGSTOP)
        tasks = Path(f"/proc/{self.pid}/task")
        until("the client stops", lambda: {path.read_text().rpartition(") ")[2][0] for path in tasks.glob("*/stat")} == {"T"})

    def go_on(self):
        os.kill(self.pid, signal.SIGCONT)

    def kill(self):
        self.process.kill()
        self.process.wait()


def fetched(answer, body):
    """The call has succeeded with this body."""
    same("status, body, error", (answer.get("status"), answer.get("body"), answer.get("error")), (200, body, None))


def failed(answer, *reasons):
    """The call has failed with the client's own error, for one of these reasons."""
    holds = answer.get("reason") in (reasons or ("time", "tls", "connection", "another HTTPError"))
    true("the call", f"an HTTPError ({' or '.join(reasons) or 'of any kind'})", holds, answer)


def copied_client():
    """A copy of the program that other users can read; the checkout may be in somebody's home."""
    return shutil.copy(CLIENT, FOLDER / "client")


def as_user(number):
    return ["setpriv", f"--reuid={number}", f"--regid={number}", "--clear-groups", *BOUND[1:]]


def family(address):
    return socket.AF_UNIX if "/" in address else socket.AF_INET6 if ":" in address else socket.AF_INET


class Server:
    """Listens at a port of its own, or a path, and hands each connection to a function in a thread."""

    def __init__(self, serve, address="127.0.0.1", tls=None, port=0):
        self.listener, self.serve, self.tls = socket.socket(family(address)), serve, tls
        self.listener.bind(address if "/" in address else (address, port))
        self.listener.listen(4096)
        self.port = None if "/" in address else self.listener.getsockname()[1]
        in_thread(lambda: in_thread(self.attend, self.listener.accept()[0]), for_ever=True)

    def attend(self, connection):
        try:
            with self.tls.wrap_socket(connection, server_side=True) if self.tls else connection as stream:
                self.serve(stream)
        except OSError:
            pass

    def url(self, path="/", name="127.0.0.1"):
        return f"http{'s' if self.tls else ''}://{name}:{self.port}{path}"


def requests(connection):
    """The requests of a connection, one after the other: method, target and fields. A body is read after its answer."""
    buffer = b""
    while True:
        while b"\r\n\r\n" not in buffer:
            more = connection.recv(65536)
            if not more:
                return
            buffer += more
        text, buffer = buffer.split(b"\r\n\r\n", 1)
        first, *lines = text.decode("latin-1").split("\r\n")
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        yield *first.split(" ")[:2], fields
        left = int(fields.get("content-length", 0))
        while left > len(buffer):
            left -= len(buffer)
            buffer = connection.recv(65536)
            if not buffer:
                return
        buffer = buffer[left:]


def head(length, *fields, status="200 OK"):
    return "\r\n".join([f"HTTP/1.1 {status}", f"Content-Length: {length}", *fields, "", ""]).encode()


def reply(connection, body, *fields):
    connection.sendall(head(len(body), *fields) + body.encode())


def answer_ok(connection):
    for _ in requests(connection):
        reply(connection, "ok")


class Film:
    """A server with one long file that has an ETag. After `limit` bytes of it nothing more comes, unless that is None."""

    SIZE = 8 << 20

    def __init__(self):
        self.content, self.limit, self.is_standing = b"G" * self.SIZE, None, False
        self.starts, self.connections = [], []
        self.url = Server(self.serve).url("/film")

    def serve(self, connection):
        for _, _, fields in requests(connection):
            start = int(fields.get("range", "bytes=0-")[6:].rstrip("-"))
            self.starts.append(start)
            self.connections.append(connection)
            more = [f"Content-Range: bytes {start}-{self.SIZE - 1}/{self.SIZE}"] if start else []
            first = head(self.SIZE - start, 'ETag: "1"', *more, status="206 Partial Content" if start else "200 OK")
            connection.sendall(first + self.content[start:][: self.limit])
            # Not in `recv`: while a thread is in a call with it, a socket cannot be closed.
            while self.limit is not None:
                self.is_standing = True
                time.sleep(0.02)
            self.is_standing = False

    def begin(self, client, path):
        """A download that stands still at three quarters: its number, when these were sent."""
        self.limit = self.SIZE * 3 // 4
        number = client.begin(self.url, kind="download", path=str(path))
        until("most of the film is sent", lambda: self.is_standing)
        return number

    def leave_part(self, client, path, mode):
        """A partial file and its record with that mode, of a client that is killed."""
        self.begin(client, path)
        self.kill(client, path)
        for name in (f"{path}.part", f"{path}.part.info"):
            os.chmod(name, mode)

    def kill(self, client, path):
        """Kills a client in the middle of a download, when most of it is in the partial file."""
        part = Path(f"{path}.part")
        until("a partial file", lambda: part.exists() and part.stat().st_size > self.limit // 2)
        until("its record", Path(f"{part}.info").exists)
        client.kill()
        self.limit = None

    def finish(self, client, path, **order):
        """The download must succeed, with the right content."""
        same("error", client.call(self.url, kind="download", path=str(path), **order).get("error"), None)
        same("content", path.read_bytes(), self.content)


def authority(*names):
    """A root, and a certificate of it for these names: the root's file, and a context for servers."""
    (FOLDER / "request.cnf").write_text(
        "[req]\ndistinguished_name = none\n[none]\n"
        "[root]\nbasicConstraints = critical, CA:TRUE\nkeyUsage = critical, keyCertSign\nsubjectKeyIdentifier = hash\n"
        f"[leaf]\nsubjectAltName = {', '.join(f'DNS:{name}' for name in names)}\nextendedKeyUsage = serverAuth\n"
        "authorityKeyIdentifier = keyid\n"
    )
    key = ["-days", "2", "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    for name, issuer in (("root", []), ("leaf", ["-CA", "root.pem", "-CAkey", "root.key"])):
        form = ["-config", "request.cnf", "-extensions", name, "-subj", f"/CN=lab {name}", *issuer]
        command("openssl", "req", "-x509", *form, *key, "-keyout", f"{name}.key", "-out", f"{name}.pem", cwd=FOLDER)
    return str(FOLDER / "root.pem"), context(FOLDER / "leaf.pem")


def context(chain):
    result = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    result.load_cert_chain(chain, FOLDER / "leaf.key")
    return result


# In a network of the case's own.

IPV4, IPV6 = "192.0.2.1", "2001:db8:1::1"


def network(*addresses):
    """Gives the loopback interface these addresses, too: with none but 127.0.0.1 and ::1 a machine counts as offline."""
    command("ip", "link", "set", "lo", "up")
    for address in addresses:
        command("ip", "address", "add", f"{address}/{128 if ':' in address else 32}", "dev", "lo", "nodad")


CODES = {"servfail": 2, "nxdomain": 3, "large": 0}


class Names:
    """A DNS server. A function says what a question (name, "A" or "AAAA") gets: a list of addresses, one of CODES ("large": an
    answer that fits TCP only), or None for no answer at all; it may wait. The case's machine asks it, or the `servers`."""

    TYPES = {1: "A", 28: "AAAA"}

    def __init__(self, answer, address="127.0.0.1", servers=None):
        self.answer, self.asked, self.socket = answer, [], socket.socket(family(address), socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        self.socket.bind((address, 53))
        in_thread(self.serve)
        Server(self.converse, address, port=53)
        lines = "".join(f"nameserver {each}\n" for each in servers or [address])
        files = [("resolv.conf", lines), ("hosts", ""), ("nsswitch.conf", "hosts: files dns\n")]
        for name, text in files if servers != [] else ():
            if Path("/etc", name).exists():
                (FOLDER / name).write_text(text)
                command("mount", "--bind", str(FOLDER / name), os.path.realpath(f"/etc/{name}"))

    def serve(self):
        # A datagram without a question is the end.
        while (received := self.socket.recvfrom(2048))[0]:
            in_thread(self.respond, *received)
        self.socket.close()

    def close(self):
        self.socket.sendto(b"", self.socket.getsockname())

    def respond(self, question, peer):
        if reply := self.reply(question):
            with contextlib.suppress(OSError):
                self.socket.sendto(reply, peer)

    def converse(self, connection):
        while head := connection.recv(2):
            reply = self.reply(connection.recv(int.from_bytes(head, "big")), is_stream=True)
            connection.sendall(len(reply).to_bytes(2, "big") + reply)

    def reply(self, question, is_stream=False):
        labels, at = [], 12
        while question[at]:
            labels.append(question[at + 1 : at + 1 + question[at]].decode())
            at += 1 + question[at]
        number = int.from_bytes(question[at + 1 : at + 3], "big")
        name, kind, flags = ".".join(labels).lower(), self.TYPES.get(number, str(number)), 0x8180
        self.asked.append((name, kind))
        addresses = self.answer(name, kind)
        if addresses is None:
            return None
        if isinstance(addresses, str):
            flags |= CODES[addresses] | (0x200 if addresses == "large" and not is_stream else 0)
            addresses = [IPV6 if kind == "AAAA" else IPV4] if addresses == "large" and is_stream else []
        data = [socket.inet_pton(family(address), address) for address in addresses]
        records = b"".join(struct.pack(">HHHIH", 0xC00C, number, 1, 60, len(each)) + each for each in data)
        return question[:2] + struct.pack(">HHHHH", flags, 1, len(data), 0, 0) + question[12 : at + 5] + records


def control_groups(name):
    """Where a control group for the number of processes may be, in the first or the second version of them."""
    return [path / name for path in (Path("/sys/fs/cgroup/pids"), Path("/sys/fs/cgroup")) if (path / "cgroup.procs").exists()]
