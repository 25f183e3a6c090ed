"""Measures direct-proxy beside other proxies and relays, in one run on loopback: scripts/bench proxy [WORK…]

  down     one tunnel that brings 1 GiB: processor time a GiB, the proxy's own and the whole machine's
  setup    5,000 tunnels, one after the other, with a byte each way: processor time a tunnel, own and whole
  idle     10,000 tunnels in which nothing comes, or as many as the limit of files allows: the proxy's own memory for each, and
           with half of them; of socat 2,000
  delay    2,000 times a byte there and back through one tunnel: microseconds

haproxy, nginx (`stream`) and socat relay to one address and take no CONNECT; the others do. A peer that is not installed is left out.
The whole machine's figure counts whatever runs, so nothing else should.
"""

import os
import resource
import selectors
import shutil
import signal
import socket
import struct
import subprocess
import time
from pathlib import Path
from statistics import median

from . import children
from .children import BenchError, note
from .programs import REPOSITORY, install_missing
from .report import table
from .servers import ADDRESS, free_port

GIB, TICK = 1 << 30, os.sysconf("SC_CLK_TCK")
NAME = "www.nowhere.test:443"

GO = """package main
import ("io"; "net"; "net/http"; "os")
func half(to, from net.Conn) { io.Copy(to, from); to.(*net.TCPConn).CloseWrite() }
func main() {
    panic(http.ListenAndServe(os.Args[1], http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
        far, err := net.Dial("tcp", r.Host)
        if err != nil { w.WriteHeader(502); return }
        near, _, _ := w.(http.Hijacker).Hijack()
        io.WriteString(near, "HTTP/1.1 200 OK\\r\\n\\r\\n")
        go func() { half(far, near) }()
        half(near, far)
        near.Close(); far.Close()
    })))
}
"""
FILES = {
    "tinyproxy": "Port {port}\nListen {address}\nMaxClients {most}\nTimeout 3600\nAllow {address}\nLogLevel Critical\n",
    "squid": "http_port {address}:{port}\nhttp_access allow all\ncache deny all\naccess_log none\ncache_log /dev/null\npid_filename none\n"
             "max_filedescriptors {files}\nshutdown_lifetime 0 seconds\ncoredump_dir {folder}\n",
    "haproxy": "global\n nbthread 1\n maxconn {most}\ndefaults\n mode tcp\n timeout connect 1h\n timeout client 1h\n timeout server 1h\n"
               "listen here\n bind {address}:{port}\n server far {address}:{far}\n",
    "nginx": "{module}daemon off; worker_processes 1; worker_rlimit_nofile {files}; pid {folder}/nginx.pid; error_log /dev/null;\n"
             "events {{ worker_connections {files}; }}\nstream {{ server {{ listen {address}:{port}; proxy_pass {address}:{far}; "
             "proxy_timeout 1h; }} }}\n",
}
COMMANDS = {
    "direct-proxy": "{program} --open --quiet --listen {port} --limit tunnels={most} --connect-to ::{address}:{far}",
    "haproxy": "haproxy -db -f {file}",
    "nginx": "nginx -e /dev/null -c {file}",
    "Go": "{folder}/go-proxy {address}:{port}",
    "squid": "squid -N -f {file}",
    "socat": "socat TCP-LISTEN:{port},bind={address},fork,backlog=4096 TCP:{address}:{far}",
    "tinyproxy": "tinyproxy -d -c {file}",
}
RELAYS = {"none", "haproxy", "nginx", "socat"}
STREAM = Path("/usr/lib/nginx/modules/ngx_stream_module.so")


def serve(listener, blob):
    """The far end: for each 8 bytes, a number, so many bytes."""
    events = selectors.DefaultSelector()
    events.register(listener, selectors.EVENT_READ)
    while True:
        for key, _ in events.select():
            if key.fileobj is listener:
                events.register(listener.accept()[0], selectors.EVENT_READ)
                continue
            near = key.fileobj
            try:
                request = near.recv(8, socket.MSG_WAITALL)
                left = struct.unpack("!Q", request)[0] if len(request) == 8 else 0
                while left:
                    left -= os.sendfile(near.fileno(), blob, 0, min(left, 1 << 20))
            except OSError:
                request = b""
            if len(request) != 8:
                events.unregister(near)
                near.close()


class Peer:
    """A proxy or a relay that runs, or none."""

    def __init__(self, name, folder, far, program):
        self.name, self.port = name, far if name == "none" else free_port()
        self.target = f"{ADDRESS}:{far}" if name != "direct-proxy" else NAME
        if name == "none":
            self.child = None
            return
        module = f"load_module {STREAM}; " if STREAM.exists() else ""
        words = {"port": self.port, "address": ADDRESS, "far": far, "folder": folder, "program": program, "module": module,
                 "files": limit(), "most": (limit() - 100) // 2, "file": folder / f"{name}.conf"}
        words["file"].write_text(FILES.get(name, "").format(**words))
        with open(folder / f"{name}.log", "wb") as log:
            self.child = children.start(COMMANDS[name].format(**words).split(), stdout=log, stderr=log)
        end = time.monotonic() + 20
        while time.monotonic() < end and self.child.poll() is None:
            try:
                return socket.create_connection((ADDRESS, self.port), 5).close()
            except OSError:
                time.sleep(0.05)
        raise BenchError(f"{name} does not start: {(folder / f'{name}.log').read_text().strip()[-300:]}")

    def tunnel(self):
        near = socket.create_connection((ADDRESS, self.port), 60)
        near.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.name not in RELAYS:
            near.sendall(f"CONNECT {self.target} HTTP/1.1\r\nHost: {self.target}\r\n\r\n".encode())
            head = b""
            while b"\r\n\r\n" not in head:
                more = near.recv(4096)
                if not more:
                    raise BenchError(f"{self.name} opens no tunnel: {head.decode(errors='replace')}")
                head += more
            if b" 200 " not in head.split(b"\r\n")[0]:
                raise BenchError(f"{self.name} opens no tunnel: {head.decode(errors='replace')}")
        return near

    def processes(self):
        """The processes of its session."""
        for place in Path("/proc").glob("[0-9]*"):
            try:
                fields = (place / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if self.child and int(fields[3]) == self.child.pid:
                yield place, fields

    def spent(self):
        """Its processor time in seconds, that of children which have ended included."""
        return sum(sum(map(int, fields[11:15])) for _, fields in self.processes()) / TICK

    def memory(self):
        """Its own memory, in KiB."""
        total = 0
        for place, _ in self.processes():
            lines = (place / "smaps_rollup").read_text().splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith("Private_Dirty"))
        return total


def limit():
    """How many files a process may have open."""
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def ask(near, count):
    near.sendall(struct.pack("!Q", count))
    while count:
        # The bytes are dropped where they are: what the client does with them is not of interest.
        got = len(near.recv(min(count, 1 << 20), socket.MSG_TRUNC))
        if not got:
            raise BenchError("a tunnel ended early")
        count -= got


def machine():
    """The processor time of the whole machine, in seconds."""
    fields = list(map(int, Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]))
    return sum(fields[:3] + fields[5:7]) / TICK


