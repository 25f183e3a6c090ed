"""The servers of the benchmark: nginx and the sink on loopback, with certificates and compressed content made for this run."""

import json
import os
import random
import socket
import struct
import subprocess
import sys
import time
import zlib
from functools import cache
from http.client import HTTPConnection
from pathlib import Path

from . import children
from .children import BenchError

HOST = "bench.test"
ADDRESS = "127.0.0.1"
SYSTEM_FOLDER = Path("/etc/ssl/certs")

NGINX = """
daemon off;
worker_processes 1;
worker_rlimit_nofile 20000;
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
    client_body_temp_path {folder}/t; proxy_temp_path {folder}/t; fastcgi_temp_path {folder}/t;
    uwsgi_temp_path {folder}/t; scgi_temp_path {folder}/t;
    ssl_certificate {folder}/leaf.pem;
    ssl_certificate_key {folder}/leaf.key;
    ssl_protocols TLSv1.2 TLSv1.3;
    {servers}
}}
"""
SERVERS = """
    server {{
        listen {address}:{port} ssl backlog=4096;
        listen {address}:{plain_port} backlog=4096;
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
"""


# Certificates


def openssl(*arguments):
    return children.run(["openssl", *map(str, arguments)])[0]


def make_key(base):
    openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", f"{base}.key")


class Authority:
    """A root of its own, in `FOLDER/NAME.pem` and `.key`."""

    def __init__(self, folder, name):
        self.base, self.certificate = folder / name, folder / f"{name}.pem"
        make_key(self.base)
        openssl("req", "-x509", "-new", "-key", f"{self.base}.key", "-subj", f"/CN=Test {name}", "-days", 30,
                "-out", self.certificate, "-addext", "keyUsage=critical,keyCertSign")

    def issue(self, name, hosts, days=30, extensions="basicConstraints=critical,CA:FALSE"):
        """A leaf for these hosts, in `NAME.pem` and `.key` beside the root. With 0 days it has expired a second later."""
        leaf = self.base.parent / name
        make_key(leaf)
        openssl("req", "-new", "-key", f"{leaf}.key", "-subj", f"/CN={hosts[0]}", "-out", f"{leaf}.csr")
        names = ",".join(f"DNS:{host}" for host in hosts)
        leaf.with_suffix(".ext").write_text(f"subjectAltName={names}\n{extensions}\n")
        openssl("x509", "-req", "-in", f"{leaf}.csr", "-CA", self.certificate, "-CAkey", f"{self.base}.key",
                "-CAcreateserial", "-days", days, "-extfile", f"{leaf}.ext", "-out", f"{leaf}.pem")
        return leaf.with_suffix(".pem")


def make_certificates(folder):
    """Makes a CA, a P-256 leaf for the name, and the system's roots (as folder and bundle) with that CA added."""
    ca = Authority(folder, "ca")
    ca.issue("leaf", [HOST])
    roots, bundle = folder / "roots", SYSTEM_FOLDER / "ca-certificates.crt"
    roots.mkdir()
    for link in SYSTEM_FOLDER.glob("*.[0-9]"):
        (roots / link.name).symlink_to(link.resolve())
    digest = openssl("x509", "-hash", "-noout", "-in", ca.certificate)
    (roots / f"{digest.strip()}.0").symlink_to(ca.certificate)
    (folder / "bundle.pem").write_text((bundle.read_text() if bundle.exists() else "") + ca.certificate.read_text())
    return ca


# Compressed content, put together from parts: compressing it as a whole would take long.

HEAD, MIB = b"\x1f\x8b\x08" + bytes(6) + b"\xff", 1 << 20
WORDS = "lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut labore".split()


def flushed(block, level):
    """Deflates a block so that it can be put anywhere: without references to earlier data, and with whole bytes."""
    coder = zlib.compressobj(level, zlib.DEFLATED, -15)
    return coder.compress(block) + coder.flush(zlib.Z_FULL_FLUSH)


def record(chance):
    return {
        "id": chance.randrange(10**9),
        "name": chance.choice(WORDS),
        "email": f"{chance.choice(WORDS)}{chance.randrange(10**4)}@example.com",
        "active": chance.random() < 0.5,
        "score": round(chance.random() * 1000, 3),
        "tags": chance.sample(WORDS, 4),
        "text": " ".join(chance.choices(WORDS, k=15)),
    }


