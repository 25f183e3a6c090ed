"""The works that the clients do, as one table."""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Work:
    name: str
    kind: str  # requests, latency, fresh, down, up, gzip, bomb, idle, soak, start, head-parse, cache-keep, cache-hit, cache-open or scale-…
    unit: str = "request"  # what `count` counts; the figures are per unit
    peers: tuple = ("ours", "libcurl", "floor")
    server: str = "nginx"  # or sink
    path: str = "/small"
    in_flight: int = 1
    count: int = 1
    warm_up: int = 0
    counted: tuple = ()  # the two counts whose difference gives instructions; empty: not counted
    roots: str = "one"  # or system
    resume: bool = False
    ends_with: str = ""
    on_loop: bool = True  # ours only: the callers run on the client's executor
    in_default_run: bool = True
    size: int = 10_000  # of what a cache holds, and of what grows in a work of scale

    def opening(self, peer):
        """The size in KiB of the bodies with which ours opens one connection for each request in flight; the peers open
        that many by themselves."""
        kinds = ("requests", "latency", "idle", "queued", "scale-connections")
        return 64 if peer == "ours" and self.kind in kinds else 0

    @property
    def base(self):
        """The name without `-task`, which concerns only ours: the peers run once for both works."""
        return self.name.removesuffix("-task")


def small(in_flight):
    return Work(
        f"small-{in_flight}", "requests", peers=("ours", "libcurl", "wrk", "go", "floor"), in_flight=in_flight, count=30_000,
        warm_up=200 + 3 * in_flight,
        # Opening 1000 connections under valgrind takes minutes and shows nothing new.
        counted=(1_000, 6_000) if in_flight <= 100 else (),
    )


def foundation(in_flight):
    """The same small requests by programs that use URLSession's interface."""
    return replace(
        small(in_flight), name=f"foundation-small-{in_flight}", peers=("bridge", "urlprotocol", "urlsession"), server="nginx-plain",
        count=5_000, counted=(), in_default_run=False,
    )


def handshakes(name, roots="one", resume=False, count=400, counted=(20, 60)):
    return Work(
        name, "fresh", peers=("ours", "libcurl", "libcurl-cached", "floor"), path="/close", count=count, warm_up=5,
        counted=counted, roots=roots, resume=resume, ends_with="r" if resume else ".",
    )


def cached(name, kind, unit, count, warm_up=0):
    """A work of a cache that holds 10,000 responses of 4 KiB."""
    return Work(name, kind, unit=unit, peers=("ours",), server="sink", count=count, warm_up=warm_up, in_default_run=False)


SIZES = (1, 10, 100, 1_000, 10_000)
SCALES = {
    "origins": "origins, each with an idle connection",
    "connections": "idle connections to the origin",
    "waiters": "callers, which share one connection",
    "cookies": "cookies of other sites",
    "cache": "responses in a cache in memory",
    "map": "entries in a map of addresses",
}


def scale(what, size):
    """One request at a time over plain HTTP, while there are `size` of something. Plain, because 10,000 handshakes
    under valgrind take very long, and nothing that grows here depends on TLS."""
    # As many requests as there are callers or entries, so that each takes part; a few more do not make figures better.
    count = max(1_000, size)
    return Work(
        f"scale-{what}-{size}", f"scale-{what}", peers=("ours",), server="sink" if what == "cache" else "nginx-plain",
        in_flight=size if what in ("origins", "connections") else 1, count=10 * count, counted=(count, 2 * count), size=size,
        warm_up={"origins": size, "cache": size, "connections": 0, "waiters": 0}.get(what, 1), in_default_run=False,
    )


def transfer(name, kind, path, server, mib=1024):
    counted, peers = (8 * 1024, 32 * 1024), ("ours", "libcurl", *(["go"] if kind == "down" else []), "floor")
    return Work(name, kind, unit="KiB", peers=peers, server=server, path=path, count=mib * 1024, warm_up=1024, counted=counted)


