"""Compressed content for the server, put together from parts: compressing it as a whole would take long."""

import json as text
import random
import struct
import zlib
from functools import cache

HEAD = b"\x1f\x8b\x08" + bytes(6) + b"\xff"
KIB = 1024
WORDS = "lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut labore".split()


def flushed(block, level):
    """Deflates a block so that it can be put anywhere: without references to earlier data, and with whole bytes."""
    coder = zlib.compressobj(level, zlib.DEFLATED, -15)
    return coder.compress(block) + coder.flush(zlib.Z_FULL_FLUSH)


def record(chance):
    return {
        "id": chance.randrange(10**9),
        "name": chance.choice(WORDS),
        "email": f"{chance.choice(WORDS)}{chance.randrange(10**4)}@example.com",
        "active": chance.random() < 0.5,
        "score": round(chance.random() * 1000, 3),
        "tags": chance.sample(WORDS, 4),
        "text": " ".join(chance.choices(WORDS, k=15)),
    }


@cache
def blocks():
    """Eight blocks of one MiB of JSON, each plain and deflated."""
    chance = random.Random(1)
    pairs = []
    for _ in range(8):
        plain = bytearray()
        while len(plain) < KIB * KIB:
            plain += text.dumps(record(chance)).encode() + b",\n"
        plain = bytes(plain[: KIB * KIB])
        pairs.append((plain, flushed(plain, 6)))
    return pairs


def json(kib):
    """This much JSON as gzip, in whole MiB."""
    parts, check = [HEAD], 0
    for index in range(kib // KIB):
        plain, deflated = blocks()[index % 8]
        parts.append(deflated)
        check = zlib.crc32(plain, check)
    return b"".join([*parts, b"\x03\x00", struct.pack("<II", check, kib * KIB & 0xFFFFFFFF)])


def bomb():
    """Ten GiB of zeros as gzip. The CRC is wrong: no client reads that far."""
    return b"".join([HEAD, flushed(bytes(KIB * KIB), 9) * (10 * KIB), b"\x03\x00", bytes(8)])
