"""Makes the first inputs of the fuzzing targets from the vectors.

  python3 Verification/Fuzzing/seeds.py Fixtures/vectors FOLDER TARGET…

writes a folder for each target. An input is texts, with the byte 0x1F between them, and then numbers, of which the
target takes the last one first (Verification/Fuzzing/Choices.swift).
"""

import base64
import hashlib
import json
import sys
from pathlib import Path

LARGEST = 4000


def vectors(folder, topic):
    for path in sorted((folder / topic).glob("*.json")):
        yield from json.loads(path.read_text())


def raw(text):
    """The bytes of a text in a vector: each character is a byte."""
    return text.encode("latin-1", "replace")


def joined(*texts, numbers=()):
    return b"\x1f".join(texts) + bytes(reversed(numbers))


def response(folder):
    methods = {"GET": 0, "HEAD": 1, "CONNECT": 2, "POST": 3}
    leniencies = {"acceptsBareLineFeeds": 1, "acceptsDoubtfulFraming": 2, "acceptsBareLineFeedsInChunks": 4,
                  "acceptsWhitespaceAfterChunkSizes": 8}
    for vector in vectors(folder, "response"):
        close = {None: 0, "clean": 1, "unclean": 2}[vector.get("close")]
        leniency = sum(leniencies[name] for name in vector.get("leniency", []))
        method = methods.get(vector.get("method", "GET"), 0)
        # No small limits, and no cuts besides those that the target makes itself.
        numbers = [method, int(vector.get("upgrade", False)), close, leniency, 0, 0]
        yield joined(raw(vector["input"]), numbers=numbers)


def head(folder):
    for vector in vectors(folder, "response"):
        text = raw(vector["input"])
        yield joined(text, numbers=[0, 0, 3])
        yield joined(text.partition(b"\r\n")[2], numbers=[1, 0, 3])


def framing(folder):
    chunked = b"5\r\nhello\r\n0\r\n\r\n"
    lists = [b"chunked", b"gzip, chunked", b"identity", b", Chunked ,", b"chunked;q=1", b"x;a=\"b, chunked\""]
    for number, codings in enumerate(lists):
        yield joined(codings, chunked, numbers=[0, 0, 1, 0, number % 3, 1])
        yield joined(codings, b"chunked", b"hello", numbers=[1, 0, 0, 1, 0, 1])
        yield joined(b"chunked", codings, chunked[:9], numbers=[0, 0, 1, 0, 0, 0])


def chunks(folder):
    for vector in vectors(folder, "response"):
        body = raw(vector["input"]).partition(b"\r\n\r\n")[2]
        if body:
            yield joined(body, numbers=[0, 1, 5, 0, 2, 0, 7, 0, 50, 0])


def request_texts(vector):
    fields = vector.get("headers", []) + vector.get("extra", []) + vector.get("trailers", [])
    texts = [vector.get("method", "GET"), vector.get("target", "/"), vector.get("authority", "a.example")]
    return [raw(text) for text in texts + [text for field in fields for text in field]]


def request(folder):
    for vector in vectors(folder, "request"):
        framing = {"none": 0, "chunked": 4}.get(vector.get("framing", "none"), 2)
        flags = [int(vector.get(name, False)) for name in ("expectContinue", "close", "upgrade")]
        yield joined(*request_texts(vector), numbers=[framing, *flags, len(vector.get("extra", [])) % 4])


def urls(folder):
    for vector in vectors(folder, "redirect"):
        yield from (request["url"] for request in vector["expect"].get("requests", []))
        yield from (answer["location"] for answer in vector["answers"] if isinstance(answer.get("location"), str))
    for vector in vectors(folder, "cookies"):
        yield from (response["url"] for response in vector["responses"])


def url(folder):
    extra = ["http://[::1%25lo]:80/%2e/../a?b#c", "https://user:pass%20word@a.test:444/\u00e9/'<>?\"'#`"]
    yield from (text.encode() for text in [*urls(folder), *extra])


def reference(folder):
    for vector in vectors(folder, "redirect"):
        for answer in vector["answers"]:
            if isinstance(answer.get("location"), str):
                yield joined(vector["request"]["url"].encode(), answer["location"].encode())


def cookies(folder):
    for vector in vectors(folder, "cookies"):
        fields = [raw(field) for response in vector["responses"] for field in response["set"]]
        for request in vector["expect"]["requests"]:
            yield joined(vector["responses"][0]["url"].encode(), request["url"].encode(), *fields, numbers=[0, 0])