@cache
def blocks():
    """Eight blocks of one MiB of JSON, each plain and deflated."""
    chance, pairs = random.Random(1), []
    for _ in range(8):
        plain = bytearray()
        while len(plain) < MIB:
            plain += json.dumps(record(chance)).encode() + b",\n"
        plain = bytes(plain[:MIB])
        pairs.append((plain, flushed(plain, 6)))
    return pairs


def compressed(name):
    """So many KiB of JSON as gzip, in whole MiB; or a bomb: ten GiB of zeros, whose CRC is wrong, as no client reads that far."""
    if name == "bomb":
        return b"".join([HEAD, flushed(bytes(MIB), 9) * 10_240, b"\x03\x00", bytes(8)])
    parts, check, count = [HEAD], 0, int(name) // 1024
    for index in range(count):
        plain, deflated = blocks()[index % 8]
        parts.append(deflated)
        check = zlib.crc32(plain, check)
    return b"".join([*parts, b"\x03\x00", struct.pack("<II", check, count * MIB & 0xFFFFFFFF)])


# Servers


def free_port():
    with socket.socket() as probe:
        probe.bind((ADDRESS, 0))
        return probe.getsockname()[1]


def start_nginx(folder, servers, place):
    """Starts nginx with these servers, which listen at a place among others. Returns the process; None if it cannot."""
    user = "user root;" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, user=user, servers=servers))
    command = ["nginx", "-e", folder / "error.log", "-p", folder, "-c", folder / "nginx.conf"]
    nginx = children.start(command, first=children.be_a_server, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(500):
        try:
            socket.create_connection(place, timeout=5).close()
            return nginx
        except ConnectionRefusedError:
            if nginx.poll() is not None:
                break
            time.sleep(0.01)
    return children.stop(nginx)


class Servers:
    """Both servers. They run until `children.stop_all`."""

    def __init__(self, folder, blobs, coded):
        self.folder, self.one_root, self.polls = folder, folder / "ca.pem", 0
        make_certificates(folder)
        for name in ("blobs", "gzip"):
            (folder / name).mkdir()
        for kib in blobs:
            with open(folder / "blobs" / str(kib), "wb") as blob:
                blob.truncate(kib * 1024)
        for name in coded:
            (folder / "gzip" / name).write_bytes(compressed(name))
        self.ports = {"sink": self.start_sink()}
        for _ in range(5):
            self.ports["nginx"], self.ports["nginx-plain"], status = (free_port() for _ in range(3))
            ports = {"port": self.ports["nginx"], "plain_port": self.ports["nginx-plain"], "status_port": status}
            servers = SERVERS.format(folder=folder, address=ADDRESS, **ports)
            if start_nginx(folder, servers, (ADDRESS, self.ports["nginx"])):
                break
        else:
            raise BenchError(f"nginx does not start: {(folder / 'error.log').read_text().strip()}")
        self.status = HTTPConnection(ADDRESS, status, timeout=30)

    def system_roots(self, peer):
        """The environment in which the system's roots are the real ones and our CA: as a folder of hashed links, from
        which OpenSSL reads single files, or as one file, which libcurl reads completely."""
        if peer.startswith("libcurl"):
            return {"CURL_CA_BUNDLE": str(self.folder / "bundle.pem")}
        return {"SSL_CERT_DIR": str(self.folder / "roots")}

    def start_sink(self):
        command = [sys.executable, "-B", Path(__file__).parent / "sink.py", self.folder / "leaf.pem", self.folder / "leaf.key"]
        line = children.start(command, first=children.be_a_server, stdout=subprocess.PIPE, text=True).stdout.readline()
        if not line.strip().isdigit():
            raise BenchError("the sink does not start")
        return int(line)

    def counters(self):
        """The numbers of connections that nginx has accepted and of requests it has read, apart from status requests."""
        self.status.request("GET", "/status")
        lines = self.status.getresponse().read().decode().splitlines()
        accepted, _, requests = map(int, lines[2].split())
        self.polls += 1
        return accepted, requests - self.polls
