"""The family that is answered first is dialled at once, and the late one is taken in if that fails (RFC 8305, 3)."""

import time

from kit import IPV4, IPV6, Client, Names, Server, answer_ok, fetched, network

SPACE, TOOLS = "net", ("ip",)


def run():
    network(IPV4, IPV6)
    # The limit of a lookup is 10 s.
    late = {("late6.test", "AAAA"): 9, ("late4.test", "A"): 9, ("dead6.test", "A"): 1}

    def answer(name, kind):
        time.sleep(late.get((name, kind), 0))
        return [IPV4] if kind == "A" else ["2001:db8:2::1" if name == "dead6.test" else IPV6]

    Names(answer)
    server, client = Server(answer_ok, "::"), Client()
    for name in ("late6.test", "late4.test"):
        fetched(client.call(server.url(name=name), within=6), "ok")
    fetched(client.call(server.url(name="dead6.test"), within=8), "ok")