def cookie_file(folder):
    line = b"#HttpOnly_.example.com\tTRUE\t/\tTRUE\t1800000001\tname\tvalue\n"
    yield b"# Netscape HTTP Cookie File\n\n" + line + b"a.test\tFALSE\t/p\tFALSE\t0\t\tv\n"
    cookie = {"name": "n", "value": [255], "host": "a.test", "subdomains": True, "path": "/", "expiry": 1800000001}
    rest = {"secure": True, "httpOnly": True, "sameSite": "Lax"}
    yield b"\n".join(json.dumps(part).encode() for part in ({"format": "direct-http cookies", "version": 1}, cookie | rest))


def hsts(folder):
    fields = [b"max-age=31536000; includeSubDomains", b'max-age="0" ; x=y', b"MAX-AGE=1;;preload", b'max-age="1\\0"']
    yield joined(*fields, numbers=[7, 0, 0, 1, 1, 2, 2, 3, 3, 4, 0, 0, 3, 1, 0])
    yield joined(*fields, numbers=[2, 0, 0, 0, 1])


def hsts_file(folder):
    yield b'# c\n.example.com "20990314 15:09:26"\na.test "unlimited"\r\nb.test "21991231 23:59:59"\nwrong\n'
    yield b'a.test "99991231 23:59:59"\n.a.test "21280229 00:00:00"\n'


def cache_headers(vector):
    for exchange in vector["exchanges"]:
        sides = [side for side in (exchange.get("response"), exchange.get("request")) if isinstance(side, dict)]
        fields = [field for side in sides for field in side.get("headers", [])]
        yield [(name, value) for name, value in fields if isinstance(value, str)]


def cache_fields(folder):
    for vector in vectors(folder, "cache"):
        for fields in cache_headers(vector):
            if fields:
                texts = [raw(f"{name}: {value}") for name, value in fields]
                yield joined(*texts, numbers=[100, 0] + [0, 0, 0, 0, 107, 73, 210, 0, 0] * 4)


def cache_entry(folder):
    def text(value):
        return len(value).to_bytes(2, "little") + value

    times = (1_800_000_000).to_bytes(8, "little") * 2
    front = bytes(16) + times + bytes(8) + b"\x01" + (200).to_bytes(2, "little") + b"\x01"
    fields = [(b"Cache-Control", b"max-age=60"), (b"Vary", b"Accept"), (b"ETag", b'"x"')]
    coded = b"".join(text(name) + text(value) for name, value in fields)
    names = (1).to_bytes(2, "little") + text(b"accept")
    head = front + names + text(b"OK") + len(fields).to_bytes(2, "little") + coded
    yield joined(head, numbers=[1, 0, 0, 5, 0])
    yield joined(bytes(8) + b"\x02" + text(b"accept,accept-language") + text(b""), numbers=[2, 0, 0, 0, 0])
    yield joined(b"content", numbers=[3, 9, 0, 0, 0])
    yield joined(b"DHCACHE3" + bytes(40) + head, numbers=[0, 0, 0, 0, 0])


def date(folder):
    yield from (b"Sun, 06 Nov 1994 08:49:37 GMT", b"Sunday, 06-Nov-94 08:49:37 GMT", b"Sun Nov  6 08:49:37 1994")
    yield from (b"Wed, 09-Jun-2021 10:18:14 GMT", b"SUN, 29 FEB 2032 23:59:59 gmt", b"Fri, 31 Dec 9999 23:59:59 GMT")


def dns(folder):
    header = bytes.fromhex("0000 8180 0001 0002 0000 0000")
    question = b"\x01a\x04test\x00\x00\x01\x00\x01"
    alias = b"\xc0\x0c\x00\x05\x00\x01\x00\x00\x00\x3c\x00\x04\x01b\xc0\x0e"
    address = b"\xc0\x26\x00\x01\x00\x01\x00\x00\x00\x3c\x00\x04\xc0\x00\x02\x01"
    yield joined(header + question + alias + address, numbers=[0])
    v6 = b"\xc0\x0c\x00\x1c\x00\x01\x00\x00\x00\x3c\x00\x10" + bytes(16)
    yield joined(header[:6] + b"\x00\x01" + header[8:] + question[:-3] + b"\x1c\x00\x01" + v6, numbers=[1])
    yield joined(b"www.example.com", numbers=[1])


