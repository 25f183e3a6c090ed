"""740 KiB of certificates behind a valid one are refused by an error that names the limit, with bounded memory."""

import re
import ssl
from pathlib import Path

from kit import FOLDER, Client, Server, answer_ok, authority, context, failed, fetched, true


def run():
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
