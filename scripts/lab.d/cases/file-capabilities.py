"""A program with file capabilities ignores SSL_CERT_FILE, as OpenSSL does (secure_getenv(3)); without them it counts."""

import shutil
import struct
from pathlib import Path

from kit import ALICE, FOLDER, Client, Server, Skipped, answer_ok, as_user, authority, command, copied_client, failed, fetched

ROOT = True
TOOLS = ("setcap",)
AT_SECURE = 23


def is_secure(client):
    """Whether the kernel has told the process that its privileges were raised (getauxval(3))."""
    pairs = struct.iter_unpack("NN", Path(f"/proc/{client.pid}/auxv").read_bytes())
    return dict(pairs).get(AT_SECURE) == 1


def run():
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
