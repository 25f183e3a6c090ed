"""The command curl. With a path of preload.so as the argument, its clock can be set."""

import json
import os
import re
import subprocess
import sys
import tempfile

import contract

PRELOAD = sys.argv[1] if len(sys.argv) > 1 else None
CURL, NAME = sys.argv[2:4] if len(sys.argv) > 3 else ("curl", "curl")


def connecting(job):
    """The options that lead to the addresses of the job, and nowhere else."""
    found = []
    proxy = job.get("settings", {}).get("proxy")
    if proxy and not proxy.get("addresses"):
        return []  # The proxy is given names, and looks them up.
    for number, (endpoint, targets) in enumerate(job["connect"].items()):
        host, port = contract.split(endpoint)
        ends = [contract.split(target) for target in targets]
        if len({port for _, port in ends}) > 1:
            raise contract.Leave("it cannot be told addresses of one host with different ports")
        target = bracket(ends[0][0]) if ends else "127.0.0.1"
        target_port = ends[0][1] if ends else 0
        if len(ends) > 1:
            target = f"several-{number}.invalid"
            listed = ",".join(bracket(address) for address, _ in ends)
            found += ["--resolve", f"{target}:{target_port}:{listed}"]
        for name in {bracket(host), bracket(host) + "."}:
            found += ["--connect-to", f"{name}:{port}:{target}:{target_port}"]
    # Port 0 cannot be connected to.
    return [*found, "--connect-to", "::127.0.0.1:0"]


def trusted(settings):
    """The options for the proxy and the credentials."""
    found = []
    if "proxy" in settings:
        proxy = settings["proxy"]
        found += ["--proxy", f"http://{proxy['at']}"]
        if "user" in proxy:
            found += ["--proxy-user", f"{proxy['user']}:{proxy['password']}"]
        found += ["--proxy-digest"] if proxy.get("digest") else []
    else:
        found += ["--noproxy", "*"]
    if "credentials" in settings:
        told = settings["credentials"]
        schemes = told.get("schemes", [])
        found += ["--user", f"{told['user']}:{told['password']}", f"--{schemes[0] if len(schemes) == 1 else 'anyauth'}"]
    return found


def bracket(address):
    return f"[{address}]" if ":" in address else address


def common(job, folder):
    settings, keep = job.get("settings", {}), job.get("keep", [])
    found = [
        "--silent",
        "--show-error",
        "--globoff",
        "--http1.1",
        "--max-time",
        str(job["timeout"] / 1000),
    ]
    # Debian's curl also trusts a folder of roots, unless it is told another one.
    found += ["--cacert", job["roots"], "--capath", folder, "--write-out", "%{json}\\n", *connecting(job), *trusted(settings)]
    for name, value in settings.get("headers", []):
        found += field(name, value)
    if settings.get("follow"):
        found.append("--location")
    if "limit" in settings.get("redirects", {}):
        found += ["--max-redirs", str(settings["redirects"]["limit"])]
    if settings.get("decode"):
        found.append("--compressed")
    if "certificate" in settings:
        found += ["--cert", settings["certificate"]]
    if "versions" in settings:
        found += [f"--tlsv{settings['versions'][0]}", "--tls-max", settings["versions"][1]]
    if "ech" in settings:
        found += ["--ech", f"ecl:{settings['ech']}"]
    if "sessions" not in keep or settings.get("resume") is False:
        found.append("--no-sessionid")
    if "cookies" in keep:
        found += ["--cookie", f"{folder}/cookies", "--cookie-jar", f"{folder}/cookies"]
    if "hsts" in keep:
        found += ["--hsts", f"{folder}/hsts"]
    return found


def field(name, value):
    return ["--header", contract.raw(f"{name}: {value}" if value.strip(" \t") else f"{name};")]


def asking(request, place):
    """The options of one request. Methods have the option that curl's users take."""
    method = request.get("method", "GET")
    found = ["--output", f"{place}.body", "--dump-header", f"{place}.head", "--url", request["url"].encode()]
    content = f"{place}.content"
    if "body" in request:
        with open(content, "wb") as file:
            file.write(contract.raw(request["body"]))
    if request.get("stream") and method != "PUT":
        raise contract.Leave("it streams by PUT only: another method would be kept in all redirects")
    if method == "PUT" and "body" in request and not request.get("stream") and request["url"].split("?")[0].endswith("/"):
        raise contract.Leave("it adds the name of a file to a URL that ends with a slash")
    if request.get("stream"):
        found += ["--upload-file", "-"]
    elif method == "HEAD" and "body" not in request:
        found.append("--head")
    elif method == "PUT" and "body" in request:
        found += ["--upload-file", content]
    elif method == "POST":
        found += ["--data-binary", f"@{content}" if "body" in request else ""]
    else:
        found += ["--data-binary", f"@{content}"] if "body" in request else []
        found += ["--request", contract.raw(method)] if method != "GET" or "body" in request else []
    for name, value in contract.pairs(request):
        found += field(name, value)
    return found


