"""The jobs of `check`, and what their results have to be."""

from urllib.parse import quote, urlsplit

from check_servers import ALL_BYTES
from check_tests import (
    Wrong,
    answered,
    anything,
    arrived,
    both,
    cookies_are,
    fails,
    field_sent,
    has,
    nothing_of_the_user,
)

BEGIN = 1800000000  # Friday, 15 January 2027, 08:00:00 GMT


class Jobs:
    """Jobs for one scheme: names, members, and the tests of the results."""

    def __init__(self, house, scheme):
        self.scheme, self.found = scheme, []
        self.url, self.port = f"{scheme}://a.test", 443 if scheme == "https" else 80
        self.first, self.second = (
            (house.tls, house.second) if scheme == "https" else (house.plain, house.second_plain)
        )

    def at(self, host, *targets):
        """The member `connect` for one host."""
        return {f"{host}:{self.port}": list(targets)}

    def add(self, name, path, *tests, **members):
        """Adds a job: requests for a path, one for each test. Members of a request may be among the members."""
        inside = {key: members.pop(key) for key in ("method", "body", "stream", "headers") if key in members}
        url = path if path.startswith("http") else self.url + path
        self.add_requests(name, [{"url": url} | inside] * len(tests), tests, **members)

    def add_requests(self, name, requests, tests, **members):
        paths = {urlsplit(request["url"]).path for request in requests}
        topic = (
            "handshake"
            if paths <= {"/hello", "/host", "/no-answer", "/silent", "/connection", "/session"}
            else "response"
        )
        defaults = {"topic": topic, "connect": self.at("a.test", self.first), "requests": requests}
        self.found.append((f"{self.scheme}: {name}", defaults | members, tests))

    def name(self, host):
        """What a server tells of a request: Host and SNI."""
        return f"{host} {host.partition(':')[0] if self.scheme == 'https' else None}"


def jobs(house):
    found = []
    for scheme in ("https", "http"):
        all = Jobs(house, scheme)
        for add in (
            add_places,
            add_requests,
            add_responses,
            add_failures,
            add_redirects,
            add_cookies,
            add_connections,
        ):
            add(all, house)
        if scheme == "https":
            add_handshakes(all, house)
            add_hsts(all, house)
        found += all.found
    return found


def add_places(all, house):
    said = lambda host, address: answered(f"{all.name(host)} {address}".encode())
    absent = fails("noAddresses")
    all.add("GET", "/hello", both(answered(b"hello"), arrived(method="GET"), nothing_of_the_user))
    all.add("Host and SNI are the name", "/host", said("a.test", "127.0.0.1"))
    all.add(
        "Host has the port of the URL",
        f"{all.scheme}://a.test:8443/host",
        said("a.test:8443", "127.0.0.1"),
        connect={"a.test:8443": [all.first]},
    )
    all.add("an address of its own", "/host", said("a.test", "127.0.0.2"), connect=all.at("a.test", all.second))
    if house.six:
        all.add(
            "an address of IPv6",
            "/host",
            said("a.test", "::1"),
            connect=all.at("a.test", house.six if all.port == 443 else house.six_plain),
        )
    all.add(
        "the next address if one refuses",
        "/host",
        said("a.test", "127.0.0.2"),
        connect=all.at("a.test", *house.refusing_and(all.second)),
    )
    all.add(
        "the next address with another port",
        "/host",
        said("a.test", "127.0.0.2"),
        connect=all.at("a.test", house.refusing, all.second),
    )
    all.add("a host that is not in the job", "/hello", absent, connect=all.at("b.test", all.first))
    all.add("a host with no addresses", "/hello", absent, connect=all.at("a.test"))
    all.add("a port that is not in the job", "/hello", absent, connect={"a.test:81": [all.first]})
    all.add("an address that is not in the job", f"{all.scheme}://{all.first}/hello", absent, connect={})
    if all.scheme == "http":
        all.add(
            "an address in the URL",
            "http://127.0.0.7/hello",
            answered(b"hello"),
            connect={"127.0.0.7:80": [all.first]},
        )
        all.add(
            "an address of IPv6 in the URL",
            "http://[2001:db8::7]/hello",
            answered(b"hello"),
            connect={"[2001:db8::7]:80": [all.first]},
        )


def add_requests(all, house):
    fields = [["X-One", "1"], ["X-Two", "two words"], ["Accept", "text/x"]]
    all.add("HEAD", "/hello", both(answered(b""), arrived(method="HEAD")), method="HEAD")
    all.add("POST", "/echo", answered(b"POST a=b"), method="POST", body="a=b")
    all.add(
        "PUT of all bytes",
        "/echo",
        both(answered(b"PUT " + ALL_BYTES), arrived(body=ALL_BYTES)),
        method="PUT",
        body=ALL_BYTES.decode("latin-1"),
    )
    all.add("a content that is a stream", "/echo", answered(b"POST once"), method="POST", body="once", stream=True)
    all.add("DELETE", "/echo", answered(b"DELETE "), method="DELETE")
    all.add(
        "fields",
        "/hello",
        both(answered(b"hello"), *(field_sent(name, value) for name, value in fields)),
        headers=fields,
    )
    all.add(
        "a field with other bytes", "/hello", field_sent("X-Bytes", "\xe9\xff"), headers=[["X-Bytes", "\xe9\xff"]]
    )
    all.add("fields for all requests", "/hello", field_sent("X-All", "all"), settings={"headers": [["X-All", "all"]]})


