"""Mounts that hang."""

import os
import shutil
import signal
import subprocess
import time

from kit import BOUND, FOLDER, Client, Server, Skipped, authority, case, failed, fetched, head, reply, requests, same, true
from kit import until

NAME = "lab.test"


@case(space="mount", tools=("bindfs",))
def mount_hangs():
    """A mount hangs: what needs its files ends by its limit, or goes on without them; the same on another mount, by the same
    process, goes on meanwhile; and when the mount answers again, so does the client."""
    real, dead, live = FOLDER / "real", FOLDER / "dead", FOLDER / "live"
    for folder in (real, dead, live):
        folder.mkdir()
    _, tls = authority(NAME)
    for folder in (real, live):
        for name in ("root.pem", "leaf.pem", "leaf.key"):
            shutil.copy(FOLDER / name, folder / name)
        (folder / "upload").write_bytes(b"U" * 300_000)
        (folder / "jar").write_text("")
    mount = subprocess.Popen([*BOUND, "bindfs", "-f", str(real), str(dead)], stderr=subprocess.PIPE, text=True)
    until("the mount", lambda: os.path.ismount(dead) or mount.poll() is not None)
    if mount.poll() is not None:
        raise Skipped(f"bindfs: {mount.communicate()[1].strip()}")
    try:
        hang(mount, dead, live, tls)
    finally:
        mount.send_signal(signal.SIGCONT)
        mount.terminate()


def hang(mount, dead, live, tls):
    def serve(connection):
        for _, target, _ in requests(connection):
            if target == "/film":
                connection.sendall(head(1 << 20) + b"G" * (1 << 20))
            elif target == "/new":
                # Each has a handshake of its own.
                reply(connection, "ok", "Connection: close")
            else:
                reply(connection, "ok", "Cache-Control: max-age=600" if target == "/kept" else "Cache-Control: no-store")

    plain, secure, client = Server(serve), Server(serve, tls=tls), Client()

    def begin(folder, what, **order):
        """Begins a call of a client of its own that needs a file there."""
        address = f"127.0.0.1:{secure.port}"
        if what == "roots":
            return client.begin(secure.url("/new", NAME), address=address, client={"roots": str(folder / "root.pem")}, **order)
        if what == "identity":
            identity = [str(folder / "leaf.pem"), str(folder / "leaf.key")]
            settings = {"roots": str(live / "root.pem"), "identity": identity}
            return client.begin(secure.url("/new", NAME), address=address, client=settings, **order)
        if what == "cache":
            return client.begin(plain.url("/kept"), client={"cache": str(folder / "cache")}, **order)
        if what == "answers":
            url = plain.url(name="localhost")
            return client.begin(url, client={"answers": str(folder / "answers")}, **order)
        if what == "upload":
            return client.begin(plain.url("/up"), method="POST", file=str(folder / "upload"), **order)
        if what == "download":
            return client.begin(plain.url("/film"), kind="download", path=str(folder / f"film{client.count}"), **order)
        return client.begin(kind=what, path=str(folder / ("saved" if what == "save" else "jar")))

    def ends_well(number, within=10):
        same("error", client.end(number, within).get("error"), None)

    # The files are there, and the identity is known.
    everything = ("roots", "identity", "cache", "answers", "save", "load", "upload", "download")
    for folder in (dead, live):
        for what in everything:
            ends_well(begin(folder, what))
    mount.send_signal(signal.SIGSTOP)
    began = time.monotonic()
    # More than the threads of a folder.
    hanging = [begin(dead, what, total=3) for what in ("upload", "download") for _ in range(10)]
    fresh = Client()
    unread = fresh.begin(secure.url("/new", NAME), client={"roots": str(dead / "root.pem")}, address=f"127.0.0.1:{secure.port}")
    unasked = fresh.begin(plain.url(name="localhost"), client={"answers": str(dead / "answers")})
    renewed, cached, saving = begin(dead, "identity"), begin(dead, "cache"), begin(dead, "save")
    for _ in range(3):
        for number in [begin(live, what) for what in everything]:
            ends_well(number)
    true("another mount's files", "within 10 s", time.monotonic() - began < 10, time.monotonic() - began)
    fetched(client.end(renewed), "ok")
    fetched(client.end(cached), "ok")
    fetched(fresh.end(unasked), "ok")
    for number in hanging:
        failed(client.end(number), "time")
    answer = fresh.end(unread, within=25)
    failed(answer, "connection")
    true("the error", "the name of the file", str(dead / "root.pem") in answer["error"], answer["error"])

    mount.send_signal(signal.SIGCONT)
    ends_well(saving)
    for what in everything:
        ends_well(begin(dead, what))
    fetched(fresh.call(secure.url("/new", NAME), client={"roots": str(dead / "root.pem")}, address=f"127.0.0.1:{secure.port}"), "ok")
