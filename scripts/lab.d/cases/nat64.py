"""In a network with IPv6 only, a literal IPv4 address is reached through NAT64, and a name through DNS64 (RFC 7050, 6147)."""

from kit import IPV6, Client, Names, Server, answer_ok, command, fetched, network

SPACE, TOOLS = "net", ("ip",)
PREFIX = "2001:db8:64::"


def run():
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
