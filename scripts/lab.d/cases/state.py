"""Files that keep a state between runs."""

import threading

from kit import FOLDER, Client, Server, case, fetched, reply, requests, same, true


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
