"""The contract of README.md for clients in Python and for commands that Python drives.

An adapter calls `serve` with a description and a function. The function takes a job and returns another function,
which makes one request and returns its result. It raises `Leave` if the client cannot do the job. Any other exception is
a mistake of the adapter, which the runner reports as one.
"""

import contextlib
import ipaddress
import json
import os
import re
import signal
import socket
import ssl
import sys
import time
import traceback

FOLDER = os.path.dirname(os.path.abspath(__file__))


class Leave(Exception):
    """The client cannot do the job; the text says why."""


class Deadline(BaseException):
    """A request took longer than the job allows. No client catches it by accident."""


class Clock:
    """Stands for the module `time` in a module that reads the time of day."""

    now = None

    @classmethod
    def time(cls):
        return time.time() if cls.now is None else cls.now

    def __getattr__(self, name):
        return getattr(time, name)


def serve(description, open_client):
    """Answers the jobs of standard input, one after the other."""
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name in (
            "SSL_CERT_FILE",
            "SSL_CERT_DIR",
            "REQUESTS_CA_BUNDLE",
            "CURL_CA_BUNDLE",
        ):
            del os.environ[name]
    output = open(os.dup(1), "w", encoding="utf-8", newline="\n")
    os.dup2(2, 1)  # What a library prints must not be taken for a result.
    write = lambda value: (output.write(json.dumps(value) + "\n"), output.flush())
    write({"contract": 1, **description})
    for line in sys.stdin.buffer:
        job = json.loads(line)
        try:
            write({"id": job["id"], "results": answer(job, open_client)})
        except Leave as reason:
            write({"id": job["id"], "left": str(reason)})
        except Exception as mistake:
            traceback.print_exc()
            write({"id": job["id"], "broken": f"{type(mistake).__name__}: {printable(mistake)}"})


def answer(job, open_client):
    with contextlib.ExitStack() as stack:
        job["close"] = stack.callback
        send = open_client(job)
        results = []
        try:
            for request in job["requests"]:
                if "time" in job:
                    Clock.now = job["time"] + request.get("after", 0)
                results.append(send(request))
        finally:
            Clock.now = None  # A job may also be left out in the middle.
        return results


# What a client can do


def require(job, settings=(), keep=(), time=False, stream=True, schemes=("http", "https")):
    """Leaves the job out if it asks for more than these."""
    allowed = {"addresses", *settings}
    for name, value in job.get("settings", {}).items():
        if name == "redirects":
            for inner in value:
                if "redirects." + inner not in allowed:
                    raise Leave(f"it has no setting for redirects like `{inner}`")
        elif name == "follow" and not value and "follow" not in allowed:
            continue
        elif name not in allowed:
            raise Leave(REASONS.get(name, f"it has no setting like `{name}`"))
    for name in job.get("keep", []):
        if name not in keep:
            raise Leave(f"it keeps no {NOUNS.get(name, name)}")
    if "time" in job and not time:
        raise Leave("its clock cannot be set")
    for request in job["requests"]:
        if "upgrade" in request:
            raise Leave("it switches to no other protocol")
        if request.get("stream") and not stream:
            raise Leave("it cannot send a stream")
        if request["url"].partition(":")[0].lower() not in schemes:
            raise Leave(f"it is tried with {' and '.join(schemes)} only")


def require_cache(job):
    """Leaves out all jobs but those about a cache, for a cache that is in front of a client with a row of its own."""
    if "cache" not in job.get("keep", []):
        raise Leave("it is tried as a cache only")
    require(job, keep={"cache"}, time=True)


def require_events(job):
    """Leaves out all jobs but those about server-sent events, for what reads them on top of a client with its own row."""
    if not job.get("settings", {}).get("events"):
        raise Leave("it is tried with event streams only")
    require(job, settings={"events"})