def svcb(folder):
    for text in ("0000 0161 00", "0001 00", "0001 00 0003 0002 01bb 0006 0010" + 16 * "20"):
        yield bytes.fromhex(text)
    yield bytes.fromhex("0001 0161 00 0000 0004 0001 0004 0001 0006 026832 026833 0002 0000 0004 0004 c0000201")
    config = next(ech(folder))
    yield bytes.fromhex("0001 00 0005") + len(config).to_bytes(2, "big") + config
    yield b'1 a.test. alpn="h2,h\\\\,3" ipv4hint=192.0.2.1 mandatory=alpn key667=a\\210 port=53'
    yield b"\\# 3 000100"


def ech(folder):
    def vector(value):
        return len(value).to_bytes(2, "big") + value

    for extensions in (b"", bytes.fromhex("0001 0000"), bytes.fromhex("8001 0000")):
        contents = b"\x07\x00\x20" + vector(bytes(32)) + vector(bytes.fromhex("0001 0001 0001 0003")) + b"\x00\x0acover.test"
        config = b"\xfe\x0d" + vector(contents + vector(extensions))
        yield vector(config)
        yield vector(b"\xfe\x0a" + vector(bytes(4)) + config + config)


def httpdns(folder):
    record = {"name": "a.test.", "type": 1, "TTL": 60, "data": "192.0.2.1"}
    alias = {"name": "a.test.", "type": 5, "TTL": 60, "data": "b.test."}
    google = {"Status": 0, "TC": False, "Answer": [alias, record | {"name": "b.test"}, record]}
    one = {"host": "a.test", "ips": ["192.0.2.1"], "ipsv6": ["2001:db8::1"], "ttl": 60}
    family = {"ips": ["192.0.2.1"], "ttl": 60}
    two = {"code": "success", "mode": 0, "data": {"answers": [{"dn": "a.test", "v4": family, "v6": {"ips": [], "ttl": 1}}]}}
    for number, body in enumerate((google, None, one, two)):
        text = json.dumps(body).encode() if body else b"192.0.2.1;192.0.2.2,600"
        yield joined(text, numbers=[number, 0, 0, 0])
    yield joined(b'{"a\\n": 1, "a\\n": 2}', numbers=[0, 0, 0, 0])
    yield joined(b'{"code": "Refused"}', numbers=[3, 0, 1, 3])
    yield from (seed[:-1] + bytes([0, 0, seed[-1], 4]) for seed in dns(folder))


def json_seeds(folder):
    yield b'{"a": [1, -0.5e+3, true, null, "\\u00e9\\ud83d\\ude00\\n"], "b": {}}'
    for path in sorted(folder.glob("*/*.json")):
        yield from (json.dumps(vector).encode() for vector in json.loads(path.read_text())[:3] if isinstance(vector, dict))


def certificate(folder):
    for path in sorted((folder.parent / "certificates").glob("*.pem")):
        text = path.read_text()
        yield text.encode()
        for part in text.split("-----BEGIN CERTIFICATE-----")[1:]:
            yield base64.b64decode(part.split("-----END")[0])


def name_check(folder):
    for name, asked in (("a.test", "a.test"), ("*.a.test", "b.a.test"), ("*.test", "a.test"), ("f*.a.test", "foo.a.test")):
        yield joined(asked.encode(), name.encode(), b"B.Test", b"\x7f\x00\x00\x01", numbers=[0, 0, 2, 0])
    yield joined(b"127.0.0.1", b"127.0.0.1", b"\x7f\x00\x00\x01", numbers=[0, 2, 0, 0])
    yield joined(b"::1", bytes(15) + b"\x01", numbers=[2, 0, 0, 0])
    for vector in vectors(folder, "names"):
        yield joined(vector["identity"].encode(), b"*.wildcard.test", vector["identity"].encode(), numbers=[0, 0, 0, 0])


def lines(folder):
    yield joined(b"\xef\xbb\xbfone\r\ntwo\rthree\n\nfour", numbers=[0, 2, 3, 0, 7, 0])


def events(folder):
    yield joined(b": comment\nevent: tea\nid: 7\nretry: 1500\ndata: one\ndata:two\n\ndata\n\nid\n\n", numbers=[0])


def charsets(folder):
    for number, charset in enumerate(["gb18030", "utf-8", "cp1252", "utf-16-le", "utf-16-be"]):
        yield joined("茶 tea €".encode(charset, "replace"), "中文𠀀".encode(charset, "replace"), numbers=[number])
    yield joined(b'text/plain; charset="GB2312"', numbers=[0])
    for form in range(4):
        yield joined(b"", b"", b"charset", b"gbk", b"x", b"a;b", b"charset", b" utf-8 ", numbers=[0, 3, form, form + 1, 2, 0])
    yield joined(b"\x81\x30\x81\x30\x84\x31\xa4\x37\xff\x81", b"\x90\x30\x81\x30", numbers=[0])


