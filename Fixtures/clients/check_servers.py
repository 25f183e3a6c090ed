"""The servers and certificates of `check`."""

import gzip
import queue
import select
import socket
import ssl
import subprocess
import threading
from pathlib import Path
from urllib.parse import unquote

ALL_BYTES = bytes(range(256))
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n7;x=y\r\n, world\r\n0\r\n"


class House:
    """Certificates and servers. What a server does depends on the path of the request."""

    def __init__(self, folder):
        self.folder = folder
        self.seen = queue.Queue()
        self.connections = 0
        self.roots = make_authority(folder, "root")
        self.other_roots = make_authority(folder, "other-root")
        good = make_leaf(folder, "root", "good", "DNS:a.test,DNS:b.test")
        other = make_leaf(folder, "other-root", "other", "DNS:a.test")
        self.certificate = make_leaf(folder, "root", "client", "DNS:client.test")
        self.plain = self.listen("127.0.0.1", None)
        self.tls = self.listen("127.0.0.1", self.context(good))
        self.second = self.listen("127.0.0.2", self.context(good))
        self.second_plain = self.listen("127.0.0.2", None)
        self.six, self.six_plain = None, None
        if has_six():
            self.six, self.six_plain = self.listen("::1", self.context(good)), self.listen("::1", None)
        self.untrusted = self.listen("127.0.0.1", self.context(other))
        asking = self.context(good)
        asking.verify_mode = ssl.CERT_REQUIRED
        asking.load_verify_locations(self.roots)
        self.asking = self.listen("127.0.0.1", asking)
        newest = self.context(good)
        newest.minimum_version = ssl.TLSVersion.TLSv1_3
        self.newest = self.listen("127.0.0.1", newest)
        free = socket.create_server(("127.0.0.1", 0))
        self.refusing = "127.0.0.1:%d" % free.getsockname()[1]
        free.close()

    def context(self, certificate):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        context.set_alpn_protocols(["http/1.1"])
        context.sni_callback = lambda connection, name, _: setattr(connection, "asked_name", name)
        return context

    def listen(self, address, context):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        listener = socket.create_server((address, 0), family=family, backlog=32)
        threading.Thread(target=self.accept, args=(listener, context), daemon=True).start()
        return f"{f'[{address}]' if ':' in address else address}:{listener.getsockname()[1]}"

    def refusing_and(self, server):
        """An address that refuses and one that answers, with the same port."""
        return [f"127.0.0.3:{server.rpartition(':')[2]}", server]

    def accept(self, listener, context):
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=self.serve, args=(connection, context), daemon=True).start()

    def serve(self, connection, context):
        self.connections += 1
        number, name, resumed = self.connections, None, False
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.settimeout(10)
            address = connection.getsockname()[0]
            if context:
                connection = context.wrap_socket(connection, server_side=True)
                name, resumed = getattr(connection, "asked_name", None), connection.session_reused
            reader = connection.makefile("rb")
            while self.answer(connection, reader, number, name, address, resumed):
                pass
            if context:
                connection.unwrap()
        except (OSError, ValueError):
            pass
        finally:
            connection.close()

    def answer(self, connection, reader, number, name, address, resumed):
        line = reader.readline().decode("latin-1").split()
        if len(line) < 2:
            return False
        fields = []
        while (field := reader.readline().rstrip(b"\r\n")) != b"":
            fields.append(tuple(part.strip().decode("latin-1") for part in field.split(b":", 1)))
        values = {name.lower(): value for name, value in fields}
        if values.get("expect"):
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        content = read_content(reader, values)
        path, _, query = line[1].partition("?")
        self.seen.put({"method": line[0], "path": line[1], "fields": fields, "body": content, "name": name})
        answer = ANSWERS.get(path, lambda *_: message(b"hello"))(
            Asked(
                line[0],
                unquote(query),
                values,
                content,
                number,
                address,
                name,
                resumed,
                isinstance(connection, ssl.SSLSocket),
            )
        )
        parts = answer if isinstance(answer, list) else [answer]
        for part in parts:
            if isinstance(part, float):
                select.select([connection], [], [], part)
            else:
                connection.sendall(
                    b""
                    if part is None
                    else part if line[0] != "HEAD" else part.partition(b"\r\n\r\n")[0] + b"\r\n\r\n"
                )
        return parts[-1] is not None and values.get("connection", "").lower() != "close"


class Asked:
    def __init__(self, method, query, fields, content, connection, address, name, resumed, secure):
        self.method, self.query, self.fields, self.content = method, query, fields, content
        self.connection, self.address, self.name = connection, address, name
        self.resumed, self.secure = resumed, secure


