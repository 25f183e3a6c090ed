"""Files: partial ones of downloads and those that keep a state, among other processes and users, and mounts that hang."""

import os
import shutil
import signal
import subprocess
import threading
import time

from kit import ALICE, BOUND, FOLDER, MALLORY, Client, Film, Server, Skipped, as_user, authority, case, copied_client
from kit import failed, fetched, head, reply, requests, same, true, until


@case()
def part_mode():
    """A download that asks for mode 0600 has it, also if a partial file with a wider mode was left over."""
    film, path = Film(), FOLDER / "film"
    film.leave_part(Client(), path, mode=0o666)
    film.finish(Client(), path, mode=0o600)
    same("mode", oct(path.stat().st_mode & 0o777), "0o600")


@case()
def part_shared():
    """A second process is refused a download in progress, and continues it once the first has been killed."""
    film, path, first, second = Film(), FOLDER / "film", Client(), Client()
    film.begin(first, path)
    failed(second.call(film.url, kind="download", path=str(path)), "in progress")
    film.kill(first, path)
    film.finish(second, path)
    true("the last range begins", "after the start", film.starts[-1] > 0, film.starts)
    same("partial files", [each.name for each in FOLDER.glob("film.part*") if not each.name.endswith(".tmp")], [])


@case(root=True)
def part_planted():
    """A partial file and record that another user has planted are not continued: content and owner are the caller's."""
    program, film = copied_client(), Film()
    # As /tmp is, and without the sticky bit: with it the caller cannot remove the part, and the kernel may refuse to open it
    # (proc(5), protected_regular).
    for mode in (0o777, 0o1777):
        path = FOLDER / f"{mode:o}" / "film"
        path.parent.mkdir()
        path.parent.chmod(mode)
        film.content = b"E" * Film.SIZE
        film.leave_part(Client(program, as_user(MALLORY)), path, mode=0o666)
        film.content = b"G" * Film.SIZE
        film.finish(Client(program, as_user(ALICE)), path)
        same("owner, and write permission of others", (path.stat().st_uid, path.stat().st_mode & 0o022), (ALICE, 0))

OPTIONS = [f"--force-user={MALLORY}", f"--force-group={MALLORY}", "--perms=a=rwx", "--chmod-ignore", "--chown-ignore"]

@case(space="mount", root=True, tools=("bindfs",))
def invented_owners():
    """A download works, also after one that was killed, in a mount that shows every file as another user's and 0777,
    like vfat."""
    real, shown = FOLDER / "real", FOLDER / "shown"
    for folder in (real, shown):
        folder.mkdir()
    os.chown(real, ALICE, ALICE)
    words = [*BOUND, "bindfs", "-f", *OPTIONS, "-o", "allow_other", str(real), str(shown)]
    mount = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    until("the mount", lambda: os.path.ismount(shown) or mount.poll() is not None)
    if mount.poll() is not None:
        raise Skipped(f"bindfs: {mount.stderr.read().strip()}")
    program, film, path = copied_client(), Film(), shown / "film"
    killed = Client(program, as_user(ALICE))
    film.begin(killed, path)
    killed.kill()
    film.limit = None
    film.finish(Client(program, as_user(ALICE)), path)


@case()
def cache_folder():
    """Of two processes with one cache folder each uses what the other has stored, and not what the other has changed by
    PUT."""
    asked = []

    def serve(connection):
        for method, _, _ in requests(connection):
            asked.append(method)
            reply(connection, f"version {asked.count('PUT')}" if method == "GET" else "", "Cache-Control: max-age=600")

    server, folder = Server(serve), FOLDER / "cache"
    first, second = Client(cache=str(folder)), Client(cache=str(folder))
    fetched(first.call(server.url()), "version 0")
    fetched(second.call(server.url()), "version 0")
    same("what the server was asked", asked, ["GET"])
    fetched(second.call(server.url(), method="PUT", upload=0), "")
    fetched(first.call(server.url()), "version 1")
    fetched(second.call(server.url()), "version 1")
    same("what the server was asked", asked, ["GET", "PUT", "GET"])
    same("mode of the folder", oct(folder.stat().st_mode & 0o777), "0o700")


@case()
def cache_overtaken():
    """A response from before another process's PUT, which arrives after it, is not used from their cache (RFC 9111,
    4.4)."""
    asked, changed = threading.Event(), threading.Event()

    def serve(connection):
        for method, _, _ in requests(connection):
            version = "new" if changed.is_set() else "old"
            if method == "GET" and not changed.is_set():
                asked.set()
                changed.wait(10)
            reply(connection, version if method == "GET" else "", "Cache-Control: max-age=600")

    server, folder = Server(serve), str(FOLDER / "cache")
    first, second = Client(cache=folder), Client(cache=folder)
    early = first.begin(server.url())
    asked.wait(10)
    fetched(second.call(server.url(), method="PUT", upload=0), "")
    changed.set()
    fetched(first.end(early), "old")
    fetched(first.call(server.url()), "new")
    fetched(second.call(server.url()), "new")

WHOLE = {letter: sorted(f"{letter}{number}" for number in range(30)) for letter in "ab"}

@case()
def cookie_file():
    """Two processes save their cookies to one file again and again: a reader always finds those of one, whole, and mode
    0600."""
    def serve(connection):
        for _, target, _ in requests(connection):
            reply(connection, "", *(f"Set-Cookie: {name}={'v' * 1000}" for name in WHOLE[target[1:]]))

    server, path, clients = Server(serve), FOLDER / "cookies", {letter: Client() for letter in WHOLE}
    for letter, client in clients.items():
        same("status", client.call(server.url(f"/{letter}")).get("status"), 200)
        same("error", client.call(kind="save", path=str(path)).get("error"), None)
    orders = [(client, client.begin(kind="save", path=str(path))) for _ in range(40) for client in clients.values()]
    while not all(number in client.answers for client, number in orders[-2:]):
        names = sorted(line.split("\t")[5] for line in path.read_text().splitlines() if line.count("\t") == 6)
        true("the file", "the cookies of one process", names in WHOLE.values(), names)
        same("its mode", oct(path.stat().st_mode & 0o777), "0o600")
    for client, number in orders:
        same("error of a save", client.end(number).get("error"), None)
    loaded = Client().call(kind="load", path=str(path))
    same("cookies and faults that are loaded", (loaded.get("count"), loaded.get("faults")), (30, 0))
    same("files", [each.name for each in FOLDER.iterdir()], ["cookies"])


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
