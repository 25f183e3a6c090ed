"""Processor time of the same work in a steady state, by every peer in interleaved rounds."""

import os
import re
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

from . import children
from .children import BenchError, note
from .programs import FOUNDATION
from .servers import ADDRESS, HOST


def measure(works, peers, programs, servers, rounds, report):
    """Runs the works that share a base together: the peers once a round, ours once for each work."""
    runs = [(work, peer) for work in works for peer in work.peers if peer in peers]
    shared = [run for run in runs if run[1] == "ours" or run[0] is works[0]]
    for number in range(rounds if shared else 0):
        note(f"bench: {' '.join(w.name for w in works)}: round {number + 1} of {rounds}")
        turn = number % len(shared)  # a different one first in each round
        for work, peer in shared[turn:] + shared[:turn]:
            for metric, value in one_run(work, peer, programs, servers).items():
                for each in [work] if peer == "ours" else works:
                    report.add(each, peer, metric, number, value)


def one_run(work, peer, programs, servers):
    if work.kind == "start":
        return {"cpu-us": start_cost(work, peer, programs, servers)}
    if peer == "wrk":
        return {"cpu-us": wrk_cost(work, servers)}
    if work.kind in ("idle", "queued"):
        return {"rss-kib": memory_of_one(work, peer, programs, servers)}
    figures = run_program(work, peer, programs, servers)
    result = {"cpu-us": figures["cpu_us"] / figures["units"]}
    if work.kind == "burst":
        return {"rss-kib": figures["rss_end_kib"] - figures["rss_start_kib"]}
    if work.kind == "soak":
        result["rss-kib"] = figures["rss_end_kib"] - figures["rss_start_kib"]
    if work.kind == "latency":
        return {"p50-us": figures["p50_us"], "p99-us": figures["p99_us"]}
    if work.kind in ("down", "up", "gzip", "bomb"):
        result["rss-kib"] = figures["rss_peak_kib"] - figures["rss_start_kib"]
    return result


def memory_of_one(work, peer, programs, servers):
    """Memory of a connection or a waiting call: that of many minus one, so that libraries and the first context do not
    count."""
    few = replace(work, in_flight=1, count=1)
    held = [run_program(each, peer, programs, servers)["rss_end_kib"] for each in (few, work)]
    return (held[1] - held[0]) / (work.in_flight - 1)


def run_program(work, peer, programs, servers):
    before = servers.counters()
    command, environment = programs.command(peer, work, servers, work.count)
    output, _ = children.run(command, environment)
    figures = parse(output)
    if work.kind not in ("head-parse", "soak"):
        accepted, requests = (now - then for now, then in zip(servers.counters(), before))
        check_witness(work, peer, accepted, requests)
    return figures


def parse(output):
    figures = {key: float(value) for key, value in re.findall(r"(\w+)=([\d.]+)", output)}
    if not figures.get("units"):
        raise BenchError(f"a program reports nothing: {output!r}")
    return figures


def check_witness(work, peer, accepted, requests):
    """Checks against nginx's own counters that the work made its requests, on the connections it should use."""
    if not work.server.startswith("nginx"):
        return
    expected = 2 if work.kind in ("down", "gzip") else work.count + work.warm_up
    expected += (1 if work.kind == "queued" else work.in_flight) if work.opening(peer) else 0
    if requests != expected:
        raise BenchError(f"{work.name}: {peer} made {requests} requests, not {expected}")
    if peer in FOUNDATION:
        # URLSession opens a connection for every few requests, whatever its configuration is.
        fits = peer == "urlsession" or accepted <= work.in_flight + 1
    elif work.kind == "fresh":
        fits = accepted == expected
    elif work.kind in ("queued", "burst"):
        fits = accepted <= (1 if work.kind == "queued" else work.in_flight)
    else:
        fits = accepted == work.in_flight
    if not fits:
        raise BenchError(f"{work.name}: {peer} opened {accepted} connections")


def start_cost(work, peer, programs, servers):
    """Processor time of whole processes, from start to exit. They are spawned directly, because work between fork
    and exec would count as theirs."""
    command, environment = programs.command(peer, work, servers, 1)
    command = list(map(str, command))
    environment = children.environment_with(environment)
    total = 0
    for _ in range(work.count):
        reader, writer = os.pipe2(os.O_CLOEXEC)
        child = os.posix_spawnp(
            command[0], command, environment, file_actions=[(os.POSIX_SPAWN_DUP2, writer, 1)]
        )
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            output = pipe.read()
        _, status, usage = os.wait4(child, 0)
        if status != 0 or output != b"Hello, world!":
            raise BenchError(f"{work.name}: {peer} ended with {status} and printed {output!r}")
        total += usage.ru_utime + usage.ru_stime
    return total / work.count * 1e6


def wrk_command(work, servers, seconds):
    port = servers.ports["nginx"]
    # wrk has no option for an address beside the name, and checks no certificate: it gets the address as the name.
    return ["wrk", "-t1", f"-c{work.in_flight}", f"-d{seconds}s", "-H", f"Host: {HOST}:{port}",
            f"https://{ADDRESS}:{port}{work.path}"]


def check_wrk(output):
    """Returns the number of requests that wrk completed; any failed request ends the benchmark."""
    match = re.search(r"(\d+) requests in", output)
    if not match or "Socket errors" in output or "Non-2xx" in output:
        raise BenchError(f"wrk: {output}")
    return int(match[1])


def wrk_cost(work, servers, warm_up=0.3, stretch=1.2):
    """wrk runs for a duration, not a count: its processor time is read from outside, and nginx counts its requests."""
    accepted_before, _ = servers.counters()
    child = children.start(
        wrk_command(work, servers, 60), {}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        while servers.counters()[0] - accepted_before < work.in_flight:
            if child.poll() is not None:
                raise BenchError(f"wrk: {child.stdout.read()}")
            time.sleep(0.01)
        time.sleep(warm_up)
        before = (thread_time(child.pid), servers.counters()[1])
        time.sleep(stretch)
        after = (thread_time(child.pid), servers.counters()[1])
        child.send_signal(signal.SIGINT)
        check_wrk(child.communicate(timeout=30)[0])
    finally:
        children.stop(child)
    return (after[0] - before[0]) / 1e3 / (after[1] - before[1])


def thread_time(pid):
    """The nanoseconds that all threads of a process have run."""
    return sum(int(stat.read_text().split()[0]) for stat in Path(f"/proc/{pid}/task").glob("*/schedstat"))
