"""The same where the kernel has ended the client's connections meanwhile (ss -K), as iOS does."""

import stopped
from kit import Skipped, command, network

SPACE, TOOLS = "net", ("ip", "ss")


def cut(connection):
    """Ends the client's side. The kernel says nothing if it cannot."""
    port = connection.getpeername()[1]
    if f":{port} " not in command("ss", "-K", "-n", "-t", "sport", "=", f":{port}"):
        raise Skipped("this kernel cannot end connections (CONFIG_INET_DIAG_DESTROY)")


def run():
    network()
    stopped.run(cut)
