"""The run: peers, relay and load, and the faults that a seed draws."""

import random
import subprocess
import sys
import threading
import time
from collections import Counter, deque
from queue import Empty, SimpleQueue

from harness import children
from harness.children import BenchError, note
from harness.servers import Authority


from .figures import Figures, Watched
from .peers import HERE, Identity, all_peers, start, write_contents

FAULTS = {  # and how often of a hundred
    "killed": 30,
    "frozen": 35,
    "certificate renewed": 15,
    "certificate for another name": 7,
    "certificate of another authority": 7,
    "certificate expired": 6,
}


class World:
    def __init__(self, folder, seed, programs, present, callers):
        self.folder, self.chance, self.callers = folder, random.Random(seed), callers
        self.program, self.proxy_program = programs
        self.seed, self.faults = seed, Counter()
        write_contents(folder)
        (folder / "cache").mkdir()
        (folder / "temporary").mkdir()
        self.identities = self.make_identities()
        self.peers = all_peers(folder, present)

    def make_identities(self):
        """The right ones by the name of the fault that brings them, and impostors."""
        ours, foreign = Authority(self.folder, "authority"), Authority(self.folder, "foreign")
        hosts, others = ["*.soak.test"], ["*.other.test"]
        right, impostor = self.folder / "right", self.folder / "impostor"
        made = [
            ("right", ours.issue("leaf", hosts), right),
            ("certificate renewed", ours.issue("renewed", hosts), right),
            ("certificate for another name", ours.issue("other", others), impostor),
            ("certificate of another authority", foreign.issue("impostor-leaf", hosts), impostor),
            ("certificate expired", ours.issue("expired", hosts, days=0), impostor),
        ]
        return {name: Identity(name, certificate, content) for name, certificate, content in made}

    def run(self, seconds, warm_up):
        for peer in self.peers:
            start(peer, self.identities["right"])
        self.start_relay()
        proxy, place = self.start_proxy()
        self.load = Load(self.load_command(place))
        figures = Figures([Watched("the load", self.load.child), Watched("direct-proxy", proxy, but="pipe")], seconds, warm_up)
        self.load.send("go")
        self.trouble(seconds, figures)
        self.load.send("heap")
        figures.heaps.append(self.load.line("heap", 30))
        self.load.send("stop")
        figures.take(self.load.lines_until("rest", 60))
        for each in figures.watched:
            each.settle()
        figures.faults = self.faults + self.relay_faults()
        return figures

    def start_relay(self):
        places = [f"{peer.name}={peer.port}" for peer in self.peers] + [f"plain={self.plain_port}"]
        self.relay = children.start(
            [sys.executable, HERE / "relay.py", str(self.seed), *places], {}, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True,
        )
        self.relayed = dict(self.relay.stdout.readline().split() for _ in range(len(places) + 2))

    def start_proxy(self):
        """Starts direct-proxy, which knows where all names of the servers are. Returns it with its place."""
        words = ["--open", "--quiet", "--allow-private", "--resolve", "*.soak.test:*:127.0.0.1"]
        child = children.start([self.proxy_program, *words], {}, stdout=subprocess.PIPE, text=True)
        return child, child.stdout.readline().strip().removeprefix("http://")

    @property
    def plain_port(self):
        return self.peers[0].plain_port

    def relay_faults(self):
        self.relay.stdin.write("faults\n")
        self.relay.stdin.flush()
        counts = (word.split("=") for word in self.relay.stdout.readline().split())
        return Counter({f"relay: {kind.replace('-', ' ')}": int(count) for kind, count in counts})

    def load_command(self, proxy):
        places = [(p.name, p.scheme, p.port, p.content, p.features) for p in self.peers]
        places.append(("plain", "http", self.plain_port, "", "blob,cached,gzip,redirect"))
        words = [f"peer={name}:{scheme}:{port}:{self.relayed[name]}:{content}:{features}"
                 for name, scheme, port, content, features in places]
        return [self.program, f"seed={self.seed}", f"callers={self.callers}", f"roots={self.folder}/authority.pem",
                f"blobs={self.folder}/right", f"cache={self.folder}/cache", f"connect={self.relayed['connect']}",
                f"socks={self.relayed['socks']}", f"proxy={proxy}", *words]

    def trouble(self, seconds, figures):
        """One fault after the other, and a sample of what the programs hold each second."""
        begin = time.monotonic()
        steps = self.faults_in_turn()
        due = begin + 1
        last_heap = begin
        while (now := time.monotonic()) < begin + seconds:
            if now >= due:
                # The last seconds are without faults, so that every server is back before the load stops.
                pause = next(steps) if now < begin + seconds - 6 else seconds
                due = time.monotonic() + pause
            for each in figures.watched:
                each.look(time.monotonic() - begin)
            if now - last_heap > 60:
                last_heap = now
                self.load.send("heap")
                figures.heaps.append(self.load.line("heap", 30))
            time.sleep(min(1, max(0, due - time.monotonic())))
        steps.close()

    def faults_in_turn(self):
        """Draws a fault, and yields how long it lasts and then how long until the next."""
        while True:
            peer, kind = self.chance.choice(self.peers), self.chance.choices(list(FAULTS), FAULTS.values())[0]
            self.faults[kind] += 1
            length = self.chance.uniform(0.2, 2.5)
            undo = self.strike(peer, kind)
            try:
                yield length
            finally:
                undo()
            if not peer.answers():
                # s_server serves one connection at a time: one that stalls, and then another, keep it from all others.
                self.faults["started again"] += 1
                peer.kill()
                start(peer, self.identities["right"])
            self.load.send(f"back {peer.name}")
            yield self.chance.uniform(0.1, 2)

    def strike(self, peer, kind):
        """Makes the fault, and returns what ends it."""
        right = self.identities["right"]
        if kind == "frozen":
            peer.freeze()
            return peer.thaw
        peer.kill()
        if kind == "killed":
            return lambda: start(peer, right)
        start(peer, self.identities[kind])

        def replace():
            peer.kill()
            start(peer, right)

        return replace


class Load:
    """The program that makes the calls. A thread reads what it prints."""

    def __init__(self, command):
        self.child = children.start(
            list(map(str, command)), {}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.lines = SimpleQueue()
        threading.Thread(target=self.read, daemon=True).start()
        self.line("ready", 60)

    def read(self):
        for line in self.child.stdout:
            self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    def send(self, line):
        try:
            self.child.stdin.write(line + "\n")
        except BrokenPipeError:
            raise BenchError(f"the load ended with {self.child.wait()}") from None

    def next_line(self, patience):
        try:
            line = self.lines.get(timeout=patience)
        except Empty:
            raise BenchError(f"the load prints nothing for {patience} s: calls that do not end?") from None
        if line is None:
            raise BenchError(f"the load ended with {self.child.wait()}")
        return line

    def line(self, word, patience):
        """The next line, which begins with this word."""
        line = self.next_line(patience)
        if not line.startswith(word):
            raise BenchError(f"the load printed {line!r} instead of {word}")
        return line

    def lines_until(self, last, patience):
        lines = deque()
        while (line := self.next_line(patience)) != last:
            lines.append(line)
        return lines
