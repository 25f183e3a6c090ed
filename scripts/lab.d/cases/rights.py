"""A body from a Unix socket is whole at once although a descriptor comes with it (unix(7): a read ends at such a message)."""

import array
import socket

from kit import FOLDER, Client, Server, fetched, head, requests


def run():
    path = str(FOLDER / "socket")
    client = Client(sockets={"http://service/": path})

    def serve(connection):
        for _ in requests(connection):
            client.stop()
            connection.sendall(head(10) + b"hel")
            with open("/dev/null") as file:
                rights = array.array("i", [file.fileno()])
                connection.sendmsg([b"low"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
            connection.sendall(b"orld")
            client.go_on()

    Server(serve, path)
    fetched(client.call("http://service/", within=8), "helloworld")