NOUNS = {
    "connections": "connections between requests",
    "sessions": "TLS sessions",
    "hsts": "list of hosts that want TLS",
}
REASONS = {
    "events": "it reads no event streams",
    "follow": "it follows no redirects",
    "decode": "it removes no content codings",
    "versions": "it cannot be told which versions of TLS to use",
    "certificate": "it cannot be told which certificate to show",
    "headers": "it has no fields for all requests",
    "dialling": "it cannot be told how to try several addresses",
    "leniency": "its parser has no such switches",
    "limits": "its limits cannot be set",
    "decoding": "its decoder has no such settings",
    "stale": "it has no cache",
    "ech": "it has no Encrypted Client Hello",
    "proxy": "it cannot be told a proxy",
    "credentials": "it has no credentials",
}


def credentials(job):
    """User, password and scheme for the origin of the first request, for clients that are told the scheme; or None."""
    found = job.get("settings", {}).get("credentials")
    if found and len(found.get("schemes", [])) != 1:
        raise Leave("it is told the scheme of its credentials")
    return found and (found["user"], found["password"], found["schemes"][0])


def proxy(job):
    """The URL of the proxy for all requests, its user and its password, for clients that answer it by Basic; or None."""
    found = job.get("settings", {}).get("proxy")
    if not found:
        return None
    if found.get("digest"):
        raise Leave("it answers no proxy by Digest")
    if found.get("addresses"):
        raise Leave("it gives a proxy names only")
    return f"http://{found['at']}", found.get("user"), found.get("password")


# What these clients can do, as far as jobs ask for it: those with redirects, codings and fields of their own.
# All of them follow from https to http without being told.
ALL_SETTINGS = {"follow", "decode", "versions", "certificate", "resume", "headers", "redirects.limit", "redirects.downgrade"}


# Sessions


def sessions(job, open_session, close):
    """Returns a function for `with`: the session of a request, which is a new one unless the job keeps connections."""
    keeps = "connections" in job.get("keep", [])
    kept = open_session() if keeps else None
    if keeps:
        job["close"](lambda: close(kept))

    @contextlib.contextmanager
    def session():
        found = kept if keeps else open_session()
        try:
            yield found
        finally:
            if not keeps:
                close(found)

    return session


# Addresses


def split(endpoint):
    """Host and port of `HOST:PORT`; an IPv6 address is in brackets."""
    host, _, port = endpoint.rpartition(":")
    return host.strip("[]").lower().rstrip("."), int(port)


def addresses(job, host, port):
    """Where the job connects for a host and port. Empty if it is not to be connected to."""
    wanted = (host.strip("[]").lower().rstrip("."), int(port))
    for endpoint, targets in job["connect"].items():
        if split(endpoint) == wanted:
            return [split(target) for target in targets]
    return []


def require_lookup(job):
    """Leaves the job out if an address has several, for a client that is led by its look-ups: it looks none up."""
    for endpoint, targets in job["connect"].items():
        if len(targets) > 1 and is_address(split(endpoint)[0]):
            raise Leave("it looks up no address")


