"""The peers: programs of other projects, each a process of its own that can be killed, frozen and replaced."""

import hashlib
import os
import secrets
import signal
import socket
import ssl
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from harness import children
from harness.children import BenchError
from harness.servers import ADDRESS, free_port

HERE = Path(__file__).resolve().parent
STATIC = "blob,cached,gzip,redirect"
ROUTES = "blob,cached,gzip,chunked,drip,redirect,away,sum,refuse,busy,nonce"
PAGE = "page"  # the only content of gnutls-serv, and the one that s_server is asked for

NGINX = """
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/nginx.log crit;
{user}
events {{ worker_connections 2048; }}
http {{
    access_log off;
    default_type application/octet-stream;
    client_body_temp_path {folder}/temporary;
    proxy_temp_path {folder}/temporary;
    fastcgi_temp_path {folder}/temporary;
    uwsgi_temp_path {folder}/temporary;
    scgi_temp_path {folder}/temporary;
    absolute_redirect off;
    gzip_types *;
    gzip_min_length 1;
    server {{
        listen {address}:{port} ssl backlog=512;
        ssl_certificate {certificate};
        ssl_certificate_key {key};
        root {content};
        {places}
    }}
    server {{
        listen {address}:{plain} backlog=512;
        root {folder}/right;
        {places}
        location /impostor/blob/ {{ alias {folder}/impostor/blob/; }}
        location /impostor/cached/ {{ alias {folder}/impostor/blob/; }}
        location /impostor/gzip/ {{ alias {folder}/impostor/blob/; }}
    }}
}}
"""
NGINX_PLACES = """
        location /cached/ { rewrite ^/cached/(.*)$ /blob/$1 break; expires 1s; }
        location /gzip/ { rewrite ^/gzip/(.*)$ /blob/$1 break; gzip on; }
        location ~ ^/redirect/1/(.*)$ { return 302 /$1; }
        location ~ ^/redirect/2/(.*)$ { return 302 /redirect/1/$1; }
        location ~ ^/redirect/3/(.*)$ { return 302 /redirect/2/$1; }
        location ~ ^/redirect/4/(.*)$ { return 302 /redirect/3/$1; }
"""
HAPROXY = """
global
    maxconn 2000
defaults
    mode http
    timeout connect 5s
    timeout client 30s
    timeout server 30s
frontend tls
    bind {address}:{port} ssl crt {bundle}
    default_backend files
backend files
    {rewriting}
    server nginx {address}:{plain}
"""


@dataclass(frozen=True)
class Identity:
    """What a server shows and what it sends. An impostor has no certificate that a client may accept, and everything it
    sends differs from what the right server sends: bytes of it that reach a caller are noticed."""

    name: str
    certificate: Path
    content: Path

    @property
    def key(self):
        return self.certificate.with_suffix(".key")

    @property
    def is_right(self):
        return self.content.name == "right"


@dataclass
class Peer:
    name: str
    features: str
    folder: Path
    scheme: str = "https"
    content: str = ""
    port: int = field(default_factory=free_port)
    child: subprocess.Popen = None

    @property
    def host(self):
        return f"{self.name}.soak.test"

    def start(self, identity):
        command = getattr(self, f"{self.name}_command")(identity)
        folder = identity.content
        self.child = children.start(
            list(map(str, command)), {}, first=end_with_parent, cwd=folder,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )

    def kill(self):
        children.stop(self.child, signal.SIGKILL)

    def freeze(self):
        os.killpg(self.child.pid, signal.SIGSTOP)

    def thaw(self):
        os.killpg(self.child.pid, signal.SIGCONT)

    def answers(self, patience=10):
        """Waits until it completes a handshake. A port that another program has taken meanwhile is an error."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        end = time.monotonic() + patience
        while time.monotonic() < end and self.child.poll() is None:
            try:
                with socket.create_connection((ADDRESS, self.port), timeout=2) as link:
                    with context.wrap_socket(link, server_hostname=self.host):
                        return True
            except OSError:
                time.sleep(0.01)
        return False

    def nginx_command(self, identity):
        configuration = self.folder / "nginx.conf"
        configuration.write_text(NGINX.format(
            folder=self.folder, user="user root;" if os.geteuid() == 0 else "", address=ADDRESS, port=self.port,
            plain=self.plain_port, certificate=identity.certificate, key=identity.key, content=identity.content,
            places=NGINX_PLACES,
        ))
        return ["nginx", "-e", self.folder / "nginx.log", "-p", self.folder, "-c", configuration]

    def haproxy_command(self, identity):
        bundle, configuration = self.folder / "haproxy.pem", self.folder / "haproxy.cfg"
        bundle.write_text(identity.certificate.read_text() + identity.key.read_text())
        configuration.write_text(HAPROXY.format(
            address=ADDRESS, port=self.port, bundle=bundle, plain=self.plain_port,
            rewriting="" if identity.is_right else "http-request replace-path (.*) /impostor\\1",
        ))
        return ["haproxy", "-db", "-q", "-f", configuration]

    def openssl_command(self, identity):
        return ["openssl", "s_server", "-accept", f"{ADDRESS}:{self.port}", "-cert", identity.certificate, "-key",
                identity.key, "-WWW", "-quiet"]

    def gnutls_command(self, identity):
        return ["gnutls-serv", "--http", f"--httpdata={identity.content}/blob/{PAGE}", "-p", self.port, "-q",
                "--x509certfile", identity.certificate, "--x509keyfile", identity.key]

    def python_command(self, identity):
        return [sys.executable, HERE / "python_peer.py", *self.program_arguments(identity)]

    def node_command(self, identity):
        return ["node", HERE / "node_peer.mjs", *self.program_arguments(identity)]

    def program_arguments(self, identity):
        name = self.host if identity.is_right else "impostor"
        return [self.port, identity.certificate, identity.key, identity.content / "blob", name]


def end_with_parent():
    children.libc.prctl(children.PR_SET_PDEATHSIG, signal.SIGTERM)


def all_peers(folder, present):
    """Those whose programs are installed."""
    peers = [Peer("nginx", STATIC, folder), Peer("haproxy", STATIC, folder), Peer("python", ROUTES, folder),
             Peer("node", ROUTES, folder), Peer("openssl", "blob", folder, content=PAGE),
             Peer("gnutls", "blob", folder, content=PAGE)]
    plain_port = free_port()
    for peer in peers:
        peer.plain_port = plain_port
    return [peer for peer in peers if peer.name in present]


def start(peer, identity):
    peer.start(identity)
    if not peer.answers(patience=60):
        raise BenchError(f"{peer.name} does not start")


SIZES = {"b0": 0, "b1": 1, "b2": 137, "b3": 4096, "b4": 16384, "b5": 16385, "b6": 40_000, "b7": 300_000, "b8": 1 << 20,
         "twin": 40_000, PAGE: 30_000}


def write_contents(folder):
    """Each content at the right servers, and one of the same length at impostors. No two are alike."""
    lines = []
    for kind in ("right", "impostor"):
        (folder / kind / "blob").mkdir(parents=True)
    for name, size in SIZES.items():
        # Compressible by a third, so that gzip has something to do.
        content = bytes(byte & 0x3F for byte in secrets.token_bytes(size))
        (folder / "right" / "blob" / name).write_bytes(content)
        (folder / "impostor" / "blob" / name).write_bytes(bytes(byte ^ 0xFF for byte in content) or b"impostor")
        lines.append(f"{name} {size} {hashlib.sha256(content).hexdigest()}")
    (folder / "right" / "list").write_text("\n".join(lines) + "\n")
