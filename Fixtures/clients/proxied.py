"""Judges a proxy: a client of the contract in README.md that is a known good client behind that proxy.

  proxied.py PROGRAM COMMAND      PROGRAM is tls-fixtures, whose client asks; the shell's COMMAND starts the proxy

COMMAND is run for each job, with a word HOST:PORT=ADDRESS:PORT for each server that the proxy has to know. When the proxy
listens it prints http://ADDRESS:PORT as its first line, behind the word `gateway` if the proxy is asked as the servers themselves
are. It is killed when the job is done. `proxies.py NAME` is such a command.

What comes out is judged at either end. The vector's servers see the requests. The responses are read by the client and, byte by
byte, by `read`: what a proxy passes on as it came although it may not is the contrary of what the client makes of it.
"""

import contextlib
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading

# Settings about what another end does: addresses and dialling, other proxies, parsers.
OTHERS = {"proxy", "addresses", "addressTexts", "dialling", "ech", "leniency", "limits", "decoding"}
# What comes out otherwise where messages are made anew, as RFC 9110 and RFC 9112 let a proxy do.
ANEW = {
    "head: blanks around a value": "blanks around a value are no part of it",
    "stalls: connection refused": "it is about dialling",
    "head: Trailer field": "a proxy may drop trailers, and what names them (RFC 9110, section 6.5.1)",
    "status-line: status 999": "502 is of the class that it is taken for",
    "status-line: status 600": "502 is of the class that it is taken for",
    "framing: content of GET": "a proxy may refuse it (RFC 9110, section 9.3.1)",
    "framing: stream on a used connection": "a proxy may close connections",
    "limits: as many fields as allowed": "Via is one more",
    "limits: head of the allowed size": "Via is one more",
    "limits: extensions too large": "chunks are made anew without extensions",
    "limits: extensions too large together": "chunks are made anew without extensions",
}


class Leave(Exception):
    """The job is not one for a client behind a proxy; the text says why."""


def words(job):
    """What the proxy is told of the job."""
    if any(not request["url"].lower().startswith("http:") for request in job["requests"]):
        raise Leave("it is tried with http only")
    if job["topic"] in ("routes", "eyeballs") or "stagger" in job or OTHERS & job.get("settings", {}).keys():
        raise Leave("it is about addresses, dialling, proxies or settings of a parser")
    if job["topic"] == "exchange" and {"cache", "cookies", "hsts"} & set(job.get("keep", [])):
        raise Leave("it is about what a client keeps")
    if any(request.get("method") in ("TRACE", "PURGE") for request in job["requests"]):
        raise Leave("a proxy may take TRACE and PURGE for its own")
    if job.get("vector") in ANEW:
        raise Leave(ANEW[job["vector"]])
    # A name has no dot at the end in the tables of most proxies.
    return [f"{place.replace('.:', ':')}={targets[0]}" for place, targets in job["connect"].items() if targets]


# What comes out of the proxy


class Tap:
    """Stands before the proxy and keeps what it sends, by connection."""

    def __init__(self, proxy):
        self.proxy, self.sent = proxy, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.place = "127.0.0.1:%d" % self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client = self.listener.accept()[0]
                server = socket.create_connection(self.proxy)
            except OSError:
                return
            kept = bytearray()
            self.sent.append(kept)
            for ends in ((client, server, None), (server, client, kept)):
                threading.Thread(target=self.pump, args=ends, daemon=True).start()

    def pump(self, source, sink, kept):
        try:
            while data := source.recv(1 << 16):
                if kept is not None:
                    kept += data
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            # A reset is passed on: it says that what has come is not whole.
            sink.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            sink.close()


# Other control characters may be kept (RFC 9110, section 5.5).
VALUE = rb"[^\r\n\0]*"
STATUS = re.compile(rb"HTTP/1\.[01] [0-9]{3} " + VALUE)
REQUEST = re.compile(rb"[A-Z]+ [\x21-\x7e]+ HTTP/1\.[01]")
FIELD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):(" + VALUE + rb")")
CHUNK = re.compile(rb"([0-9A-Fa-f]{1,16})(?:[\t ]*;" + VALUE + rb")?\r\n")


# Only who makes chunks has to make them right; who forwards them may leave them to the recipient (RFC 9110, section 2.2).
AS_THEY_CAME = "chunks as they came: "


def read(data, method="GET", first=STATUS):
    """Reads the first message of a connection as strictly as HTTP is written: its content, None if it is not whole or ends with the
    connection, and what is wrong with it, as far as it goes; None if nothing is."""
    status = 100
    if first is STATUS and data[:7] != b"HTTP/1."[: len(data)]:
        return None, "no status line"
    while 100 <= status < 200:
        head, end, data = data.partition(b"\r\n\r\n")
        lines = head.split(b"\r\n")
        if re.search(rb"(?<!\r)\n", head):
            return None, "a line that ends without CR"
        for expected, line in zip([first, *[FIELD] * len(lines)], lines if end else lines[:-1]):
            if not expected.fullmatch(line):
                return None, f"no line of a head: {line[:80].decode('latin-1')!r}"
        if not end:
            return None, None
        status = int(lines[0][9:12]) if first is STATUS else 0
    fields = [FIELD.fullmatch(line).groups() for line in lines[1:]]
    lengths, codings = ([value.strip() for key, value in fields if key.lower() == name] for name in (b"content-length", b"transfer-encoding"))
    if method == "HEAD" or status in (204, 304):
        return b"", None
    if lengths and codings:
        return None, "both Content-Length and Transfer-Encoding"
    if codings:
        named = b", ".join(codings)
        return read_chunks(data) if named.lower() == b"chunked" else (None, f"Transfer-Encoding: {named.decode('latin-1')}")
    if len(lengths) > 1 or lengths and not lengths[0].isdigit():
        return None, f"Content-Length: {b', '.join(lengths).decode('latin-1')}"
    if not lengths:
        return (None if first is STATUS else b""), None
    count = int(lengths[0])
    return (data[:count] if len(data) >= count else None), None


