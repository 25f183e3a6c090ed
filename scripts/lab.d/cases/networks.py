"""Names, addresses, and the system's settings for certificates."""

import re
import shutil
import ssl
import struct
import time
from pathlib import Path

from kit import ALICE, FOLDER, IPV4, IPV6, Client, Names, Server, Skipped, answer_ok, as_user, authority, case
from kit import command, context, copied_client, failed, fetched, network, same, true


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
    """In a network with IPv6 only, a literal IPv4 address and one that the program has chosen for a name are reached
    through NAT64, and a name through DNS64 (RFC 7050, 6147)."""
    network(IPV6)
    command("ip", "address", "delete", "127.0.0.1/8", "dev", "lo")
    # The translator is the machine itself, which answers at all addresses of the prefix.
    command("ip", "-6", "route", "add", "local", f"{PREFIX}/96", "dev", "lo")

    def answer(name, kind):
        if name == "ipv4only.arpa":
            return ["192.0.0.170", "192.0.0.171"] if kind == "A" else [f"{PREFIX}192.0.0.170", f"{PREFIX}192.0.0.171"]
        return ["8.8.8.8"] if kind == "A" else [f"{PREFIX}8.8.8.8"]

    names = Names(answer, "::1")
    server, client = Server(answer_ok, "::"), Client()
    fetched(client.call(server.url(name="8.8.8.8"), within=15), "ok")
    fetched(client.call(server.url(name="chosen.test"), address="8.8.8.8", within=15), "ok")
    same("questions about the name", [name for name, _ in names.asked if name == "chosen.test"], [])
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


@case()
def certificate_list():
    """740 KiB of certificates behind a valid one are refused by an error that names the limit, with bounded memory."""
    roots, ordinary = authority("*.many.test")
    junk = Path(roots).read_text()
    # Each has a length of three bytes and a list of extensions besides (RFC 8446, 4.4.2).
    count = 740 * 1024 // (len(ssl.PEM_cert_to_DER_cert(junk)) + 5)
    (FOLDER / "long.pem").write_text((FOLDER / "leaf.pem").read_text() + junk * count)
    server, client = Server(answer_ok, tls=ordinary), Client(roots=roots)
    hostile = Server(answer_ok, tls=context(FOLDER / "long.pem"))

    def call(server, name):
        return client.call(server.url(name=f"{name}.many.test"), address=f"127.0.0.1:{server.port}")

    def most_memory():
        return int(re.search(r"VmHWM:\s*(\d+)", Path(f"/proc/{client.pid}/status").read_text())[1]) // 1024

    fetched(call(server, "ordinary"), "ok")
    before = most_memory()
    for number in range(12):
        answer = call(hostile, f"n{number}")
        failed(answer, "tls")
        limit = re.search(r"\b100 KiB\b|\b102,?400\b", answer["error"])
        true("the error", "the limit of 100 KiB in its text", limit, answer["error"])
    grown = most_memory() - before
    true("more memory for twelve such servers", "less than 24 MiB", grown < 24, f"{grown} MiB")


@case()
def min_protocol():
    """An administrator's MinProtocol refuses an older server by default; a caller's explicit minimum wins, older or
    newer."""
    roots, context = authority("a.test")
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    server, path = Server(answer_ok, tls=context), FOLDER / "openssl.cnf"

    def call(administrator, **settings):
        sections = "openssl_conf = init\n[init]\nssl_conf = ssl\n[ssl]\nsystem_default = tls\n[tls]\n"
        path.write_text(f"{sections}MinProtocol = {administrator}\n")
        client = Client(environment={"OPENSSL_CONF": str(path)}, roots=roots, **settings)
        return client.call(server.url(name="a.test"), address=f"127.0.0.1:{server.port}")

    fetched(call("TLSv1.2"), "ok")
    failed(call("TLSv1.3"), "tls")
    fetched(call("TLSv1.3", minimumTLS="1.2"), "ok")
    failed(call("TLSv1.2", minimumTLS="1.3"), "tls")

AT_SECURE = 23

def is_secure(client):
    """Whether the kernel has told the process that its privileges were raised (getauxval(3))."""
    pairs = struct.iter_unpack("NN", Path(f"/proc/{client.pid}/auxv").read_bytes())
    return dict(pairs).get(AT_SECURE) == 1


@case(root=True, tools=("setcap",))
def file_capabilities():
    """A program with file capabilities ignores SSL_CERT_FILE, as OpenSSL does (secure_getenv(3)); without them it
    counts."""
    roots, context = authority("a.test")
    server, program = Server(answer_ok, tls=context), copied_client()
    raised = shutil.copy(program, FOLDER / "raised")
    command("setcap", "cap_net_raw=ep", raised)

    def call(client):
        return client.call(server.url(name="a.test"), address=f"127.0.0.1:{server.port}")

    environment = {"SSL_CERT_FILE": roots}
    fetched(call(Client(program, as_user(ALICE), environment)), "ok")
    client = Client(raised, as_user(ALICE), environment)
    answer = call(client)
    if not is_secure(client):
        raise Skipped("the kernel gives no file capabilities here (nosuid, or no new privileges)")
    failed(answer, "tls")