def run(job, arguments, stream, now):
    """Runs curl, and returns what it says of each transfer."""
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
    if now is not None:
        environment |= {"LD_PRELOAD": PRELOAD, "CLIENT_TIME": str(int(now))}
    if any("\0" in word if isinstance(word, str) else b"\0" in word for word in arguments):
        raise contract.Leave("an argument of a command has no NUL")
    limit = len(job["requests"]) * job["timeout"] / 1000 + 5
    try:
        done = subprocess.run(
            [CURL, "--disable", *arguments], input=stream, capture_output=True, env=environment, timeout=limit
        )
    except subprocess.TimeoutExpired:
        return [{"exitcode": 28, "errormsg": "it is still running after its time limit"}]
    lines = [
        json.loads(line, strict=False) for line in done.stdout.decode("latin-1").splitlines() if line.startswith("{")
    ]
    if not lines:
        lines = [{"exitcode": done.returncode, "errormsg": done.stderr.decode("latin-1").strip()}]
    return lines


def result(told, place, request):
    code, message = told.get("exitcode", 0), told.get("errormsg") or ""
    if code != 0:
        return contract.failed(kind(code, message, told.get("ssl_verify_result", 0)), f"curl {code}: {message}")
    blocks = heads(read(f"{place}.head")) or [((None, None, None, []), [])]
    version, status, reason, fields = blocks[-1][0]
    last = max((index for index, ((_, code, *_), _) in enumerate(blocks[:-1]) if (code or 0) >= 200), default=-1)
    return contract.response(
        # Of a line that is no status line, curl tells what it took for the status.
        status if status is not None else told.get("response_code") or None,
        fields,
        b"" if request.get("method") == "HEAD" else read(f"{place}.body"),
        reason=reason,
        version=version,
        url=told["url_effective"],
        trailers=[[contract.text(n), contract.text(v)] for n, v in blocks[-1][1]],
        interims=[code for (_, code, *_), _ in blocks[last + 1 : -1] if code is not None],
    )


def heads(data):
    """The heads of a file of --dump-header: each with the trailers behind it."""
    found = []
    for block in re.split(rb"(?<=\n)\r?\n", data):
        if block.startswith(b"HTTP/"):
            found.append((contract.parse_head(block), []))
        elif found and block.strip():
            found[-1][1].extend(contract.parse_head(b"HTTP/1.1 200\n" + block)[3])
    return found


def read(place):
    if not os.path.exists(place):
        return b""
    with open(place, "rb") as file:
        return file.read()


def kind(code, message, verified):
    if code == 60:
        return "wrongName" if "subject name" in message else contract.VERIFICATION.get(verified)
    if "HTTP/0.9" in message:
        return "badHTTP"
    return {8: "badHTTP", 18: "incomplete", 28: "timeout", 47: "tooMany", 52: "closed"}.get(code) or contract.alert(
        message
    )


def open_client(job):
    keep = job.get("keep", [])
    contract.require(
        job,
        settings=contract.ALL_SETTINGS | {"proxy", "credentials"} | ({"ech"} if "ECH" in FEATURES else set()),
        keep={"connections", "sessions", "cookies", "hsts"},
        time=PRELOAD is not None,
    )
    contract.leave_old_versions(job)
    together = "connections" in keep and can_be_one_command(job)
    if "sessions" in keep and not together:
        raise contract.Leave("it keeps TLS sessions only with connections, in one command")
    folder = tempfile.TemporaryDirectory()
    job["close"](folder.cleanup)
    if together:
        return answer_together(job, folder.name)
    numbers = iter(range(len(job["requests"])))

    def send(request):
        place = f"{folder.name}/{next(numbers)}"
        stream = contract.raw(request["body"]) if request.get("stream") else b""
        arguments = common(job, folder.name) + asking(request, place)
        now = contract.Clock.now if "time" in job else None
        return result(run(job, arguments, stream, now)[0], place, request)

    return send


def can_be_one_command(job):
    """One command has one standard input and one clock, and keeps HSTS although it is not told to."""
    follows = job.get("settings", {}).get("follow", False)
    schemes = {request["url"].partition(":")[0].lower() for request in job["requests"]}
    keeps_hsts_rightly = "hsts" in job["keep"] or (len(schemes) == 1 and not follows)
    return keeps_hsts_rightly and "time" not in job and not any(request.get("stream") for request in job["requests"])


def answer_together(job, folder):
    """Makes all requests with one command, which keeps its connections."""
    arguments = []
    for number, request in enumerate(job["requests"]):
        arguments += (["--next"] if number else []) + common(job, folder) + asking(request, f"{folder}/{number}")
    told = run(job, arguments, b"", None)
    if len(told) != len(job["requests"]):
        told = [told[-1]] * len(job["requests"])
    results = [result(*each) for each in zip(told, (f"{folder}/{n}" for n in range(len(told))), job["requests"])]
    ready = iter(results)
    return lambda request: next(ready)


VERSION = subprocess.run([CURL, "--disable", "--version"], capture_output=True, text=True, check=True).stdout.splitlines()
FEATURES = VERSION[-1].split()


def describe():
    codings = [("libz", "deflate"), ("libz", "gzip"), ("brotli", "br"), ("zstd", "zstd")]
    return {
        "name": NAME,
        "version": VERSION[0].split()[1],
        "codings": [coding for feature, coding in codings if feature in FEATURES],
    }


contract.serve(describe(), open_client)