def read_chunks(data):
    content = b""
    while line := CHUNK.match(data):
        size, data = int(line[1], 16), data[line.end() :]
        if not size:
            break
        if len(data) < size + 2:
            return None, None
        if data[size : size + 2] != b"\r\n":
            return None, AS_THEY_CAME + "a chunk that does not end behind its size"
        content, data = content + data[:size], data[size + 2 :]
    else:
        return None, f"{AS_THEY_CAME}no size of a chunk: {data[:40].decode('latin-1')!r}" if b"\n" in data[:4096] else None
    while b"\n" in data:
        line, _, data = data.partition(b"\n")
        if line == b"\r":
            return content, None
        if line[-1:] != b"\r" or not FIELD.fullmatch(line[:-1]):
            return None, f"{AS_THEY_CAME}no trailer: {line[:80].decode('latin-1')!r}"
    return None, None


# The results


def of_a_proxy(result):
    """The result with what a proxy may change left out, and an answer of its own as an error."""
    if "error" in result:
        return {"error": {"text": result["error"].get("text", "")}}
    told = result["body"].encode("latin-1")
    if result.get("status") in (502, 504) or result.get("status") in (500, 503) and len(told) > 9:
        return {"error": {"text": f"{result['status']}: " + " ".join(re.sub(rb"<[^>]*>", b"", told)[:200].decode("latin-1").split())}}
    drop = {"reason", "version"} | ({"trailers"} if not result.get("trailers") else set())
    return {name: value for name, value in result.items() if name not in drop}


def judged(results, tap, job):
    """The results of the client, the first turned round if what came out is no HTTP."""
    if not tap.sent:
        raise Leave("the client refuses it, and asks no proxy")
    results = [of_a_proxy(result) for result in results]
    _, why = read(bytes(tap.sent[0]), job["requests"][0].get("method", "GET"))
    if "fold" in job.get("vector", "") and "502" in results[0].get("error", {}).get("text", ""):
        raise Leave("a proxy may answer a fold with 502")
    if why and why.startswith((AS_THEY_CAME, "Transfer-Encoding")):
        raise Leave(f"it may be passed on: {why.partition(':')[0]}")
    if why:
        text = f"the proxy passed it on: {why}"
        results[0] = {"headers": [], "body": text} if "error" in results[0] else {"error": {"text": text}}
    return results


@contextlib.contextmanager
def started(command, told):
    """The proxy while it runs: whether it is a gateway, its host and its port."""
    line = ["sh", "-c", f'exec {command} "$@"', "sh", *told]
    options = dict(stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, start_new_session=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o755)  # squid reads it as another user.
        with subprocess.Popen(line, env=os.environ | {"TMPDIR": folder}, **options) as proxy:
            try:
                first = proxy.stdout.readline().strip()
                kind, found, place = first.rpartition("http://")
                if not found:
                    raise RuntimeError(f"the proxy was not started: it printed {first!r}")
                host, _, port = place.rpartition(":")
                yield kind.strip() == "gateway", host, int(port)
            finally:
                os.killpg(proxy.pid, signal.SIGKILL)


def ask(client, job, command):
    with started(command, words(job)) as (is_gateway, host, port):
        tap = Tap((host, port))
        if is_gateway:
            job["connect"] = {name: [tap.place] if targets else [] for name, targets in job["connect"].items()}
        else:
            job["settings"] = {**job.get("settings", {}), "proxy": {"at": tap.place}}
            job["connect"][tap.place] = [tap.place]
        job.pop("proxy", None)
        client.stdin.write(json.dumps(job) + "\n")
        client.stdin.flush()
        result = json.loads(client.stdout.readline())
        tap.listener.close()
        return {**result, "results": judged(result["results"], tap, job)} if "results" in result else result


def main(program, command):
    client = subprocess.Popen([program, "client"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    codings = json.loads(client.stdout.readline())["codings"]
    name, version = (subprocess.run(["sh", "-c", f"{command} --version"], stdout=subprocess.PIPE, text=True).stdout.split() + ["?"] * 2)[:2]
    print(json.dumps({"contract": 1, "name": name, "version": version, "codings": codings}), flush=True)
    for line in sys.stdin:
        job = json.loads(line)
        try:
            result = ask(client, job, command)
        except Leave as reason:
            result = {"id": job["id"], "left": str(reason)}
        except RuntimeError as mistake:
            result = {"id": job["id"], "broken": str(mistake)}
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
