"""A server for works that nginx has no simple way to do: sink.py CERTIFICATE KEY. It prints the port that it has on 127.0.0.1.

  POST /up            reads the body to its end, and answers with its number of bytes
  GET /chunk512/KIB   that many KiB in chunks of 512 bytes, whatever TLS records of 16 KiB cut
  GET /chunk16k/KIB   the same in chunks of 16 KiB
"""

import socketserver
import ssl
import sys
from http.server import BaseHTTPRequestHandler

RECORD, MIB = 16 * 1024, 1 << 20


def pattern(chunk):
    """A MiB of content in chunks of one size, and the beginning of the same again, so that a record can start anywhere in it."""
    period = b"%x\r\n%b\r\n" % (chunk, b"." * chunk) * (MIB // chunk)
    return memoryview(period + period[:RECORD]), len(period)


PATTERNS = {"chunk512": pattern(512), "chunk16k": pattern(RECORD)}


class Connection(BaseHTTPRequestHandler):
    protocol_version, disable_nagle_algorithm, rbufsize, wbufsize = "HTTP/1.1", True, 64 * 1024, RECORD

    def log_message(self, *_):
        pass

    def begin(self, status, field, value):
        self.send_response_only(status)
        self.send_header(field, value)
        self.end_headers()

    def do_POST(self):
        if "Content-Length" in self.headers:
            count = self.discard(int(self.headers["Content-Length"]))
        else:
            count = 0
            while size := int(self.rfile.readline(), 16):
                count += self.discard(size)
                self.rfile.readline()
            self.rfile.readline()
        text = b"%d\n" % count
        self.begin(200, "Content-Length", len(text))
        self.wfile.write(text)

    def discard(self, count):
        buffer, left = memoryview(bytearray(64 * 1024)), count
        while left:
            left -= self.rfile.readinto1(buffer[:left]) or sys.exit()
        return count

    def do_GET(self):
        kind, _, kib = self.path[1:].partition("/")
        if kind not in PATTERNS:
            return self.begin(404, "Content-Length", 0)
        self.begin(200, "Transfer-Encoding", "chunked")
        bytes, period = PATTERNS[kind]
        self.wfile.flush()
        left, at = int(kib) * period // 1024, 0
        while left:
            run = min(left, RECORD)
            self.connection.sendall(bytes[at:at + run])
            left, at = left - run, (at + run) % period
        self.wfile.write(b"0\r\n\r\n")


class Server(socketserver.ThreadingTCPServer):
    daemon_threads, request_queue_size = True, 1024

    def handle_error(self, *_):
        """A client may go at any time."""


if __name__ == "__main__":
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*sys.argv[1:])
    with Server(("127.0.0.1", 0), Connection) as server:
        # The handshake is for the connection's own thread.
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        print(server.server_address[1], flush=True)
        server.serve_forever()
