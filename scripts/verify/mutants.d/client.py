"""A small HTTP client with a fault of one's choice, which speaks the contract of Fixtures/clients.

The argument is the name of a fault of faults.json, or `none`. Without a fault it does what the vectors ask for, so a
vector that it fails has seen the fault.
"""

import base64
import contextlib
import hashlib
import os
import queue
import re
import select
import socket
import ssl
import sys
import threading
import time
from pathlib import Path
from urllib.parse import urljoin, urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "Fixtures" / "clients"))
import contract

FAULT = sys.argv[1]


def has(*faults):
    return FAULT in faults


class Failed(Exception):
    """The client gives up; its caller gets an error."""


class Connection:
    """A connection to a server, and what has been read from it and not used."""

    is_second = False

    def __init__(self, place, connected=None):
        self.socket = connected or socket.create_connection(place, timeout=3)
        self.data = b""

    def secure(self, job, host):
        context = ssl.create_default_context(cafile=job["roots"])
        if has("no-check") or host == "":
            context.check_hostname = False
        self.socket = context.wrap_socket(self.socket, server_hostname=host or "unchecked.test")

    def name_address(self, job, host):
        """SNI with an address, as no library sends it: a name that ends with a dot."""
        context = ssl.create_default_context(cafile=job["roots"])
        context.check_hostname = False
        self.socket = context.wrap_socket(self.socket, server_hostname=host.strip("[]").replace(":", "-") + ".")

    def more(self):
        found = self.socket.recv(65536)
        self.data += found
        return found

    def take(self, count):
        while len(self.data) < count:
            if not self.more():
                raise Failed("the connection ended within a content")
        found, self.data = self.data[:count], self.data[count:]
        return found

    def content(self, length):
        with contextlib.suppress(*[Failed] if has("keeps-incomplete") else []):
            return self.take(length)
        return self.data

    def line(self):
        while b"\n" not in self.data:
            if not self.more():
                raise Failed("the connection ended within a line")
        found, self.data = self.data.split(b"\n", 1)
        return found.rstrip(b"\r")

    def head(self):
        lines = [self.line()]
        while lines[-1]:
            lines.append(self.line())
        version, status, _, fields = contract.parse_head(b"\n".join(lines[:-1]))
        self.version = version
        return status, [(name.decode("latin-1"), value.decode("latin-1")) for name, value in fields]

    def response(self, method):
        status, fields = self.head()
        while 100 <= status < 200 and not has("interim-is-final"):
            if status == 101:
                raise Failed("101 without an upgrade")
            status, fields = self.head()
        content, trailers = b"", []
        if method == "HEAD" or status in (204, 304) or status < 200:
            return status, fields, content
        if "chunked" in value(fields, "transfer-encoding", ""):
            while size := int(self.line().split(b";")[0], 16):
                content += self.take(size + 2)[:-2]
            while line := self.line():
                name, _, text = line.decode("latin-1").partition(":")
                trailers.append((name, text.strip()))
        elif (length := value(fields, "content-length")) is not None:
            content = b"" if has("undrained") and status != 200 else self.content(int(length))
        else:
            while self.more():
                pass
            content, self.data = self.data, b""
        return status, fields + (trailers if has("trailers-are-fields") else []), content


def is_fresh(stored):
    """Whether a stored response has not become stale on its way: the last of its parts is the time that it took."""
    lifetime = re.search(r"max-age=(\d+)", value(stored[1], "cache-control", ""))
    return lifetime is not None and int(lifetime[1]) > (0 if has("age-from-arrival") else stored[3])


def is_to_be_stored(found):
    return is_fresh((*found, 0)) or value(found[1], "etag") is not None or value(found[1], "last-modified") is not None


def conditions(fields):
    """What asks whether a stored response with these fields is still the right one."""
    names = {"etag": "If-None-Match", "last-modified": "If-Modified-Since"}
    found = [(condition, value(fields, name)) for name, condition in names.items() if value(fields, name)]
    return [(name, text.replace("Fri, 01 Jan 2010", "Friday, 01-Jan-10")) for name, text in found] if has("old-dates") else found


def value(fields, name, otherwise=None):
    return next((text for field, text in fields if field.lower() == name.lower()), otherwise)


