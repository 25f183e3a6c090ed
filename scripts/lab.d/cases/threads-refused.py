"""Where the system refuses threads, a lookup that hangs ends by its deadline, and other requests go on meanwhile."""

import os

from kit import ALICE, FOLDER, IPV4, IPV6, Client, Names, Server, answer_ok, as_user, command, control_groups, copied_client
from kit import failed, fetched, network

ROOT = True
SPACE, TOOLS = "net", ("ip", "prlimit")


def refuse_threads(pid):
    """From now on the process gets no thread: by a control group, or else by a limit of its user."""
    for group in control_groups(FOLDER.parent.name):
        try:
            group.mkdir()
            (group / "cgroup.procs").write_text(str(pid))
            (group / "pids.max").write_text((group / "pids.current").read_text())
            return "pids.max"
        except OSError:
            continue
    command(*as_user(ALICE), "prlimit", f"--pid={pid}", f"--nproc={len(os.listdir(f'/proc/{pid}/task'))}")
    return "RLIMIT_NPROC"


def run():
    network(IPV4, IPV6)
    Names(lambda name, kind: None)
    server, client = Server(answer_ok, IPV4), Client(copied_client(), as_user(ALICE))
    # The threads that the client has without lookups.
    for number in [client.begin(server.url(name=IPV4)) for _ in range(16)]:
        fetched(client.end(number), "ok")
    # glibc gives up after 10 s.
    way = refuse_threads(client.pid)
    hanging = [client.begin(server.url(name=f"slow{number}.test"), total=2) for number in range(3)]
    for _ in range(5):
        fetched(client.call(server.url(name=IPV4), within=7), "ok")
    for number in hanging:
        failed(client.end(number, within=6))
    return f"(threads were refused by {way})"
