"""The command wget. The argument is the path of preload.so, which replaces look-up and clock in wget's process."""

import os
import re
import subprocess
import sys
import tempfile
import time

import contract

PRELOAD = sys.argv[1]


def connecting(job):
    return ";".join(f"{endpoint}={','.join(targets)}" for endpoint, targets in job["connect"].items() if targets)


def asking(job, request, folder):
    settings, keep = job.get("settings", {}), job.get("keep", [])
    found = ["wget", "--no-config", "--no-netrc", "--no-verbose", "--server-response"]
    proxy = contract.proxy(job)
    found += ["--execute=use_proxy=on"] if proxy else ["--no-proxy"]
    for name in ("http_proxy", "https_proxy") if proxy else ():
        found.append(f"--execute={name}={proxy[0]}")
    if proxy and proxy[1]:
        found += [f"--proxy-user={proxy[1]}", f"--proxy-password={proxy[2]}"]
    if "credentials" in settings:
        if settings["credentials"].get("schemes"):
            raise contract.Leave("it chooses the scheme of its credentials")
        found += [f"--user={settings['credentials']['user']}", f"--password={settings['credentials']['password']}"]
    # One try: more would ask again for what is missing, and wait before.
    found += ["--tries=1", "--content-on-error", "--save-headers", f"--output-document={folder}/found"]
    found += [
        f"--ca-certificate={job['roots']}",
        f"--ca-directory={folder}/empty",
        b"--method=" + contract.raw(request.get("method", "GET")),
    ]
    found += [f"--hsts-file={folder}/hsts" if "hsts" in keep else "--no-hsts"]
    if "cookies" in keep:
        found += [f"--load-cookies={folder}/cookies", f"--save-cookies={folder}/cookies", "--keep-session-cookies"]
    limit = settings.get("redirects", {}).get("limit")
    if not settings.get("follow"):
        found.append("--max-redirect=0")
    elif limit is not None:
        found.append(f"--max-redirect={limit}")
    if settings.get("decode"):
        found.append("--compression=auto")
    if "certificate" in settings:
        found += [f"--certificate={settings['certificate']}", f"--private-key={settings['certificate']}"]
    for name, value in settings.get("headers", []) + request.get("headers", []):
        found.append(b"--header=" + contract.raw(f"{name}: {value}"))
    if "body" in request:
        with open(f"{folder}/content", "wb") as file:
            file.write(contract.raw(request["body"]))
        found.append(f"--body-file={folder}/content")
    found += ["--", request["url"].encode()]
    if any("\0" in word if isinstance(word, str) else b"\0" in word for word in found):
        raise contract.Leave("an argument of a command has no NUL")
    return found


def open_client(job):
    settings, keep = job.get("settings", {}), job.get("keep", [])
    contract.require(
        job,
        settings={"follow", "decode", "certificate", "headers", "resume", "redirects.limit", "redirects.downgrade", "proxy", "credentials"},
        keep={
            "connections",
            "cookies",
            "hsts",
        },  # Connections are kept inside one run only, which the contract permits.
        time=True,
        stream=False,
    )
    contract.require_lookup(job)
    if "time" in job and any(request["url"].startswith("https:") for request in job["requests"]):
        raise contract.Leave("it judges certificates by the clock that its cookies have")
    folder = tempfile.TemporaryDirectory()
    job["close"](folder.cleanup)
    os.mkdir(f"{folder.name}/empty")
    if "cookies" in keep:
        open(f"{folder.name}/cookies", "w").close()

    def send(request):
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": folder.name}
        environment |= {"LD_PRELOAD": PRELOAD, "CLIENT_CONNECT": connecting(job) or "none=127.0.0.1:0"}
        if "time" in job:
            environment["CLIENT_TIME"] = str(int(contract.Clock.now))
        place = f"{folder.name}/found"
        if os.path.exists(place):
            os.remove(place)
        if os.path.exists(f"{folder.name}/hsts"):
            # wget replaces no policy within the second that it came in, and ends none: what it does must not depend on speed.
            time.sleep(1 - time.time() % 1)
        try:
            done = subprocess.run(
                asking(job, request, folder.name), capture_output=True, env=environment, timeout=job["timeout"] / 1000
            )
        except subprocess.TimeoutExpired:
            return contract.failed("timeout", "wget took too long")
        return result(done, place, request, bool(settings.get("follow")))

    return send


def result(done, place, request, follows):
    log = done.stderr.decode("latin-1")
    data = b""
    if os.path.exists(place):
        with open(place, "rb") as file:
            data = file.read()
    # Heads without content between them follow each other in the log, as behind a HEAD that is redirected.
    heads = re.findall(r"^  (HTTP/.*\n(?:  (?!HTTP/).*\n)*)", log, re.MULTILINE)
    # 8 stands for a status that wget calls an error, and 6 for one that asks for credentials: the response came whole.
    if done.returncode not in (0, 6, 8) or not heads:
        return contract.failed(kind(done.returncode, log), f"wget {done.returncode}: {' '.join(log.split())[-300:]}")
    if not data.startswith(b"HTTP/"):
        if "redirections exceeded" in log and follows:
            return contract.failed("tooMany", log.strip().splitlines()[-1])
        version, status, reason, fields = contract.parse_head(re.sub("(?m)^  ", "", heads[-1]).encode("latin-1"))
        if done.returncode == 6 and not any(name.lower() == b"content-length" and value == b"0" for name, value in fields):
            raise contract.Leave("it saves no content of a response that asks for credentials")
        if status not in (204, 304) and request.get("method") != "HEAD" and done.returncode != 6:
            raise contract.Leave("it saves no response that is a redirect which it does not follow")
        return contract.response(status, fields, b"", reason=reason, version=version)
    head, content = [*re.split(rb"(?<=\n)\r?\n", data, maxsplit=1), b""][:2]
    version, status, reason, fields = contract.parse_head(head)
    return contract.response(status, fields, content, reason=reason, version=version)


def kind(code, log):
    if "Connection refused" in log:
        return "refused"
    if code == 5:
        return "wrongName" if "doesn't match requested host name" in log or "does not match" in log else None
    return None


def describe():
    line = subprocess.run(
        ["wget", "--no-config", "--version"], capture_output=True, text=True, check=True
    ).stdout.splitlines()[0]
    return {"name": "wget", "version": line.split()[2], "codings": ["gzip"]}


contract.serve(describe(), open_client)