def while_doing(peer, work):
    own, whole = peer.spent(), machine()
    work()
    return peer.spent() - own, machine() - whole


def down(peer, quick):
    size = GIB // 16 if quick else GIB
    near = peer.tunnel()
    own, whole = while_doing(peer, lambda: ask(near, size))
    near.close()
    return {"own s/GiB": own * GIB / size, "whole s/GiB": whole * GIB / size}


def setup(peer, quick):
    count = 200 if quick else 5000

    def work():
        for _ in range(count):
            near = peer.tunnel()
            ask(near, 1)
            near.close()

    own, whole = while_doing(peer, work)
    return {"own µs/tunnel": own * 1e6 / count, "whole µs/tunnel": whole * 1e6 / count}


def idle(peer, quick):
    # socat is a process a tunnel, and Go keeps pipes in each.
    most = {"socat": 1000, "Go": 1500}.get(peer.name, 5000)
    half, before, open_ones = 100 if quick else min(most, (limit() - 500) // 4), peer.memory(), []
    figures = {}
    for words in ("KiB/tunnel, half", "KiB/tunnel"):
        open_ones += [peer.tunnel() for _ in range(half)]
        ask(open_ones[-1], 1)
        figures[words] = (peer.memory() - before) / len(open_ones)
    for near in open_ones:
        near.close()
    return figures


def delay(peer, quick):
    near, times = peer.tunnel(), []
    for _ in range(100 if quick else 2000):
        begin = time.perf_counter()
        ask(near, 1)
        times.append((time.perf_counter() - begin) * 1e6)
    near.close()
    return {"there and back µs": median(times)}


WORKS = {work.__name__: work for work in (down, setup, idle, delay)}


def measure(options, folder):
    """Prints the table."""
    folder.chmod(0o755)
    install_missing("tinyproxy", "haproxy", "squid", "nginx", "socat", "go")
    program = options.program or install(folder)
    (folder / "go-proxy.go").write_text(GO)
    children.run(["go", "build", "-o", folder / "go-proxy", folder / "go-proxy.go"], {"GOCACHE": str(folder / "go"), "HOME": str(folder)})
    with open(folder / "blob", "wb") as blob:
        blob.truncate(1 << 20)
    rows, head = [], []
    for name in ("none", *COMMANDS):
        if name in FILES and not shutil.which(name) or name == "socat" and not shutil.which(name):
            note(f"bench: {name} is left out, as it is not installed")
            continue
        figures = {}
        for work in options.works or WORKS:
            try:
                rounds = [once(name, WORKS[work], folder, program, options.quick) for _ in range(1 if options.quick or work == "idle" else 3)]
            except BenchError as error:
                # One of the others must not end the run.
                if name in ("none", "direct-proxy"):
                    raise
                note(f"bench: {name} is left out: {error}")
                break
            figures |= {words: median(each[words] for each in rounds) for words in rounds[0]}
        else:
            head = head or list(figures)
        if len(figures) < len(head):
            continue
        rows.append([name, *("-" if name == "none" and ("own" in words or "KiB" in words) else f"{figure:.2f}" if "s/GiB" in words or "KiB" in words
                             else f"{figure:.0f}" for words, figure in figures.items())])
    print(table("direct-proxy beside others, loopback, medians of 3", [["", *head], *rows]))
    return True


def once(name, work, folder, program, quick):
    """Runs one work with new processes: at the same port the far end's closed connections would be in the way."""
    note(f"bench: {name}, {work.__name__}")
    listener = socket.create_server((ADDRESS, 0), backlog=4096)
    if (far := os.fork()) == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        children.die_with_parent()
        with open(folder / "blob", "rb") as blob:
            serve(listener, blob.fileno())
    port = listener.getsockname()[1]
    listener.close()
    peer = None
    try:
        peer = Peer(name, folder, port, program)
        peer.tunnel().close()
        return work(peer, quick)
    finally:
        if peer and peer.child:
            children.stop(peer.child)
        os.kill(far, signal.SIGTERM)
        os.waitpid(far, 0)


def install(folder):
    note("bench: building (scripts/install direct-proxy)")
    children.run([REPOSITORY / "scripts" / "install", "direct-proxy", "--stage", folder / "stage", "--prefix", "/p"], timeout=3600)
    return folder / "stage" / "p" / "bin" / "direct-proxy"