def replace_lookup(job):
    """Makes `socket.getaddrinfo` answer from the job. The client's own code tries the addresses."""

    def getaddrinfo(host, port, family=0, type=0, proto=0, flags=0):
        host = host.decode("ascii") if isinstance(host, bytes) else host or ""
        found = []
        for address, real_port in addresses(job, host, port):
            version = socket.AF_INET6 if ":" in address else socket.AF_INET
            if family in (0, version):
                place = (address, real_port, 0, 0) if version == socket.AF_INET6 else (address, real_port)
                found.append((version, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", place))
        if not found:
            raise socket.gaierror(socket.EAI_NONAME, f"{host}:{port} is not in the job")
        return found

    socket.getaddrinfo = getaddrinfo


# Values


def raw(text):
    """The bytes that a text of a job stands for."""
    return text.encode("latin-1")


def text(data):
    """The text that stands for bytes in a result. Clients give fields as texts of such characters, too."""
    return data.decode("latin-1") if isinstance(data, (bytes, bytearray)) else data


def body(request):
    """The content: bytes, an iterator of bytes for a stream, or None."""
    if "body" not in request:
        return None
    return iter([raw(request["body"])]) if request.get("stream") else raw(request["body"])


def pairs(request):
    return [tuple(pair) for pair in request.get("headers", [])]


def single_fields(request):
    """The fields by name, for a client that sends one field of a name only."""
    headers = pairs(request)
    if len({name.lower() for name, _ in headers}) < len(headers):
        raise Leave("it sends one field of a name only")
    return dict(headers)


def response(status, headers, content, **more):
    """A result. Members that are None are left out."""
    found = {"headers": [[text(n), text(v)] for n, v in headers], "body": text(content)}
    more = {"status": status} | more
    return found | {name: text(value) for name, value in more.items() if value is not None}


def parse_head(head):
    """Status line and fields of a head that a command has printed: version, status, reason, fields.

    A command also prints a line that is no status line, if it accepts it. What the line does not say is None.
    """
    lines = [line.rstrip(b"\r") for line in head.split(b"\n")]
    words = lines[0].split(b" ", 2) + [b"", b""]
    fields = []
    for line in lines[1:]:
        name, colon, value = line.partition(b":")
        if line[:1] in (b" ", b"\t") and fields:
            fields[-1] = (fields[-1][0], (fields[-1][1] + b" " + line.strip()).strip())
        elif colon:
            fields.append((name.strip(), value.strip()))
    version = words[0].rpartition(b"/")[2].decode("latin-1")
    version = version if re.fullmatch("[0-9][.][0-9]", version) else None
    status = int(words[1]) if re.fullmatch(b"[0-9]{3}", words[1]) else None
    return version, status, words[2] if status is not None else None, fields


# Failures


class deadline:
    """Raises `Deadline` in the block that takes longer than the job allows for a request."""

    def __init__(self, job):
        self.seconds = job["timeout"] / 1000

    def __enter__(self):
        signal.signal(signal.SIGALRM, self.ring)
        signal.setitimer(signal.ITIMER_REAL, self.seconds)

    def __exit__(self, *_):
        signal.setitimer(signal.ITIMER_REAL, 0)

    def ring(self, *_):
        raise Deadline("the time of the request is over")


def attempt(job, ask, kinds):
    """The result that `ask` returns, or the one for the exception that the client raises."""
    try:
        with deadline(job):
            return ask()
    except (Exception, Deadline) as error:
        return failure(error, kinds)


def printable(message):
    return str(message).encode("utf-8", "replace").decode()


def failed(kind, message):
    found = {"text": printable(message)}
    return {"error": found | ({"kind": kind} if kind else {})}


def failure(error, kinds=()):
    """The result for an exception of the client. `kinds` are pairs of types and the words for them."""
    place = error.__traceback__
    while place.tb_next:
        place = place.tb_next
    file = os.path.abspath(place.tb_frame.f_code.co_filename)
    # An adapter elsewhere is the program itself. What lies beside it may be the client.
    ours = os.path.dirname(file) == FOLDER or file == os.path.abspath(getattr(sys.modules["__main__"], "__file__", FOLDER))
    if ours and not isinstance(error, (Deadline, socket.gaierror)):
        raise error  # A mistake in the adapter is not the client's verdict.
    kind = None
    for part in causes(error):
        kind = kind or kind_of(part) or next((word for types, word in kinds if isinstance(part, types)), None)
    return failed(kind, f"{type(error).__name__}: {error}")


def causes(error, depth=0):
    """An exception and those that it comes from."""
    if not isinstance(error, BaseException) or depth > 8:
        return
    yield error
    for part in (*error.args, getattr(error, "reason", None), error.__cause__ or error.__context__):
        yield from causes(part, depth + 1)


def kind_of(error):
    if isinstance(error, (Deadline, TimeoutError)):
        return "timeout"
    if isinstance(error, ConnectionRefusedError):
        return "refused"
    if isinstance(error, ssl.SSLCertVerificationError):
        return VERIFICATION.get(getattr(error, "verify_code", None))
    if isinstance(error, ssl.SSLError):
        # OpenSSL has reasons like TLSV1_ALERT_PROTOCOL_VERSION for alerts that it received, and for nothing else.
        number = ALERTS.get(str(getattr(error, "reason", "")).partition("_ALERT_")[2])
        return f"alert {number}" if number else None
    return None


ALERTS = {
    "UNEXPECTED_MESSAGE": 10, "BAD_RECORD_MAC": 20, "RECORD_OVERFLOW": 22, "HANDSHAKE_FAILURE": 40, "BAD_CERTIFICATE": 42,
    "UNSUPPORTED_CERTIFICATE": 43, "CERTIFICATE_REVOKED": 44, "CERTIFICATE_EXPIRED": 45, "CERTIFICATE_UNKNOWN": 46,
    "ILLEGAL_PARAMETER": 47, "UNKNOWN_CA": 48, "ACCESS_DENIED": 49, "DECODE_ERROR": 50, "DECRYPT_ERROR": 51,
    "PROTOCOL_VERSION": 70, "INSUFFICIENT_SECURITY": 71, "INTERNAL_ERROR": 80, "INAPPROPRIATE_FALLBACK": 86,
    "USER_CANCELLED": 90, "NO_RENEGOTIATION": 100, "CERTIFICATE_REQUIRED": 116, "NO_APPLICATION_PROTOCOL": 120,
}  # fmt: skip


# OpenSSL's results of a verification (x509_vfy.h) whose meaning is not in doubt.
VERIFICATION = {
    7: "badSignature", 9: "notYetValid", 10: "expired", 18: "untrusted", 19: "untrusted", 20: "untrusted",
    21: "untrusted", 24: "notAuthority", 25: "pathTooLong", 26: "wrongPurpose", 34: "unknownExtension",
    47: "outsideConstraints", 48: "outsideConstraints", 62: "wrongName", 64: "wrongName", 66: "weak", 67: "weak",
    68: "weak", 79: "notAuthority",
}  # fmt: skip


def alert(message):
    """`alert N` if a message has the code of an alert that OpenSSL received: its reasons are 1000 + N."""
    _, found, rest = message.partition("error:0A")
    code = (
        int(rest[:6], 16) if found and all(c in "0123456789ABCDEFabcdef" for c in rest[:6]) and len(rest) >= 6 else 0
    )
    return f"alert {code - 1000}" if 1000 <= code < 1256 else None


# TLS contexts


TLS = {
    "1.0": ssl.TLSVersion.TLSv1,
    "1.1": ssl.TLSVersion.TLSv1_1,
    "1.2": ssl.TLSVersion.TLSv1_2,
    "1.3": ssl.TLSVersion.TLSv1_3,
}


def leave_old_versions(job):
    if job.get("settings", {}).get("versions", ["1.2"])[0] in ("1.0", "1.1"):
        raise Leave("its OpenSSL speaks no TLS before 1.2 at this level of security")


def prepare_context(context, job):
    """Gives a context the versions and the certificate of the job."""
    settings = job.get("settings", {})
    leave_old_versions(job)
    if "versions" in settings:
        context.minimum_version, context.maximum_version = (TLS[version] for version in settings["versions"])
    if "accept" in settings:
        if settings["accept"] != ["wrongName"]:
            raise Leave("it can be told to accept another name, and no other fault")
        context.check_hostname = False
    if "certificate" in settings:
        context.load_cert_chain(settings["certificate"])
    return context


def is_address(host):
    try:
        ipaddress.ip_address(host.strip("[]"))
        return True
    except ValueError:
        return False
