"""A name below onion is an error and is not asked in DNS (RFC 7686, 2)."""

from kit import IPV4, IPV6, Client, Names, Server, answer_ok, failed, fetched, network, same

SPACE, TOOLS = "net", ("ip",)


def run():
    network(IPV4, IPV6)
    names = Names(lambda name, kind: [IPV4] if kind == "A" else [])
    server, client = Server(answer_ok, IPV4), Client()
    fetched(client.call(server.url(name="notonion.test")), "ok")
    for name in ("expyuzz4wqqyqhjn.onion", "www.expyuzz4wqqyqhjn.ONION", "expyuzz4wqqyqhjn.onion."):
        failed(client.call(server.url(name=name), within=8))
    same("questions about it", [name for name, _ in names.asked if "expyuzz" in name], [])
