"""Names and addresses: servers of DNS that are silent, late or lie."""

import time

from kit import IPV4, IPV6, Client, Names, Server, answer_ok, case, command, failed, fetched, network, same


@case(space="net", tools=("ip",))
def aaaa_dropped():
    """A name whose AAAA question is never answered is reached over IPv4 at once (RFC 8305, 3)."""
    network(IPV4, IPV6)
    Names(lambda name, kind: [IPV4] if kind == "A" else None)
    # Ten seconds is the limit of the lookup, and glibc gives up after ten to twenty.
    fetched(Client().call(Server(answer_ok, IPV4).url(name="a.test"), within=5), "ok")


@case(space="net", tools=("ip",))
def family_late():
    """The family that is answered first is dialled at once, and the late one is taken in if that fails (RFC 8305, 3)."""
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


@case(space="net", tools=("ip",))
def localhost_lies():
    """Names below localhost lead to the loopback interface and are not asked in DNS, whatever it would say (RFC 6761,
    6.3)."""
    network(IPV4, IPV6)
    names = Names(lambda name, kind: ["203.0.113.66" if kind == "A" else "2001:db8::66"])
    client = Client()
    for address in ("127.0.0.1", "::1"):
        server = Server(answer_ok, address)
        for name in ("localhost", "app.localhost", "a.b.LocalHost", "app.localhost."):
            fetched(client.call(server.url(name=name), within=8), "ok")
    same("questions to DNS", names.asked, [])

PREFIX = "2001:db8:64::"

@case(space="net", tools=("ip",))
def nat64():
    """In a network with IPv6 only, a literal IPv4 address is reached through NAT64, and a name through DNS64 (RFC 7050,
    6147)."""
    network(IPV6)
    command("ip", "address", "delete", "127.0.0.1/8", "dev", "lo")
    # The translator is the machine itself, which answers at all addresses of the prefix.
    command("ip", "-6", "route", "add", "local", f"{PREFIX}/96", "dev", "lo")

    def answer(name, kind):
        if name == "ipv4only.arpa":
            return ["192.0.0.170", "192.0.0.171"] if kind == "A" else [f"{PREFIX}192.0.0.170", f"{PREFIX}192.0.0.171"]
        return ["8.8.8.8"] if kind == "A" else [f"{PREFIX}8.8.8.8"]

    Names(answer, "::1")
    server, client = Server(answer_ok, "::"), Client()
    fetched(client.call(server.url(name="8.8.8.8"), within=15), "ok")
    fetched(client.call(server.url(name="old.test"), within=15), "ok")


@case(space="net", tools=("ip",))
def onion():
    """A name below onion is an error and is not asked in DNS (RFC 7686, 2)."""
    network(IPV4, IPV6)
    names = Names(lambda name, kind: [IPV4] if kind == "A" else [])
    server, client = Server(answer_ok, IPV4), Client()
    fetched(client.call(server.url(name="notonion.test")), "ok")
    for name in ("expyuzz4wqqyqhjn.onion", "www.expyuzz4wqqyqhjn.ONION", "expyuzz4wqqyqhjn.onion."):
        failed(client.call(server.url(name=name), within=8))
    same("questions about it", [name for name, _ in names.asked if "expyuzz" in name], [])