class Client:
    """All that is kept between the requests of a job."""

    def __init__(self, job):
        contract.require(
            job,
            settings={*contract.ALL_SETTINGS, "proxy", "credentials"},
            keep={"connections", "sessions", "cookies", "hsts", "cache"},
        )
        self.job, self.settings = job, job.get("settings", {})
        self.keep = job.get("keep", [])
        self.pool, self.jar, self.stored, self.policies, self.counts = {}, {}, {}, {}, {}
        self.first_host = self.first_place = None
        self.connections = self.skipped = 0

    # Where requests go

    def address(self, host, port):
        found = contract.addresses(self.job, host.encode("idna").decode() if has("raw-idn") else host, port)
        if has("address-sticks") and self.first_place:
            return self.first_place
        if not found:
            raise Failed(f"{host} is not in the job")
        self.first_place = self.first_place or found[0]
        return found[0]

    def reach(self, url, headers, body):
        """A connection to the server of a URL, or to the proxy that forwards to it."""
        host, port = url.hostname, url.port or (443 if url.scheme == "https" else 80)
        proxy = self.settings.get("proxy")
        place = contract.split(proxy["at"]) if proxy else self.address(host, port)
        key = place if has("pool-by-address", "pool-and-host") else (url.scheme, host, port)
        if "connections" in self.keep and key in self.pool:
            return self.pool[key]
        if proxy and url.scheme == "https" and not has("no-tunnel"):
            found = self.tunnel(host, port, headers, body)
        elif proxy or len(places := contract.addresses(self.job, host, port)[self.skipped :]) < 2:
            found = Connection(place)
        else:
            delay = self.job.get("stagger", 250) / 1000
            connect = lambda connected: self.secured(Connection(place, connected), url, host, port)
            found, index = first(places, delay, connect)
            found.is_second = index > 0
            return self.kept(found, key, host)
        return self.kept(self.secured(found, url, host, port), key, host)

    def secured(self, found, url, host, port):
        if url.scheme == "https" and not (self.settings.get("proxy") and has("no-tunnel")):
            self.first_host = self.first_host or host
            name = self.first_host if has("first-name") else host
            if has("address-is-name"):
                name = self.address(host, port)[0]
            if has("sni-of-address") and contract.is_address(host):
                found.name_address(self.job, host)
            else:
                found.secure(self.job, "" if has("check-once") and self.connections else name)
        return found

    def kept(self, found, key, host):
        self.connections += 1
        found.host = host
        self.pool[key] = found
        return found

    def tunnel(self, host, port, headers, body):
        proxy = self.settings["proxy"]
        target = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        if proxy.get("addresses"):
            target = "{}:{}".format(*self.address(host, port))
        if has("connect-without-port"):
            target = host
        if has("connect-with-url"):
            target = f"https://{target}/"
        fields = [("Host", target)] + (headers if has("connect-with-fields") else [])
        refused = None
        for _ in range(2):
            found = Connection(contract.split(proxy["at"]))
            content = body or b"" if has("connect-with-content") else b""
            fields += [("Content-Length", str(len(content)))] if content else []
            answer = self.proxy_answer("CONNECT", target, refused)
            self.write(found, "CONNECT", target, fields + answer, content)
            status, sent = found.head()
            while 100 <= status < 200:
                status, sent = found.head()
            if status // 100 == 2:
                if has("connect-with-length") and (value(sent, "content-length") or value(sent, "transfer-encoding")):
                    found.take(7)
                if has("connect-is-answered") and (found.data or found.more()):
                    raise Answered(found.response("GET"))
                return found
            refused = value(sent, "proxy-authenticate")
            if status != 407 or not self.proxy_answer("CONNECT", target, refused):
                break
        if has("connect-is-answered"):
            raise Answered((status, sent, found.take(int(value(sent, "content-length", "0")))))
        raise Failed(f"the proxy answered {status}")

    # Credentials

    def proxy_answer(self, method, target, challenge):
        proxy = self.settings["proxy"]
        if "user" not in proxy or not challenge or has("proxy-unanswered"):
            return []
        if not proxy.get("digest"):
            return [("Proxy-Authorization", basic(proxy["user"], proxy["password"]))]
        uri = "/x" if has("digest-of-path") else target
        answer = self.digest(proxy["user"], proxy["password"], challenges(challenge), method, uri, b"")
        return [("Proxy-Authorization", answer)]

    def answer(self, challenge, method, target, body):
        told = self.settings["credentials"]
        schemes = told.get("schemes", ["digest", "basic"])
        found = challenges(challenge)
        if has("first-scheme"):
            found = found[:1]
        if has("scheme-anywhere") and "basic" in challenge.lower() or has("basic-for-all"):
            return basic(told["user"], told["password"])
        known = [each for each in found if each[0] in schemes]
        if has("first-known"):
            schemes = [known[0][0]] if known else []
        for scheme in sorted(schemes, reverse=True):  # Digest is stronger than Basic.
            matching = [each for each in known if each[0] == scheme]
            if scheme == "digest":
                answer = self.digest(told["user"], told["password"], matching, method, target, body)
                if answer:
                    return answer
            elif matching:
                return basic(told["user"], told["password"])
        return None

    def digest(self, user, password, found, method, uri, body):
        hashes = {"MD5": "md5", "SHA-256": "sha256", "SHA-512-256": "sha512_256"}
        for scheme, given in found:
            name = given.get("algorithm", "MD5")
            plain = name.upper().removesuffix("-SESS")
            if has("unknown-is-md5") and plain not in hashes:
                plain = "MD5"
            if scheme != "digest" or plain not in hashes or "nonce" not in given:
                continue
            if has("unknown-parameter-ends") and "unknown" in given:
                return None
            if has("always-md5"):
                plain = "MD5"
            make = lambda text: hashlib.new(hashes[plain], text if isinstance(text, bytes) else text.encode()).hexdigest()
            options = [word.strip() for word in given.get("qop", "").split(",") if word.strip()]
            qop = "auth" if "auth" in options else next((word for word in options if word == "auth-int"), None)
            if has("all-of-qop"):
                qop = given.get("qop")
            uri = uri.partition("?")[0] if has("uri-without-query") else uri
            nonce, cnonce = given["nonce"], os.urandom(8).hex()
            self.counts[nonce] = self.counts.get(nonce, 0) + 1
            count = f"{self.counts[nonce]:08x}" if not has("short-count") else str(self.counts[nonce])
            secret = make(f"{user}:{given['realm']}:{password}" if not has("wrong-secret") else f"{user}:{password}")
            if name.lower().endswith("-sess") and not has("no-session"):
                secret = make(f"{secret}:{nonce}:{cnonce}")
            subject = make(f"{method}:{uri}" + (":" + make(body) if qop == "auth-int" else ""))
            middle = f"{nonce}:{count}:{cnonce}:{qop}" if qop else nonce
            shown = make(f"{user}:{given['realm']}") if given.get("userhash") == "true" else user
            shown = user if has("plain-userhash") else shown
            escaped = lambda text: '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'
            parts = [f"username={escaped(shown)}", f"realm={escaped(given['realm'])}", f"nonce={escaped(nonce)}"]
            parts += [f"uri={escaped(uri)}", f'response="{make(f"{secret}:{middle}:{subject}")}"']
            parts += [f"algorithm={name}"] if "algorithm" in given else []
            parts += [f"algorithm={name}"] if "algorithm" in given and has("parameter-twice") else []
            parts += [f"opaque={escaped(given['opaque'])}"] if "opaque" in given else []
            parts += [f"qop={qop}", f"nc={count}", f'cnonce="{cnonce}"'] if qop else []
            parts += ["userhash=true"] if given.get("userhash") == "true" else []
            return "Digest " + ", ".join(parts)
        return None

    # Requests

    def write(self, connection, method, target, fields, content=b""):
        lines = [f"{method} {target} HTTP/1.1"] + [f"{name}: {text}" for name, text in fields]
        behind = b"\r\n" if has("line-end-behind") and method == "POST" else b""
        connection.socket.sendall("\r\n".join(lines + ["", ""]).encode() + content + behind)

    def send(self, request):
        result = contract.attempt(self.job, lambda: self.follow(request), [])
        if "error" in result:
            self.end()
        return result

    def end(self):
        for connection in self.pool.values():
            if isinstance(connection.socket, ssl.SSLSocket):
                with contextlib.suppress(OSError):
                    connection.socket.settimeout(0.1)
                    connection.socket.unwrap()
            connection.socket.close()
        self.pool.clear()

    def follow(self, request):
        method, text = request.get("method", "GET"), request["url"]
        headers, body = contract.pairs(request), contract.raw(request["body"]) if "body" in request else None
        first, hops = None, 0
        while True:
            url = self.parsed(text)
            first = first or (url.scheme, url.hostname, url.port)
            is_own = (url.scheme, url.hostname, url.port) == first and (hops == 0 or not has("credentials-once"))
            try:
                status, fields, content = self.exchange(url, method, list(headers), body, is_own, request)
            except Answered as answered:
                status, fields, content = answered.args[0]
            except (ssl.SSLError, OSError):
                if has("nowhere-is-empty"):
                    return contract.response(204, [], b"")
                if not (has("falls-back") and url.scheme == "https"):
                    raise
                text, self.policies = text.replace("https:", "http:"), {}
                continue
            self.learn(url, fields)
            location = value(fields, "location")
            if status in (301, 302, 303, 307, 308) and location and self.settings.get("follow") and hops < 5:
                hops += 1
                following = urljoin(text, location)
                if text.startswith("https:") and following.startswith("http:") and not has("credentials-for-all"):
                    raise Failed("a redirect from https to http")
                text, method, body = following, "GET", None
                continue
            return contract.response(status, fields, content, url=text)

    def parsed(self, text):
        if has("empty-host"):
            text = text.replace("://:", "://localhost:").replace(":///", "://localhost/")
        url = urlsplit(text)
        if not url.hostname:
            raise Failed("no host")
        if not url.hostname.isascii() and not has("raw-idn"):
            url = url._replace(netloc=url.netloc.encode("idna").decode())
        if has("raw-idn"):
            return url
        if url.scheme == "http" and "hsts" in self.keep and self.is_known(url.hostname):
            url = url._replace(scheme="https")
        return url

    def is_known(self, host):
        return any(host == name or below and host.endswith("." + name) for name, below in self.policies.items())

    def learn(self, url, fields):
        policy = value(fields, "strict-transport-security")
        if policy and url.scheme == "https":
            self.policies[url.hostname] = "includesubdomains" in policy.lower()
        cookie = value(fields, "set-cookie")
        if cookie and "cookies" in self.keep:
            self.jar[self.cookie_place(url)] = cookie.partition(";")[0]

    def cookie_place(self, url):
        if has("cookies-by-address"):
            return self.address(url.hostname, url.port or (443 if url.scheme == "https" else 80))[0]
        return url.hostname

    def exchange(self, url, method, headers, body, is_own, request):
        path = (url.path or "/") + (f"?{url.query}" if url.query else "")
        kept = self.stored.get(url.geturl())
        if kept and has("evaluates-if-match") and value(headers, "if-match", value(kept[1], "etag")) != value(kept[1], "etag"):
            return 412, [], b""
        if kept and is_fresh(kept):
            return kept[:3]
        proxy = self.settings.get("proxy")
        is_forwarded = proxy and (url.scheme == "http" or has("no-tunnel"))
        host = url.netloc.rpartition("@")[2]
        target = f"{url.scheme}://{host}{path}" if is_forwarded and not has("path-for-proxy") else path
        if has("target-of-connect") and is_forwarded:
            target = f"{host}:80"
        fields = [] if has("no-host") else [("Host", host)]
        headers = [each for each in headers if each[0].lower() != "host" or has("host-twice")]
        own = {"expect", "upgrade"} | ({"te"} if "chunked" in value(headers, "te", "") else set())
        own |= set() if has("options-of-the-caller") or value(headers, "connection") == "close" else {"connection"}
        fields += [(name, text) for name, text in headers if name.lower() not in own]
        if value(fields, "te"):
            fields.append(("Connection", "TE"))
        fields += conditions(kept[1]) if kept else []
        if method == "TRACE" and body:
            raise Failed("TRACE has no content")
        if has("address-is-name"):
            fields[0] = ("Host", self.address(url.hostname, url.port or (443 if url.scheme == "https" else 80))[0])
        if (cookie := self.jar.get(self.cookie_place(url)) if self.jar else None) and method != "TRACE":
            fields.append(("Cookie", cookie))
        for name, text in FIELDS.get(FAULT, []):
            fields.append((name, text))
        content = body or b""
        if body is not None or method in ("POST", "PUT"):
            fields = [each for each in fields if each[0].lower() != "transfer-encoding"]
            if method == "OPTIONS":
                fields.append(("Content-Type", "application/octet-stream"))
            fields.append(("Content-Length", str(len(content))))
        if has("chunks-twice") and request.get("stream"):
            fields = [each for each in fields if each[0] != "Content-Length"] + [("Transfer-Encoding", "chunked, chunked")]
            content = b"%x\r\n%b\r\n0\r\n\r\n" % (len(content), content)
        waits = has("waits-in-silence") and len(content) > 1000
        if contract.pairs(request) and value(contract.pairs(request), "expect") and content and not has("no-expectation"):
            fields.append(("Expect", "100-continue"))
            waits = True
        refused, tries = None, 0
        while True:
            more = []
            if refused and is_forwarded:
                more = self.proxy_answer(method, target, refused[0])
            elif has("proxy-credentials-for-all") and proxy and "user" in proxy:
                more = [("Proxy-Authorization", basic(proxy["user"], proxy["password"]))]
            if refused and refused[1] and (is_own or has("credentials-for-all")) and "credentials" in self.settings:
                answer = self.answer(refused[1], method, path, content)
                more += [("Authorization", answer)] if answer else []
            connection = self.reach(url, headers, body)
            if has("pool-and-host") and fields:
                fields[0] = ("Host", connection.host)
            if has("content-to-first") and connection.is_second:
                content = b"?" * len(content)
            began = time.monotonic()
            self.write(connection, method, target, fields + more, b"" if waits else content)
            try:
                found = self.read(connection, method, content) if waits else connection.response(method)
            except (Failed, OSError):
                if not has("again-elsewhere") or self.skipped:
                    raise
                self.skipped = 1
                self.end()
                continue
            closes = "close" in (value(found[1], "connection", ""), value(headers, "connection"))
            if connection.version == "1.0" and value(found[1], "transfer-encoding") and not has("keeps-old-chunks"):
                closes = True
            if "connections" not in self.keep or closes:
                self.end()
            asked = (
                value(found[1], "proxy-authenticate") if found[0] == 407 else None,
                ", ".join(text for name, text in found[1] if name.lower() == "www-authenticate") if found[0] == 401 else None,
            )
            if has("proxy-answers-server") and found[0] == 407:
                asked, refused = (asked[0], None), None
            tries += 1
            would = self.would_answer(asked, is_forwarded, is_own, method, target, path, content)
            if would and (not refused or self.is_stale(asked) or has("no-end")) and tries < 4:
                refused = asked
                content = b"" if has("content-is-lost") else content
                continue
            if found[0] == 304 and kept:
                if value(found[1], "etag") != value(kept[1], "etag") and not has("any-304-confirms"):
                    del self.stored[url.geturl()]
                    return self.exchange(url, method, headers, body, is_own, request)
                if not has("hands-out-304"):
                    found = kept[0], found[1] + kept[1], kept[2]
            if "cache" in self.keep and is_to_be_stored(found):
                self.stored[url.geturl()] = (*found, time.monotonic() - began)
            return found

    def would_answer(self, asked, is_forwarded, is_own, method, target, path, content):
        proxy = self.settings.get("proxy")
        if asked[0] and proxy and "user" in proxy and (is_forwarded or has("proxy-answers-server")):
            return bool(self.proxy_answer(method, target, asked[0]))
        if not asked[1] or "credentials" not in self.settings or not (is_own or has("credentials-for-all")):
            return False
        counts = dict(self.counts)
        answer = self.answer(asked[1], method, path, content)
        self.counts = counts
        return bool(answer)

    def is_stale(self, asked):
        return any(given.get("stale", "").lower() == "true" for _, given in challenges(asked[1] or asked[0] or ""))

    def read(self, connection, method, content):
        """The response of a server that is asked whether it wants the content."""
        connection.socket.settimeout(None if has("waits-in-silence") else 0.5)
        try:
            status, fields = connection.head()
        except TimeoutError:
            status = 100
        connection.socket.settimeout(3)
        if status != 100 and not has("final-is-continue"):
            length = int(value(fields, "content-length", "0"))
            return status, fields, connection.take(length)
        connection.socket.sendall(b"" if has("nothing-behind-100") else content)
        return connection.response(method)


