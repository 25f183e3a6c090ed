"""Python httplib2 with its cache, kept in memory. It is tried as a cache only."""

import socket

import contract
import httplib2

httplib2.time = contract.Clock()


class Memory(dict):
    """What httplib2 documents as a cache."""

    def __bool__(self):
        return True

    def set(self, key, value):
        self[key] = value

    def delete(self, key):
        self.pop(key, None)


class Socket(socket.socket):
    """It looks the name up, and then connects to the name."""

    job = {}

    def connect(self, place):
        super().connect(contract.addresses(self.job, *place[:2])[0])


socket.socket = Socket


def open_client(job):
    contract.require_cache(job)
    contract.replace_lookup(job)
    Socket.job = job
    client = httplib2.Http(
        cache=Memory(), timeout=job["timeout"] / 1000, ca_certs=job["roots"], proxy_info=None
    )
    client.follow_redirects = False
    job["close"](client.close)

    def send(request):
        headers = contract.single_fields(request)

        def ask():
            found, content = client.request(
                request["url"], request.get("method", "GET"), headers=headers, body=contract.body(request)
            )
            own = {"status", "-content-encoding", "content-location", "-varied"}
            fields = [(name, value) for name, value in found.items() if name not in own and not name.startswith("-")]
            return contract.response(found.status, fields, content, reason=found.reason)

        return contract.attempt(job, ask, [])

    return send


contract.serve({"name": "httplib2", "version": httplib2.__version__, "codings": []}, open_client)
