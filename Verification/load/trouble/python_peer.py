"""A server on Python's own HTTP and TLS: python_peer.py PORT CERTIFICATE KEY BLOBS NAME

It runs until it is killed. node_peer.mjs serves the same paths, the other peers those that they can:

    /blob/NAME, /gzip/NAME, /chunked/NAME  a content with its length, compressed, or in chunks
    /drip/NAME                             4 KiB each 20 ms
    /cached/NAME                           with ETag and a freshness of a second
    /redirect/N/PATH, /away/HOST:PORT/PATH N redirects on the same server; one to another server
    /busy/NAME                             503 for every other request, by chance
    POST /sum                              the number of bytes of the upload, their SHA-256, and the server's name
    POST /refuse                           413 before the upload is read
"""

import gzip
import hashlib
import random
import socket
import ssl
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PIECE = 4096


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_GET(self):
        _, kind, rest = self.path.split("/", 2)
        if self.carries_foreign_cookie():
            return self.answer(500, b"a cookie of another host")
        getattr(self, f"get_{kind}")(rest)

    def get_blob(self, name):
        self.answer(200, blob(name))

    def get_cached(self, name):
        content = blob(name)
        tag = f'"{hashlib.sha256(content).hexdigest()}"'
        fields = {"ETag": tag, "Cache-Control": "max-age=1"}
        if self.headers.get("If-None-Match") == tag:
            return self.answer(304, b"", fields)
        self.answer(200, content, fields)

    def get_gzip(self, name):
        self.answer(200, gzip.compress(blob(name), 1), {"Content-Encoding": "gzip"})

    def get_chunked(self, name):
        self.in_chunks(blob(name), pause=0)

    def get_drip(self, name):
        self.in_chunks(blob(name), pause=0.02)

    def get_redirect(self, rest):
        count, _, target = rest.partition("/")
        onward = f"/redirect/{int(count) - 1}/{target}" if int(count) > 1 else f"/{target}"
        self.answer(302, b"elsewhere", {"Location": onward})

    def get_away(self, rest):
        self.answer(307, b"", {"Location": f"https://{rest}"})

    def get_busy(self, name):
        if random.random() < 0.5:
            return self.answer(503, b"busy", {"Retry-After": "0"})
        self.get_blob(name)

    def do_POST(self):
        if self.path == "/refuse":
            # Without reading the body: the connection cannot be used again.
            self.close_connection = True
            return self.answer(413, b"too much", {"Connection": "close"})
        count, digest = 0, hashlib.sha256()
        for piece in self.pieces():
            count += len(piece)
            digest.update(piece)
        self.answer(200, f"{count} {digest.hexdigest()} {NAME}".encode())

    def pieces(self):
        """The request's body, by length or in chunks. A body that breaks off is an error, so it gets no answer."""
        if self.headers.get("Transfer-Encoding") == "chunked":
            while size := int(self.line().split(b";")[0], 16):
                yield self.exactly(size)
                self.line()
            while self.line():
                pass
            return
        left = int(self.headers.get("Content-Length", 0))
        while left:
            piece = self.exactly(min(left, 65536))
            left -= len(piece)
            yield piece

    def line(self):
        line = self.rfile.readline(65536)
        if not line.endswith(b"\n"):
            raise ConnectionError("the body breaks off")
        return line.strip()

    def exactly(self, size):
        piece = self.rfile.read(size)
        if len(piece) < size:
            raise ConnectionError("the body breaks off")
        return piece

    def carries_foreign_cookie(self):
        cookies = self.headers.get("Cookie", "").split("; ")
        return any(each and each != f"who={NAME}" for each in cookies)

    def answer(self, status, content, fields={}):
        self.head(status, {"Content-Length": str(len(content)), **fields} if status != 304 else fields)
        self.wfile.write(content)

    def in_chunks(self, content, pause):
        self.head(200, {"Transfer-Encoding": "chunked"})
        for at in range(0, len(content), PIECE):
            piece = content[at : at + PIECE]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            time.sleep(pause)
        self.wfile.write(b"0\r\n\r\n")

    def head(self, status, fields):
        self.send_response(status)
        self.send_header("Set-Cookie", f"who={NAME}; Path=/")
        self.send_header("X-Nonce", self.headers.get("X-Nonce", ""))
        for name, value in fields.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 512

    def process_request_thread(self, request, address):
        """The handshake is part of the connection's thread, so that one that stalls holds no other."""
        request.settimeout(30)
        try:
            request = TLS.wrap_socket(request, server_side=True, do_handshake_on_connect=True)
        except OSError:
            return self.shutdown_request(request)
        request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        super().process_request_thread(request, address)

    def shutdown_request(self, request):
        if isinstance(request, ssl.SSLSocket):
            try:
                request.settimeout(1)
                request.unwrap()
            except (OSError, ValueError):
                pass
        super().shutdown_request(request)

    def handle_error(self, *_):
        pass


def blob(name):
    return (BLOBS / name).read_bytes()


PORT, CERTIFICATE, KEY, BLOBS, NAME = int(sys.argv[1]), sys.argv[2], sys.argv[3], Path(sys.argv[4]), sys.argv[5]
TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
TLS.load_cert_chain(CERTIFICATE, KEY)
Server(("127.0.0.1", PORT), Handler).serve_forever()
