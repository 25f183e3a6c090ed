"""A body with a byte of urgent data in its middle is whole at once; the byte is not part of it (RFC 9293, 3.8.5)."""

import socket

from kit import Client, Server, fetched, head, requests


def run():
    client = Client()

    def serve(connection):
        for _ in requests(connection):
            client.stop()
            connection.sendall(head(10) + b"hello")
            connection.send(b"!", socket.MSG_OOB)
            connection.sendall(b"world")
            client.go_on()

    server = Server(serve)
    fetched(client.call(server.url(), within=8), "helloworld")
    fetched(client.call(server.url(), within=8), "helloworld")
