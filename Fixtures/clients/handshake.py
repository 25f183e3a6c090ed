"""The commands `openssl s_client` and `gnutls-cli`, which do a handshake and verify the server: `handshake.py openssl|gnutls`.

They are no HTTP clients. A job that asks for more than the handshake is left out: what reads the response is in this file.
"""

import re
import selectors
import subprocess
import sys
import tempfile
import time
from urllib.parse import urlsplit

import contract

TOPICS = {"names", "handshake", "routes"}


def openssl(job, host, target):
    settings = job.get("settings", {})
    found = [
        "openssl",
        "s_client",
        "-quiet",
        "-connect",
        "[{}]:{}".format(*target) if ":" in target[0] else "{}:{}".format(*target),
    ]
    found += ["-CAfile", job["roots"], "-no-CApath", "-no-CAstore", "-verify_return_error", "-alpn", "http/1.1"]
    if contract.is_address(host):
        found += ["-noservername", "-verify_ip", host]
    else:
        found += ["-servername", host, "-verify_hostname", host]
    if "versions" in settings:
        lowest, highest = ("-tls" + version.replace(".", "_").removesuffix("_0") for version in settings["versions"])
        if lowest != highest:
            found += [
                "-no" + option.replace("-", "_")
                for option in ("-tls1_2", "-tls1_3")
                if not lowest <= option <= highest
            ]
        else:
            found.append(lowest)
    if "certificate" in settings:
        found += [
            "-cert",
            settings["certificate"],
            "-key",
            settings["certificate"],
            "-cert_chain",
            settings["certificate"],
        ]
    return found, None


def gnutls(job, host, target):
    settings = job.get("settings", {})
    log = tempfile.NamedTemporaryFile(prefix="gnutls-cli-", suffix=".log")
    job["close"](log.close)
    found = [
        "gnutls-cli",
        f"--x509cafile={job['roots']}",
        f"--logfile={log.name}",
        "--alpn=http/1.1",
        f"--port={target[1]}",
    ]
    found += [f"--verify-hostname={host}"]
    found += ["--disable-sni"] if contract.is_address(host) else [f"--sni-hostname={host}"]
    if "versions" in settings:
        lowest, highest = settings["versions"]
        versions = [version for version in ("1.0", "1.1", "1.2", "1.3") if lowest <= version <= highest]
        found.append("--priority=NORMAL:-VERS-ALL" + "".join(f":+VERS-TLS{version}" for version in versions))
    if "certificate" in settings:
        found += [f"--x509certfile={settings['certificate']}", f"--x509keyfile={settings['certificate']}"]
    return [*found, target[0]], log


def openssl_kind(log):
    code = re.search(r"verify error:num=(\d+)", log)
    if code:
        return contract.VERIFICATION.get(int(code[1]))
    return "refused" if "Connection refused" in log else contract.alert(log)


def gnutls_kind(log):
    faults = [word for sentence, word in GNUTLS.items() if sentence in log]
    if len(faults) == 1:
        return faults[0]
    code = re.search(r"Received alert \[(\d+)\]", log)
    if code and not faults:
        return f"alert {code[1]}"
    return "refused" if "Connection refused" in log else None


GNUTLS = {
    "name in the certificate does not match": "wrongName",
    "uses expired certificate": "expired",
    "uses not yet valid certificate": "notYetValid",
    "certificate issuer is unknown": "untrusted",
}


def open_client(job):
    if job.get("topic", "handshake") not in TOPICS:
        raise contract.Leave("it does a handshake only, and is no HTTP client")
    contract.require(
        job, settings={"versions", "certificate", "resume"}, keep={"connections"}, stream=False, schemes=("https",)
    )
    if TOOL == "openssl":
        contract.leave_old_versions(job)
    for request in job["requests"]:
        if request.get("method", "GET") != "GET" or request.get("headers") or "body" in request:
            raise contract.Leave("it sends a plain GET only")
    return lambda request: send(job, request)


def send(job, request):
    url = urlsplit(request["url"])
    host, port = url.hostname, url.port or 443
    targets = contract.addresses(job, host, port)
    if not targets:
        return contract.failed(None, f"{host}:{port} is not in the job")
    if len(targets) > 1:
        raise contract.Leave("it connects to one address only")
    command, log = (openssl if TOOL == "openssl" else gnutls)(job, host.rstrip("."), targets[0])
    path = (url.path or "/") + (f"?{url.query}" if url.query else "")
    head = f"GET {path} HTTP/1.1\r\nHost: {url.netloc.rpartition('@')[2]}\r\nConnection: close\r\n\r\n".encode()
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors)
        data, ended = exchange(process, head, time.monotonic() + job["timeout"] / 1000)
        errors.seek(0)
        said = errors.read().decode("latin-1") + (open(log.name, encoding="latin-1").read() if log else "")
    return result(data, ended, process.returncode, said)


def exchange(process, head, end):
    """Writes the request, and reads until a response is complete or the command ends. The input stays open until then."""
    data, ended = b"", False
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        try:
            process.stdin.write(head)
            process.stdin.flush()
        except BrokenPipeError:
            pass
        while not is_complete(data) and (left := end - time.monotonic()) > 0:
            if selector.select(left):
                part = process.stdout.read1(65536)
                data += part
                if not part:
                    ended = True
                    break
    if ended:
        try:
            process.wait(max(0.1, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            pass
    elif not is_complete(data):
        ended = None
    if process.poll() is None:
        process.kill()
    process.wait()
    process.stdout.close()
    try:
        process.stdin.close()
    except BrokenPipeError:
        pass
    return data, ended


def is_complete(data):
    head, found, content = data.partition(b"\r\n\r\n")
    length = re.search(rb"(?im)^content-length: *(\d+)\r?$", head)
    return bool(found and length and len(content) >= int(length[1]))


def result(data, ended, code, said):
    """`ended`: whether the command ended by itself; None if the time was over."""
    if ended is None:
        return contract.failed("timeout", "the time of the request is over")
    head, found, content = data.partition(b"\r\n\r\n")
    if not found or (ended and code != 0 and not is_complete(data)):
        kind = openssl_kind(said) if TOOL == "openssl" else gnutls_kind(said)
        return contract.failed(kind, " ".join(said.split())[-300:] or f"no response; exit code {code}")
    if ended and re.search(rb"(?im)^content-length: *\d", head) and not is_complete(data):
        return contract.failed("incomplete", "the connection ended before the content did")
    version, status, reason, fields = contract.parse_head(head)
    return contract.response(status, fields, content, reason=reason, version=version)


def describe():
    command = ["openssl", "version"] if TOOL == "openssl" else ["gnutls-cli", "--version"]
    line = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0]
    name = "openssl s_client" if TOOL == "openssl" else "gnutls-cli"
    return {"name": name, "version": re.search(r"\d+\.\d+\.\d+", line)[0], "codings": []}


if sys.argv[1:] not in (["openssl"], ["gnutls"]):
    sys.exit("usage: handshake.py openssl|gnutls")
TOOL = sys.argv[1]
contract.serve(describe(), open_client)