def read_content(reader, fields):
    if "chunked" in fields.get("transfer-encoding", ""):
        content = b""
        while size := int(reader.readline().split(b";")[0], 16):
            content += reader.read(size)
            reader.readline()
        while reader.readline().strip():
            pass
        return content
    return reader.read(int(fields.get("content-length", 0)))


def message(content, *fields, status="200 OK"):
    head = [f"HTTP/1.1 {status}", f"Content-Length: {len(content)}", *fields]
    return "\r\n".join(head).encode("latin-1") + b"\r\n\r\n" + content


def cookies(first):
    return message(b"set", f"Set-Cookie: {first}", "Set-Cookie: second=2; Path=/")


def zipped(asked):
    if "gzip" not in asked.fields.get("accept-encoding", ""):
        return message(b"not asked for gzip")
    return message(gzip.compress(b"zipped content"), "Content-Encoding: gzip")


# None at the end of a list: the connection is closed. A number is a pause in seconds.
ANSWERS = {
    "/echo": lambda asked: message(f"{asked.method} ".encode() + asked.content),
    "/field": lambda asked: message(asked.fields.get(asked.query, "none").encode("latin-1")),
    "/host": lambda asked: message(f"{asked.fields.get('host')} {asked.name} {asked.address}".encode()),
    "/bytes": lambda _: message(ALL_BYTES),
    "/bytes-field": lambda _: message(b"hello", "X-Bytes: \xe9\xff"),
    "/chunked": lambda _: CHUNKED + b"\r\n",
    "/trailers": lambda _: CHUNKED + b"X-Sum: 12\r\n\r\n",
    "/until-close": lambda _: [b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nuntil ", 0.05, b"the end", None],
    "/short": lambda _: [b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this", None],
    "/short-chunk": lambda _: [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n9\r\n, ", None],
    "/no-answer": lambda _: [None],
    "/garbage": lambda _: [bytes(reversed(ALL_BYTES)) * 4, None],
    "/line": lambda asked: [asked.query.encode() + b"\r\nContent-Length: 5\r\n\r\nhello", None],
    "/silent": lambda _: [5.0, None],
    "/late": lambda _: [3.5, None],
    "/slow": lambda _: [1.0, message(b"hello")],
    "/trickle": lambda _: [b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"]
    + [part for _ in range(30) for part in (b"x", 0.2)]
    + [None],
    "/redirect": lambda asked: message(b"moved", f"Location: {asked.query}", status="302 Found"),
    "/set": lambda _: cookies("name=value; Path=/"),
    "/set-age": lambda _: cookies("name=value; Path=/; Max-Age=100"),
    "/set-date": lambda _: cookies("name=value; Path=/; Expires=Fri, 15 Jan 2027 08:01:40 GMT"),
    "/hsts": lambda _: message(b"only TLS", "Strict-Transport-Security: max-age=100"),
    "/scheme": lambda asked: message(b"https" if asked.secure else b"http"),
    "/gzip": zipped,
    "/connection": lambda asked: message(str(asked.connection).encode()),
    "/session": lambda asked: [
        message(b"a resumed session" if asked.resumed else b"a new session", "Connection: close"),
        None,
    ],
    "/interim": lambda _: b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + message(b"after the hint"),
    "/switch": lambda _: b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nwhat is not HTTP",
    "/missing": lambda _: message(b"not here", status="404 Not Found"),
    "/empty": lambda _: b"HTTP/1.1 204 No Content\r\n\r\n",
}


def has_six():
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
        return True
    except OSError:
        return False


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


def make_authority(folder, name):
    path = str(folder / name)
    openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", path + ".key")
    openssl(
        "req", "-x509", "-new", "-key", path + ".key", "-days", "2", "-subj", f"/CN={name}", "-out", path + ".pem",
        "-addext", "keyUsage=critical,keyCertSign",
    )  # fmt: skip
    return path + ".pem"


def make_leaf(folder, authority, name, names):
    path, signer = str(folder / name), str(folder / authority)
    openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", path + ".key")
    openssl("req", "-new", "-key", path + ".key", "-subj", f"/O={name}", "-out", path + ".csr")
    Path(path + ".ext").write_text(
        f"subjectAltName={names}\nbasicConstraints=CA:FALSE\nkeyUsage=digitalSignature\nextendedKeyUsage=serverAuth,clientAuth\n"
        "subjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid\n"
    )
    openssl(
        "x509", "-req", "-in", path + ".csr", "-CA", signer + ".pem", "-CAkey", signer + ".key", "-CAcreateserial", "-days", "2",
        "-extfile", path + ".ext", "-out", path + ".crt",
    )  # fmt: skip
    Path(path + ".pem").write_text(Path(path + ".crt").read_text() + Path(path + ".key").read_text())
    return path + ".pem"