def every_work():
    with_task = [small(n) for n in (1, 10, 100, 1000)] + [
        handshakes("handshake"),
        handshakes("resumed", resume=True),
        handshakes("handshake-roots", roots="system", count=40, counted=(4, 8)),
        transfer("down", "down", "/down/", "nginx"),
        transfer("up", "up", "/up", "sink"),
        transfer("chunk16k", "down", "/chunk16k/", "sink", mib=512),
        replace(transfer("gzip", "gzip", "/gzip/", "nginx", mib=256), peers=("ours", "libcurl", "go")),
        transfer("chunk512", "down", "/chunk512/", "sink", mib=512),
    ]
    # The time of single requests among a thousand, and the memory of ten thousand connections.
    latency = replace(small(1000), name="latency-1000", kind="latency", peers=("ours", "libcurl"), in_default_run=False)
    with_task.append(latency)
    idle = Work("idle", "idle", unit="connection", peers=("ours", "libcurl", "floor"), in_flight=1000, count=1000)
    start = Work("start", "start", unit="process", peers=("ours", "libcurl", "floor"), count=20, counted=(1,))
    alone = [
        idle,
        # The memory of calls that wait for a connection.
        Work("queued", "queued", unit="call", peers=("ours",), in_flight=10_000, count=10_000),
        # What the process keeps after large bodies, each in one array.
        Work("burst", "burst", unit="process", peers=("ours",), path="/down/20480", in_flight=32, count=128),
        replace(idle, name="idle-10000", peers=("ours",), in_flight=10_000, count=10_000, in_default_run=False),
        # Ten GiB of zeros in ten MiB: the cost of refusing them.
        Work("bomb", "bomb", unit="bomb", peers=("ours",), path="/gzip/bomb"),
        start,
        # Ours with `async`, which starts Swift's own threads.
        replace(start, name="start-task", on_loop=False),
        replace(start, name="start-roots", roots="system"),
        cached("cache-memory", "cache-hit", "hit", count=50_000, warm_up=1_000),
        cached("cache-folder", "cache-hit", "hit", count=50_000, warm_up=1_000),
        cached("cache-folder-keep", "cache-keep", "response", count=10_000),
        cached("cache-folder-open", "cache-open", "opening", count=500),
        Work("head-parse", "head-parse", unit="head", peers=("ours",), count=2_000_000, counted=(10_000, 30_000)),
    ]
    soak = replace(foundation(1), name="foundation-soak", kind="soak", peers=("bridge", "urlprotocol"), count=10_000, warm_up=3_000)
    alone += [foundation(1), foundation(10), soak] + [
        replace(transfer(f"foundation-{kind}", kind, path, server), peers=("bridge", "urlprotocol", "libcurl"), in_default_run=False)
        for kind, path, server in (("down", "/down/", "nginx"), ("up", "/up", "sink"))
    ]
    works = {}
    for work in with_task:
        works[work.name] = work
        task = f"{work.name}-task"
        # For handshakes the caller's executor makes a difference of one hop in half a millisecond, so these forms run
        # only when they are named.
        usual = work.in_default_run and not work.name.startswith(("handshake", "resumed"))
        works[task] = replace(work, name=task, on_loop=False, in_default_run=usual)
    works.update((work.name, work) for work in alone)
    works.update((work.name, work) for what in SCALES for work in (scale(what, size) for size in SIZES))
    return works


def quickened(work):
    """A smoke run of the work: the same steps with small counts, whose figures mean nothing."""
    if work.kind in ("down", "up", "gzip"):
        return replace(work, count=16 * 1024, counted=work.counted and (1024, 4096))
    if work.kind in ("idle", "queued"):
        return replace(work, in_flight=50, count=50)
    if work.kind in ("requests", "latency"):
        return replace(work, count=2_000, counted=work.counted and (200, 400))
    if work.kind in ("cache-keep", "bomb"):
        return work
    return replace(work, count=max(2, work.count // 20), counted=work.counted and tuple(n // 4 or 1 for n in work.counted))
