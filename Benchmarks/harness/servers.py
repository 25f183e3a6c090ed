"""The servers of the benchmark: nginx and the sink on loopback, with certificates made for this run."""

import os
import socket
import subprocess
import time
from http.client import HTTPConnection
from pathlib import Path

from . import children, content
from .certificates import Authority, openssl
from .children import BenchError

HOST = "bench.test"
ADDRESS = "127.0.0.1"
SYSTEM_FOLDER = Path("/etc/ssl/certs")
SYSTEM_BUNDLE = SYSTEM_FOLDER / "ca-certificates.crt"

NGINX = """
daemon off;
worker_processes 1;
worker_rlimit_nofile {files};
pid {folder}/nginx.pid;
error_log {folder}/error.log;
{user}
events {{ worker_connections 16384; }}
http {{
    access_log off;
    sendfile on;
    default_type text/plain;
    keepalive_requests 1000000000;
    keepalive_timeout 1h;
    client_body_temp_path {folder}/temporary;
    proxy_temp_path {folder}/temporary;
    fastcgi_temp_path {folder}/temporary;
    uwsgi_temp_path {folder}/temporary;
    scgi_temp_path {folder}/temporary;
    server {{
        listen {address}:{port} ssl backlog=4096;
        listen {address}:{plain_port} backlog=4096;
        ssl_certificate {folder}/leaf.pem;
        ssl_certificate_key {folder}/leaf.key;
        ssl_protocols TLSv1.2 TLSv1.3;
        location = /small {{ return 200 "Hello, world!"; }}
        # The last byte of the body tells whether the session was resumed: "r" or ".".
        location = /close {{ keepalive_timeout 0; return 200 "Hello, world$ssl_session_reused"; }}
        location /down/ {{ alias {folder}/blobs/; }}
        location /gzip/ {{ alias {folder}/gzip/; add_header Content-Encoding gzip; }}
    }}
    server {{
        listen {address}:{status_port};
        location = /status {{ stub_status; }}
    }}
}}
"""


def make_certificates(folder):
    """Makes a CA, a P-256 leaf for the name, and the system's roots (as folder and bundle) with that CA added."""
    ca = Authority(folder, "ca")
    ca.issue("leaf", [HOST])

    roots = folder / "roots"
    roots.mkdir()
    for link in SYSTEM_FOLDER.glob("*.[0-9]"):
        (roots / link.name).symlink_to(link.resolve())
    digest = openssl("x509", "-hash", "-noout", "-in", ca.certificate)
    (roots / f"{digest.strip()}.0").symlink_to(ca.certificate)
    bundle = SYSTEM_BUNDLE.read_text() if SYSTEM_BUNDLE.exists() else ""
    (folder / "bundle.pem").write_text(bundle + ca.certificate.read_text())


def free_port():
    with socket.socket() as probe:
        probe.bind((ADDRESS, 0))
        return probe.getsockname()[1]


class Servers:
    """Both servers. They run until `children.stop_all`."""

    def __init__(self, folder, sink_program, blobs, coded):
        self.folder = folder
        make_certificates(folder)
        (folder / "blobs").mkdir()
        for kib in blobs:
            with open(folder / "blobs" / str(kib), "wb") as blob:
                blob.truncate(kib * 1024)
        (folder / "gzip").mkdir()
        for name in coded:
            (folder / "gzip" / name).write_bytes(content.bomb() if name == "bomb" else content.json(int(name)))
        self.ports = {"nginx": self.start_nginx(), "sink": self.start_sink(sink_program)}
        self.ports["nginx-plain"] = self.plain_port
        self.status = HTTPConnection(ADDRESS, self.status_port, timeout=30)

    @property
    def one_root(self):
        return self.folder / "ca.pem"

    def system_roots(self, peer):
        """The environment in which the system's roots are the real ones and our CA: as a folder of hashed links, from
        which OpenSSL reads single files, or as one file, which libcurl reads completely."""
        if peer.startswith("libcurl"):
            return {"CURL_CA_BUNDLE": str(self.folder / "bundle.pem")}
        return {"SSL_CERT_DIR": str(self.folder / "roots")}

    def start_nginx(self):
        for _ in range(5):
            port, self.plain_port, self.status_port = free_port(), free_port(), free_port()
            configuration = self.folder / "nginx.conf"
            configuration.write_text(
                NGINX.format(
                    folder=self.folder,
                    files=20_000,
                    user="user root;" if os.geteuid() == 0 else "",
                    address=ADDRESS,
                    port=port,
                    plain_port=self.plain_port,
                    status_port=self.status_port,
                )
            )
            self.nginx = children.start(
                ["nginx", "-e", self.folder / "error.log", "-p", self.folder, "-c", configuration],
                first=children.be_a_server,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            if self.accepts(port):
                return port
            children.stop(self.nginx)
        raise BenchError(f"nginx does not start: {(self.folder / 'error.log').read_text().strip()}")

    def accepts(self, port):
        for _ in range(500):
            try:
                socket.create_connection((ADDRESS, port), timeout=5).close()
                return True
            except ConnectionRefusedError:
                if self.nginx.poll() is not None:
                    return False
                time.sleep(0.01)
        return False

    def start_sink(self, program):
        sink = children.start(
            [program, self.folder / "leaf.pem", self.folder / "leaf.key"],
            first=children.be_a_server,
            stdout=subprocess.PIPE,
            text=True,
        )
        line = sink.stdout.readline()
        if not line.strip().isdigit():
            raise BenchError("the sink does not start")
        return int(line)

    def counters(self):
        """The numbers of connections that nginx has accepted and of requests it has read, apart from status requests."""
        self.status.request("GET", "/status")
        lines = self.status.getresponse().read().decode().splitlines()
        accepted, _, requests = map(int, lines[2].split())
        self.polls = getattr(self, "polls", 0) + 1
        return accepted, requests - self.polls
