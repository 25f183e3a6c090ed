"""The system's settings for certificates."""

import re
import shutil
import ssl
import struct
from pathlib import Path

from kit import ALICE, FOLDER, Client, Server, Skipped, answer_ok, as_user, authority, case, command, context
from kit import copied_client, failed, fetched, true


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
