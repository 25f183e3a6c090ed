"""Relays between client and peers, and makes trouble: relay.py SEED NAME=PORT…

Prints `NAME PORT` for each peer, then `connect PORT` and `socks PORT` for the two proxies, and on each line of its
standard input `NAME=COUNT …` for the faults of so far. Ends with its standard input. Names that begin with `plain`
are not corrupted, because a client could not notice it.
"""

import asyncio
import random
import socket
import struct
import sys
from collections import Counter

FAULTS = {  # and how often of a hundred connections
    "delay": 6,
    "small pieces": 5,
    "cut": 5,
    "reset": 5,
    "corrupt": 6,
    "stall": 3,
}
FURTHEST = 600_000


class Trouble:
    """What happens to one connection, and after how many bytes in which direction."""

    def __init__(self, chance, may_corrupt):
        kinds = [kind for kind in FAULTS if may_corrupt or kind != "corrupt"]
        weights = [FAULTS[kind] for kind in kinds]
        self.kind = chance.choices([*kinds, None], [*weights, 100 - sum(weights)])[0]
        # In a handshake, in a small response, or in a large body.
        self.at = chance.randrange(chance.choice([2_000, 20_000, FURTHEST]))
        self.is_upwards = chance.random() < 0.3
        self.pause = chance.uniform(0.005, 0.1)
        self.stall = chance.uniform(0.5, 3)
        self.bit = 1 << chance.randrange(8)


async def carry(reader, writer, trouble, close_all):
    """One direction. The fault happens once; then a cut or reset connection is over, and others go on."""
    passed = 0
    while piece := await reader.read(trouble.piece if trouble else 65536):
        if trouble and (trouble.repeats or passed + len(piece) > trouble.at and not trouble.done):
            piece = await trouble.strike(piece, passed, close_all)
        passed += len(piece)
        writer.write(piece)
        await writer.drain()
    writer.write_eof() if writer.can_write_eof() else writer.close()


class Strike:
    """The trouble in the direction it concerns."""

    def __init__(self, trouble, counts):
        self.trouble, self.counts, self.at, self.done = trouble, counts, trouble.at, False
        self.repeats = trouble.kind in ("delay", "small pieces")
        self.piece = 700 if trouble.kind == "small pieces" else 16384
        if self.repeats:
            counts[trouble.kind] += 1

    async def strike(self, piece, passed, close_all):
        trouble = self.trouble
        if not self.repeats:
            self.done = True
            self.counts[trouble.kind] += 1
        if trouble.kind == "delay":
            await asyncio.sleep(trouble.pause)
        elif trouble.kind == "small pieces":
            await asyncio.sleep(0.0005)
        elif trouble.kind == "stall":
            await asyncio.sleep(trouble.stall)
        elif trouble.kind == "corrupt":
            place = max(trouble.at - passed, 0)
            return piece[:place] + bytes([piece[place] ^ trouble.bit]) + piece[place + 1 :]
        else:
            close_all(abruptly=trouble.kind == "reset")
            raise ConnectionError(trouble.kind)
        return piece


class Relay:
    def __init__(self, seed):
        self.chance, self.counts = random.Random(seed), Counter()

    async def join(self, reader, writer, port, may_corrupt):
        onward = None
        try:
            above, onward = await asyncio.open_connection("127.0.0.1", port)
            await self.both_ways(reader, writer, above, onward, Trouble(self.chance, may_corrupt))
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            close(writer)
            if onward:
                close(onward)

    async def both_ways(self, reader, writer, above, onward, trouble):
        strike = Strike(trouble, self.counts) if trouble.kind else None

        def close_all(abruptly):
            for each in (writer, onward):
                close(each, abruptly)

        directions = [(reader, onward, trouble.is_upwards), (above, writer, not trouble.is_upwards)]
        tasks = [asyncio.ensure_future(carry(a, b, strike if hit else None, close_all)) for a, b, hit in directions]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()

    async def connect_proxy(self, reader, writer):
        """CONNECT to a port of 127.0.0.1."""
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            method, target, _ = head.split(b" ", 2)
            if method != b"CONNECT":
                raise ConnectionError
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        except (OSError, ValueError, asyncio.IncompleteReadError):
            return close(writer)
        await self.join(reader, writer, int(target.rpartition(b":")[2]), True)

    async def socks_proxy(self, reader, writer):
        """SOCKS5 without credentials, to an IPv4 address."""
        try:
            _, methods = await reader.readexactly(2)
            await reader.readexactly(methods)
            writer.write(b"\x05\x00")
            request = await reader.readexactly(10)
            if request[:4] != b"\x05\x01\x00\x01":
                raise ConnectionError
            writer.write(b"\x05\x00\x00\x01" + request[4:])
        except (OSError, ValueError, asyncio.IncompleteReadError):
            return close(writer)
        await self.join(reader, writer, struct.unpack(">H", request[8:])[0], True)


def close(writer, abruptly=False):
    if abruptly and (end := writer.get_extra_info("socket")) is not None:
        try:
            end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        except OSError:
            pass
        return writer.transport.abort()
    writer.close()


async def listen(name, serve):
    running = set()

    async def keep(reader, writer):
        """A loop holds its tasks weakly: without another reference one may vanish while it waits."""
        task = asyncio.current_task()
        running.add(task)
        task.add_done_callback(running.discard)
        await serve(reader, writer)

    server = await asyncio.start_server(keep, "127.0.0.1", 0, backlog=512)
    print(name, server.sockets[0].getsockname()[1], flush=True)
    return server


async def main():
    relay = Relay(int(sys.argv[1]))
    servers = []
    for name, _, port in (word.partition("=") for word in sys.argv[2:]):
        def serve(reader, writer, port=int(port), may_corrupt=not name.startswith("plain")):
            return relay.join(reader, writer, port, may_corrupt)
        servers.append(await listen(name, serve))
    servers.append(await listen("connect", relay.connect_proxy))
    servers.append(await listen("socks", relay.socks_proxy))
    # A loop per line on another thread: the standard input of asyncio needs a pipe.
    while await asyncio.to_thread(sys.stdin.readline):
        print(" ".join(f"{kind.replace(' ', '-')}={relay.counts[kind]}" for kind in FAULTS), flush=True)


asyncio.run(main())