class Answered(Exception):
    """A proxy's answer to CONNECT, taken for that of the server."""


FIELDS = {
    "keep-alive-unlisted": [("Keep-Alive", "300")],
    "refers-to-itself": [("Referer", "http://a.test/x")],
    "accepts-languages": [("Accept-Language", "en")],
    "expects-always": [("Expect", "100-continue")],
    "empty-elements": [("Accept-Encoding", "gzip,, br")],
    "blanks-in-parameters": [("Accept", "text/html;q = 0.5")],
}


def basic(user, password):
    if has("cut-at-colon"):
        password = password.partition(":")[0]
    text = f"{user}:{password}" if not has("user-alone") else user
    return "Basic " + base64.b64encode(text.encode("latin-1" if has("latin-1") else "utf-8", "replace")).decode()


def challenges(text):
    """The challenges of a field: scheme and parameters, their names in lower case."""
    found = []
    if has("split-at-commas"):
        pieces = text.split(",")
    else:
        pieces = re.findall(r'(?:[^,"]|"(?:[^"\\]|\\.)*")+', text)
    for piece in pieces:
        match = re.match(r'^\s*([^\s=]+)(?:\s+(?!=)(.*))?$', piece, re.S)
        rest = piece
        if match and not re.match(r'^\s*[^\s=]+\s*=\s*[^\s=]', piece):
            scheme = match.group(1)
            found.append((scheme if has("scheme-has-case") else scheme.lower(), {}))
            rest = match.group(2) or ""
        pair = re.match(r'^\s*([^\s=]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^\s]*)\s*$', rest)
        if pair and found:
            word = pair.group(2)
            if word.startswith('"'):
                word = re.sub(r"\\(.)", r"\1", word[1:-1] if word.endswith('"') and len(word) > 1 else word[1:])
            elif has("quotes-only"):
                continue
            found[-1][1].setdefault(pair.group(1).lower(), word)
    if has("scheme-has-case"):
        found = [(scheme.lower() if scheme in ("Basic", "Digest") else "unknown", given) for scheme, given in found]
    return found


