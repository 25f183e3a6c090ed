"""What the kernel and other processes do to a process and its sockets."""

import array
import os
import socket
import struct
import threading
import time

from kit import ALICE, FOLDER, IPV4, IPV6, Client, Film, Names, Server, Skipped, answer_ok, as_user, case, command
from kit import control_groups, copied_client, failed, fetched, head, network, reply, requests, same, true, until


@case()
def rights():
    """A body from a Unix socket is whole at once although a descriptor comes with it (unix(7): a read ends at such a
    message)."""
    path = str(FOLDER / "socket")
    client = Client(sockets={"http://service/": path})

    def serve(connection):
        for _ in requests(connection):
            client.stop()
            connection.sendall(head(10) + b"hel")
            with open("/dev/null") as file:
                rights = array.array("i", [file.fileno()])
                connection.sendmsg([b"low"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
            connection.sendall(b"orld")
            client.go_on()

    Server(serve, path)
    fetched(client.call("http://service/", within=8), "helloworld")


@case()
def urgent():
    """A body with a byte of urgent data in its middle is whole at once; the byte is not part of it (RFC 9293, 3.8.5)."""
    client = Client()

    def serve(connection):
        for _ in requests(connection):
            client.stop()
            connection.sendall(head(10) + b"hello")
            connection.send(b"!", socket.MSG_OOB)
            connection.sendall(b"world")
            client.go_on()

    server = Server(serve)
    fetched(client.call(server.url(), within=8), "helloworld")
    fetched(client.call(server.url(), within=8), "helloworld")


def reset(connection):
    """Closes with RST, as a server does that has lost the connection's state (socket(7), SO_LINGER)."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


@case()
def stopped(cut=reset):
    """A process is stopped, its connections are reset, and it goes on: an idle connection is replaced, a download
    continues, an upload and half a response fail by name, deadlines hold, other calls succeed."""
    kept, go_on = {}, threading.Event()

    def serve(connection):
        for _, target, _ in requests(connection):
            if target == "/idle":
                reply(connection, "ok")
            if target == "/half":
                connection.sendall(head(10) + b"12345")
            if not go_on.is_set():
                kept[target] = connection
                go_on.wait(30) if target == "/late" else time.sleep(60)
                reply(connection, "late")

    server, film, client, path = Server(serve), Film(), Client(), FOLDER / "film"

    def begin(word, **order):
        return client.begin(server.url(f"/{word}", name=f"{word}.test"), address=f"127.0.0.1:{server.port}", **order)

    fetched(client.end(begin("idle")), "ok")
    upload, posted = begin("upload", method="POST", upload=64 << 20), begin("posted", method="POST", upload=1)
    late, due = begin("late", total=60), begin("due", total=3)
    half = begin("half")
    download = film.begin(client, path)
    until("all requests", lambda: len(kept) == 6)

    client.stop()
    for connection in [kept["/idle"], kept["/upload"], kept["/posted"], kept["/half"], *film.connections]:
        cut(connection)
    film.limit = None
    time.sleep(4)
    go_on.set()
    client.go_on()

    fetched(client.end(begin("idle"), within=8), "ok")
    fetched(client.end(late, within=8), "late")
    failed(client.end(due, within=8), "time")
    failed(client.end(posted, within=8), "connection")
    failed(client.end(upload, within=8), "connection")
    failed(client.end(half, within=8), "connection")
    same("error of the download", client.end(download, within=15).get("error"), None)
    same("content", path.read_bytes(), film.content)
    true("the last range begins", "after the start", film.starts[-1] > 0, film.starts)


def end_by_kernel(connection):
    """Ends the client's side. The kernel says nothing if it cannot."""
    port = connection.getpeername()[1]
    if f":{port} " not in command("ss", "-K", "-n", "-t", "sport", "=", f":{port}"):
        raise Skipped("this kernel cannot end connections (CONFIG_INET_DIAG_DESTROY)")


@case(space="net", tools=("ip", "ss"))
def stopped_by_kernel():
    """As `stopped`, where the kernel has ended the client's connections meanwhile (ss -K), as iOS does."""
    network()
    stopped(end_by_kernel)


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


@case(space="net", root=True, tools=("ip", "prlimit"))
def threads_refused():
    """Where the system refuses threads, a lookup that hangs ends by its deadline, and other requests go on meanwhile."""
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
