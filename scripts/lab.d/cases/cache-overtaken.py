"""A response from before another process's PUT, which arrives after it, is not used from their cache (RFC 9111, 4.4)."""

import threading

from kit import FOLDER, Client, Server, fetched, reply, requests


def run():
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