def add_responses(all, house):
    lower = lambda fields: [[name.lower(), value] for name, value in fields]
    all.add("all bytes in a body", "/bytes", answered(ALL_BYTES))
    all.add(
        "other bytes in a field",
        "/bytes-field",
        has("headers", lambda fields: ["x-bytes", "\xe9\xff"] in lower(fields)),
    )
    all.add(
        "two fields of a name",
        "/set",
        has(
            "headers",
            lambda fields: sum(value.count("=") for name, value in lower(fields) if name == "set-cookie") >= 3,
        ),
    )
    all.add("chunks", "/chunked", answered(b"hello, world"))
    all.add(
        "trailers",
        "/trailers",
        both(answered(b"hello, world"), has("trailers", lambda fields: lower(fields) in ([], [["x-sum", "12"]]))),
    )
    all.add("content until the end", "/until-close", answered(b"until the end"))
    all.add(
        "an interim response",
        "/interim",
        both(answered(b"after the hint"), has("interims", lambda codes: codes == [103])),
    )
    all.add("404", "/missing", both(answered(b"not here", 404), has("reason", lambda text: text == "Not Found")))
    all.add("204", "/empty", answered(b"", 204))
    all.add("gzip", "/gzip", answered(b"zipped content"), settings={"decode": True})


def add_failures(all, house):
    all.add("refused", "/hello", fails("refused"), connect=all.at("a.test", house.refusing))
    all.add("an end before the content's", "/short", fails("incomplete", "closed"))
    all.add("an end inside of a chunk", "/short-chunk", fails("incomplete", "closed", "badHTTP"))
    all.add("an end before the response", "/no-answer", fails("closed", "reset"))
    all.add("what is not HTTP", "/garbage", anything)
    # What a client makes of these is its own affair; the adapter has to say it.
    for line in ("HTTP/1.1 2OO OK", "HTTP/1.1  200 OK", "HTTP/1.1\t200 OK", "HTTP/1.1 99 Low", "HTTP/1.1", "HTTP/x.y 200 OK"):
        all.add(f"the status line {line!r}", f"/line?{quote(line)}", anything, timeout=2000)
    # A refused request must not disturb the next job.
    all.add("a field name that is none", "/hello", anything, headers=[["bad name", "x"]])
    all.add("a request after that", "/hello", answered(b"hello"))
    all.add("a switch to another protocol", "/switch", anything, timeout=1000)
    all.add("silence", "/silent", fails("timeout"), timeout=1000)
    all.add("a content that comes slowly", "/trickle", fails("timeout"), timeout=1500)
    requests = [{"url": all.url + "/silent"}, {"url": all.url + "/hello"}]
    all.add_requests("a request after one that fails", requests, [fails("timeout"), answered(b"hello")], timeout=1000)
    all.add_requests(
        "the same with connections kept",
        requests,
        [fails("timeout"), answered(b"hello")],
        timeout=1000,
        keep=["connections"],
    )
    # What is over must not be asked for again when its connection ends: that may be at a server of the next job.
    all.add_requests(
        "a request that is over is not repeated",
        [{"url": all.url + "/late"}, {"url": all.url + "/slow"}],
        [fails("timeout"), both(answered(b"hello"), arrived(path="/slow"))],
        timeout=3000,
    )


def add_redirects(all, house):
    follow, there = {"follow": True}, f"{all.scheme}://b.test/host"
    both_hosts = all.at("a.test", all.first) | all.at("b.test", all.second)
    here = f"/redirect?{all.url}/hello"
    all.add(
        "a redirect that is not followed",
        here,
        both(answered(b"moved", 302), has("url", lambda text: "redirect" in text)),
    )
    all.add(
        "a redirect that is followed",
        here,
        both(answered(b"hello"), has("url", lambda text: text == all.url + "/hello")),
        settings=follow,
    )
    all.add(
        "a redirect to another host",
        f"/redirect?{there}",
        answered(f"{all.name('b.test')} 127.0.0.2".encode()),
        settings=follow,
        connect=both_hosts,
    )
    all.add(
        "a redirect to a host that is not in the job", f"/redirect?{there}", fails("noAddresses"), settings=follow
    )
    all.add("a HEAD that is redirected", here, answered(None), method="HEAD", settings=follow)
    all.add("a redirect too many", here, fails("tooMany"), settings=follow | {"redirects": {"limit": 0}})
    all.add("as many redirects as may be", here, answered(b"hello"), settings=follow | {"redirects": {"limit": 1}})


