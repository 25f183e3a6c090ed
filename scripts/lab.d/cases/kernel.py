"""What the client takes for granted of the kernel."""

import errno
import os
import select
import signal
import socket
import subprocess
import sys
import time

from kit import IPV4, case, command, network, same, true

IN, OUT, HANGUP, PEER = select.EPOLLIN, select.EPOLLOUT, select.EPOLLHUP, select.EPOLLRDHUP
ALL = IN | OUT | PEER | select.EPOLLPRI | select.EPOLLET

def pair():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        near = socket.create_connection(listener.getsockname())
        far, _ = listener.accept()
    near.setblocking(False)
    queue = select.epoll()
    queue.register(near, ALL)
    queue.poll(0)
    return near, far, lambda: [mask for _, mask in queue.poll(0.2)]


def descriptors():
    """The lowest free number is used again (POSIX.1-2017, 2.14); epoll_ctl(2) refuses to add twice, to remove twice."""
    first, second = os.open("/dev/null", os.O_RDONLY), os.open("/dev/null", os.O_RDONLY)
    os.close(first)
    with socket.socket() as third:
        same("the number of a socket after a file was closed", third.fileno(), first)
        queue = select.epoll()
        queue.register(third)
        same("EPOLL_CTL_ADD, twice", code_of(queue.register, third), errno.EEXIST)
        queue.unregister(third)
        same("EPOLL_CTL_DEL, twice", code_of(queue.unregister, third), errno.ENOENT)
    os.close(second)


def code_of(call, *arguments):
    try:
        return call(*arguments)
    except OSError as error:
        return error.errno


def edges():
    """epoll(7): input below SO_RCVLOWAT is no event, two segments are one; room is one only after a send fell short."""
    near, far, events = pair()
    near.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 100)
    far.send(b"x" * 10)
    same("events of input below the mark", events(), [])
    far.send(b"x" * 90)
    same("events of input above it", events(), [IN | OUT])
    near.recv(1000)
    near.send(b"x" * 1000)
    far.recv(1000)
    same("events of room that nothing lacked", events(), [])
    while code_of(near.send, b"x" * 60_000) != errno.EAGAIN:
        pass
    same("events of a full buffer", events(), [])
    seen, taken = [], 0
    while not seen:
        taken += len(far.recv(1 << 16))
        seen = events()
    same("events of room after EAGAIN", seen, [OUT])


def ends():
    """A peer that has shut down its sending still gets all; EPOLLHUP needs both directions (tcp_poll)."""
    near, far, events = pair()
    far.shutdown(socket.SHUT_WR)
    same("events of a FIN", events(), [IN | OUT | PEER])
    same("a send after it", near.send(b"late"), 4)
    same("what the peer reads", far.recv(10), b"late")
    same("events then", events(), [])
    near.shutdown(socket.SHUT_WR)
    far.close()
    seen = events()
    true("events of both ends", "EPOLLHUP", bool(seen and seen[0] & HANGUP), seen)
    with socket.socket() as fresh:
        same("shutdown before connect", code_of(fresh.shutdown, socket.SHUT_WR), errno.ENOTCONN)


def attempt(address, family=socket.AF_INET, *options):
    """Returns what connect says, and what SO_ERROR says afterwards."""
    with socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK) as one:
        for option in options:
            one.setsockopt(*option)
        first = one.connect_ex(address)
        if first != errno.EINPROGRESS:
            return first
        poll = select.poll()
        poll.register(one, select.POLLOUT)
        poll.poll(10_000)
        return first, one.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)


def refusals():
    """connect(2): some errors come at once, some as SO_ERROR. ip-route(8) has the kinds of routes."""
    for kind, net in (("unreachable", 1), ("prohibit", 2), ("blackhole", 3)):
        command("ip", "route", "add", kind, f"10.9.{net}.0/24")
    later = errno.EINPROGRESS
    expected = {
        "10.9.1.1": errno.EHOSTUNREACH, "10.9.2.1": errno.EACCES, "10.9.3.1": errno.EINVAL,
        "10.8.0.1": errno.ENETUNREACH, "127.0.0.1": (later, errno.ECONNREFUSED),
    }
    same("connect", {name: attempt((name, 9)) for name in expected}, expected)
    bound = socket.socket()
    same("bind to an address of others", code_of(bound.bind, ("10.1.2.3", 0)), errno.EADDRNOTAVAIL)
    with socket.create_server((IPV4, 0), backlog=0) as full:
        taken = [socket.create_connection(full.getsockname())]
        short = (socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 1000)
        same("connect to a full backlog", attempt(full.getsockname(), socket.AF_INET, short), (later, errno.ETIMEDOUT))
    with socket.create_server((IPV4, 0)) as listener, open("/proc/sys/net/ipv4/ip_local_port_range", "w") as ports:
        ports.write("40000 40001")
        ports.flush()
        taken += [socket.socket() for _ in range(3)]
        codes = [one.connect_ex(listener.getsockname()) for one in taken[1:]]
        same("connect when all ports are taken", codes, [0, 0, errno.EADDRNOTAVAIL])


def local():
    """unix(7): connect never takes its time: it succeeds or fails at once, with a full backlog as well."""
    folder = os.environ.get("TMPDIR", "/tmp") + f"/facts{os.getpid()}"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(folder)
    same("connect without listen", attempt(folder, socket.AF_UNIX), errno.ECONNREFUSED)
    listener.listen(0)
    others = []
    for _ in range(3):
        others.append(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK))
        code = others[-1].connect_ex(folder)
        if code:
            break
    same("connect to a full backlog", code, errno.EAGAIN)
    os.unlink(folder)
    same("connect to nothing", attempt(folder, socket.AF_UNIX), errno.ENOENT)


def stops():
    """signal(7): epoll_wait fails with EINTR after SIGCONT, without any handler, and time has passed."""
    program = "import select,ctypes,time\nlibc=ctypes.CDLL(None,use_errno=True)\nq=select.epoll()\nb=time.monotonic()\n" \
        "print('go',flush=True)\nn=libc.epoll_wait(q.fileno(),ctypes.create_string_buffer(64),4,5000)\n" \
        "print(n,ctypes.get_errno(),round(time.monotonic()-b))"
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    child.stdout.readline()
    time.sleep(0.1)
    child.send_signal(signal.SIGSTOP)
    time.sleep(1.5)
    child.send_signal(signal.SIGCONT)
    same("epoll_wait after a stop", child.stdout.read().split()[:2], ["-1", str(errno.EINTR)])


@case(space="net", root=True, tools=("ip", "prlimit"))
def kernel_facts():
    """What the kernel of the simulation takes for granted is what this kernel does (Verification/simulate/Kernel)."""
    network(IPV4)
    for fact in (descriptors, edges, ends, refusals, local, stops):
        fact()
