"""Attempts at several addresses (RFC 8305) for the client beside it, with its faults."""

import contextlib
import os
import queue
import select
import socket
import threading


class Attempt:
    """An attempt at an address, in a thread of its own."""

    def __init__(self, index, place, finish, results):
        self.index, self.results = index, results
        self.socket = socket.socket(socket.AF_INET6 if ":" in place[0] else socket.AF_INET)
        self.socket.setblocking(False)
        self.socket.connect_ex(place)  # Begun here: threads start when they like.
        self.socket.settimeout(30)  # Longer than any vector waits for its end.
        self.handle = self.socket.dup()  # TLS takes the socket away.
        threading.Thread(target=self.run, args=(place, finish), daemon=True).start()

    def run(self, place, finish):
        try:
            select.select([], [self.socket], [], 3)
            if error := self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                raise OSError(error, os.strerror(error))
            self.socket.getpeername()  # Fails if it is not connected yet.
            self.results.put((self, finish(self.socket)))
        except (OSError, ValueError) as error:
            self.socket.close()
            self.results.put((self, error))

    def end(self):
        with contextlib.suppress(OSError):
            self.handle.shutdown(socket.SHUT_RDWR)
        self.handle.close()


def first(places, delay, finish, has):
    """What `finish` makes of the socket that is connected first, and the index of its address."""
    results, running, left = queue.Queue(), [], list(enumerate(places))

    def start(count=1):
        for index, place in left[:count]:
            running.append(Attempt(index, place, finish, results))
        del left[:count]

    start(len(left) if has("all-at-once") else 1)
    if has("first-address-only"):
        left.clear()
    error = OSError("no address")
    try:
        while running:
            try:
                attempt, found = results.get(timeout=delay if left else None)
            except queue.Empty:
                start(len(left) if has("all-after-delay") else 1)
                continue
            running.remove(attempt)
            if not isinstance(found, Exception):
                attempt.handle.close()
                return found, attempt.index
            attempt.end()
            error = found
            start(len(left) if has("all-after-failure") else 1)
        raise error
    finally:
        if not has("losers-stay"):
            for attempt in running:
                attempt.end()
