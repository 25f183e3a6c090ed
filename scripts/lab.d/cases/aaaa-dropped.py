"""A name whose AAAA question is never answered is reached over IPv4 at once (RFC 8305, 3)."""

from kit import IPV4, IPV6, Client, Names, Server, answer_ok, fetched, network

SPACE, TOOLS = "net", ("ip",)


def run():
    network(IPV4, IPV6)
    Names(lambda name, kind: [IPV4] if kind == "A" else None)
    # Ten seconds is the limit of the lookup, and glibc gives up after ten to twenty.
    fetched(Client().call(Server(answer_ok, IPV4).url(name="a.test"), within=5), "ok")
