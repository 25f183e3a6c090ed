"""A process is stopped, its connections are reset, and it goes on: an idle connection is replaced, a download continues, an
upload and half a response fail by name, deadlines hold, other calls succeed."""

import socket
import struct
import threading
import time

from kit import FOLDER, Client, Film, Server, failed, fetched, head, reply, requests, same, true, until


def reset(connection):
    """Closes with RST, as a server does that has lost the connection's state (socket(7), SO_LINGER)."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def run(cut=reset):
    kept, go_on = {}, threading.Event()

    def serve(connection):
        for _, target, _ in requests(connection):
            if target == "/idle":
                reply(connection, "ok")
            if target == "/half":
                connection.sendall(head(10) + b"12345")
            if not go_on.is_set():
                kept[target] = connection
                go_on.wait(30) if target == "/late" else time.sleep(60)
                reply(connection, "late")

    server, film, client, path = Server(serve), Film(), Client(), FOLDER / "film"

    def begin(word, **order):
        return client.begin(server.url(f"/{word}", name=f"{word}.test"), address=f"127.0.0.1:{server.port}", **order)

    fetched(client.end(begin("idle")), "ok")
    upload, posted = begin("upload", method="POST", upload=64 << 20), begin("posted", method="POST", upload=1)
    late, due = begin("late", total=60), begin("due", total=3)
    half = begin("half")
    download = film.begin(client, path)
    until("all requests", lambda: len(kept) == 6)

    client.stop()
    for connection in [kept["/idle"], kept["/upload"], kept["/posted"], kept["/half"], *film.connections]:
        cut(connection)
    film.limit = None
    time.sleep(4)
    go_on.set()
    client.go_on()

    fetched(client.end(begin("idle"), within=8), "ok")
    fetched(client.end(late, within=8), "late")
    failed(client.end(due, within=8), "time")
    failed(client.end(posted, within=8), "connection")
    failed(client.end(upload, within=8), "connection")
    failed(client.end(half, within=8), "connection")
    same("error of the download", client.end(download, within=15).get("error"), None)
    same("content", path.read_bytes(), film.content)
    true("the last range begins", "after the start", film.starts[-1] > 0, film.starts)
