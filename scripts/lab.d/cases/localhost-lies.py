"""Names below localhost lead to the loopback interface and are not asked in DNS, whatever it would say (RFC 6761, 6.3)."""

from kit import IPV4, IPV6, Client, Names, Server, answer_ok, fetched, network, same

SPACE, TOOLS = "net", ("ip",)


def run():
    network(IPV4, IPV6)
    names = Names(lambda name, kind: ["203.0.113.66" if kind == "A" else "2001:db8::66"])
    client = Client()
    for address in ("127.0.0.1", "::1"):
        server = Server(answer_ok, address)
        for name in ("localhost", "app.localhost", "a.b.LocalHost", "app.localhost."):
            fetched(client.call(server.url(name=name), within=8), "ok")
    same("questions to DNS", names.asked, [])