def add_cookies(all, house):
    get = {"url": all.url + "/field?cookie"}
    fresh = [answered(b"set"), cookies_are("name=value", "second=2")]
    later = [{"url": all.url + "/set-age"}, get | {"after": 50}, get | {"after": 150}]
    all.add_requests("cookies are kept", [{"url": all.url + "/set"}, get], fresh, keep=["cookies"])
    all.add_requests(
        "cookies and connections are kept", [{"url": all.url + "/set"}, get], fresh, keep=["cookies", "connections"]
    )
    all.add_requests("cookies are not kept", [{"url": all.url + "/set"}, get], [answered(b"set"), answered(b"none")])
    all.add_requests(
        "cookies are not kept, connections are",
        [{"url": all.url + "/set"}, get],
        [answered(b"set"), answered(b"none")],
        keep=["connections"],
    )
    all.add_requests(
        "cookies at a time of the job", later, [*fresh, cookies_are("second=2")], keep=["cookies"], time=BEGIN
    )
    later = [{"url": all.url + "/set-date"}, *later[1:]]
    all.add_requests(
        "a cookie's date at a time of the job", later, [*fresh, cookies_are("second=2")], keep=["cookies"], time=BEGIN
    )


def add_hsts(all, house):
    get, places = {"url": "http://a.test/scheme"}, {"a.test:443": [house.tls], "a.test:80": [house.plain]}
    requests = [{"url": "https://a.test/hsts"}, get | {"after": 50}, get | {"after": 150}]
    kept = [answered(b"only TLS"), answered(b"https"), answered(b"http")]
    all.add_requests("HSTS is kept", [{"url": "https://a.test/hsts"}, get], kept[:2], connect=places, keep=["hsts"])
    all.add_requests("HSTS is not kept", [{"url": "https://a.test/hsts"}, get], [kept[0], kept[2]], connect=places)
    all.add_requests(
        "HSTS is not kept, connections are",
        [{"url": "https://a.test/hsts"}, get],
        [kept[0], kept[2]],
        connect=places,
        keep=["connections"],
    )
    all.add_requests("HSTS at a time of the job", requests, kept, connect=places, keep=["hsts"], time=BEGIN)


def add_connections(all, house):
    all.add("connections are kept", "/connection", *[answered(None)] * 3, keep=["connections"])
    all.add("connections are not kept", "/connection", *[answered(None)] * 2)


def add_handshakes(all, house):
    def at(server):
        return all.at("a.test", server)

    all.add("a root that is not trusted", "/hello", fails("untrusted"), connect=at(house.untrusted))
    all.add("other roots in the job", "/hello", fails("untrusted"), roots=house.other_roots)
    all.add(
        "other roots, other server",
        "/hello",
        answered(b"hello"),
        roots=house.other_roots,
        connect=at(house.untrusted),
    )
    all.add(
        "a certificate for other names",
        "https://c.test/hello",
        fails("wrongName"),
        connect=all.at("c.test", all.first),
    )
    all.add(
        "a certificate without the address",
        "https://127.0.0.7/hello",
        fails("wrongName"),
        connect=all.at("127.0.0.7", all.first),
    )
    all.add(
        "no TLS that is new enough",
        "/hello",
        fails("alert 70"),
        connect=at(house.newest),
        settings={"versions": ["1.2", "1.2"]},
    )
    all.add("new TLS", "/hello", answered(b"hello"), connect=at(house.newest), settings={"versions": ["1.3", "1.3"]})
    all.add(
        "a range of versions",
        "/hello",
        answered(b"hello"),
        connect=at(house.newest),
        settings={"versions": ["1.2", "1.3"]},
    )
    all.add(
        "a client's certificate",
        "/hello",
        answered(b"hello"),
        connect=at(house.asking),
        settings={"certificate": house.certificate},
    )
    all.add("no client's certificate", "/hello", fails("alert 116", "closed", "reset"), connect=at(house.asking))
    new = answered(b"a new session")
    all.add("sessions are not kept", "/session", new, new)
    all.add("sessions are not kept, connections are", "/session", new, new, keep=["connections"])
    all.add("sessions are kept", "/session", new, answered(b"a resumed session"), keep=["sessions"])
    all.add(
        "sessions and connections are kept",
        "/session",
        new,
        answered(b"a resumed session"),
        keep=["sessions", "connections"],
    )
    all.add(
        "sessions are not resumed", "/session", new, new, keep=["sessions", "connections"], settings={"resume": False}
    )


def look_at_all(name, results):
    """Tests that need all results of a job."""
    if name.endswith("connections are not kept") and results[0].get("body") == results[1].get("body"):
        raise Wrong("both requests use one connection")