# Attempts at several addresses (RFC 8305)


class Attempt:
    """An attempt at an address, in a thread of its own."""

    def __init__(self, index, place, finish, results):
        self.index, self.results = index, results
        self.socket = socket.socket(socket.AF_INET6 if ":" in place[0] else socket.AF_INET)
        self.socket.setblocking(False)
        self.socket.connect_ex(place)  # Begun here: threads start when they like.
        self.socket.settimeout(30)  # Longer than any vector waits for its end.
        self.handle = self.socket.dup()  # TLS takes the socket away.
        threading.Thread(target=self.run, args=(place, finish), daemon=True).start()

    def run(self, place, finish):
        try:
            select.select([], [self.socket], [], 3)
            if error := self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                raise OSError(error, os.strerror(error))
            self.socket.getpeername()  # Fails if it is not connected yet.
            self.results.put((self, finish(self.socket)))
        except (OSError, ValueError) as error:
            self.socket.close()
            self.results.put((self, error))

    def end(self):
        with contextlib.suppress(OSError):
            self.handle.shutdown(socket.SHUT_RDWR)
        self.handle.close()


def first(places, delay, finish):
    """What `finish` makes of the socket that is connected first, and the index of its address."""
    results, running, left = queue.Queue(), [], list(enumerate(places))

    def start(count=1):
        for index, place in left[:count]:
            running.append(Attempt(index, place, finish, results))
        del left[:count]

    start(len(left) if has("all-at-once") else 1)
    if has("first-address-only"):
        left.clear()
    error = OSError("no address")
    try:
        while running:
            try:
                attempt, found = results.get(timeout=delay if left else None)
            except queue.Empty:
                start(len(left) if has("all-after-delay") else 1)
                continue
            running.remove(attempt)
            if not isinstance(found, Exception):
                attempt.handle.close()
                return found, attempt.index
            attempt.end()
            error = found
            start(len(left) if has("all-after-failure") else 1)
        raise error
    finally:
        if not has("losers-stay"):
            for attempt in running:
                attempt.end()


def open_client(job):
    client = Client(job)
    job["close"](client.end)
    return client.send


if __name__ == "__main__":
    contract.serve({"contract": 1, "name": f"faulty ({FAULT})", "version": "1", "codings": []}, open_client)