def challenges(folder):
    yield joined(b'Basic realm="a \\"b\\"", charset=UTF-8, Digest nonce=x,qop="auth,auth-int"', b"Negotiate YII=, Bearer", b"realm", b"a b",
                 numbers=[3, 0, 0, 1, 1, 0, 0, 3, 1, 1, 0, 0, 1, 2, 1, 2, 0, 1, 0, 1, 0, 4, 0])
    yield joined(b"newauth", b"realm", b'say "hi", ok=', b"title", numbers=[4] + [0, 0, 1, 1, 1, 0, 3] * 4)


def client(folder):
    for vector in vectors(folder, "response"):
        # Settings, method, which connections end, cuts.
        yield joined(raw(vector["input"]), numbers=[0, 0, 0, 1, 20, 0])
    for vector in vectors(folder, "redirect"):
        answers = []
        for answer in vector["answers"]:
            location = f"Location: {answer['location']}\r\n" if isinstance(answer.get("location"), str) else ""
            answers.append(f"HTTP/1.1 {answer['status']} X\r\n{location}Content-Length: 0\r\n\r\n".encode())
        end = b"HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nCache-Control: max-age=9\r\nContent-Length: 2\r\n\r\nok"
        yield joined(*answers[:3], end, numbers=[15, 0, 6, 0])


def proxy(folder):
    # Credentials are not asked for, which connections of the server end, cuts.
    numbers = [1, 1, 0]
    get = b"GET http://a.test/x?y HTTP/1.1\r\nHost: a.test\r\n\r\n"
    for vector in vectors(folder, "response"):
        yield joined(get, raw(vector["input"]), numbers=numbers)
    hello = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
    for fields in ("Connection: X, close\r\nX: 1", "TE: trailers\r\nMax-Forwards: 3", "Connection: upgrade\r\nUpgrade: a",
                   "Transfer-Encoding: chunked\r\nContent-Length: 1", "Content-Length: +1", "A:b\n c", "Host: b"):
        for method in ("GET", "OPTIONS", "TRACE"):
            yield joined(f"{method} http://[2001:db8::1]:81 HTTP/1.1\r\nHost: a\r\n{fields}\r\n\r\n".encode(), hello, numbers=numbers)
    chunks = b"5;a=b\r\nhello\r\n0\r\nX: 1\r\n\r\n"
    yield joined(b"PUT http://a.test/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + get, hello, hello, numbers=[1, 0, 0])
    yield joined(b"CONNECT a.test:443 HTTP/1.1\r\n\r\n" + get, hello, numbers=numbers)
    for number in (0, 1):
        yield joined(b"\x05\x01\x00\x05\x01\x00\x03\x06a.test\x01\xbb" + get, hello, numbers=[number, 1, 0])
        yield joined(b"\x05\x02\x00\x02\x01\x06direct\x01x\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x50", hello, numbers=[number, 1, 0])
    yield joined(get.replace(b"Host", b"Proxy-Authorization: Basic ZGlyZWN0Og==\r\nHost"), hello, numbers=[0, 1, 0])


def coded(folder, coding):
    for vector in vectors(folder, "decoding"):
        data = vector["input"]
        if isinstance(data, str) and coding in vector["encodings"]:
            yield joined(bytes.fromhex(data), numbers=[0, 1, 7, 0])


def gzip(folder):
    yield from coded(folder, "gzip")


def deflate(folder):
    yield from coded(folder, "deflate")


def br(folder):
    yield from coded(folder, "br")


def zstd(folder):
    yield from coded(folder, "zstd")


def coding_chain(folder):
    order = {"gzip": 0, "deflate": 1, "br": 2, "zstd": 3}
    for vector in vectors(folder, "decoding"):
        names = [name.strip() for text in vector["encodings"] for name in text.split(",")]
        if isinstance(vector["input"], str) and 2 <= len(names) <= 4 and all(name in order for name in names):
            yield joined(bytes.fromhex(vector["input"]), numbers=[len(names) - 2, *(order[name] for name in names), 0, 0])


def main():
    source, folder = Path(sys.argv[1]), Path(sys.argv[2])
    for name in sys.argv[3:]:
        make = globals().get({"json": "json_seeds"}.get(name, name.replace("-", "_")))
        if make is None:
            sys.exit(f"seeds.py: there are no seeds for {name}")
        (folder / name).mkdir(parents=True, exist_ok=True)
        for seed in make(source):
            if len(seed) <= LARGEST:
                (folder / name / hashlib.sha1(seed).hexdigest()).write_bytes(seed)


main()
