"""Of two processes with one cache folder each uses what the other has stored, and not what the other has changed by PUT."""

from kit import FOLDER, Client, Server, fetched, reply, requests, same


def run():
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
