"""Measures works: processor time in a steady state, memory and latency by every peer in interleaved rounds; and instructions,
system calls and allocations per unit, each as the difference between two runs of the same work that differ only in their count, so
that start-up, handshakes and warm-up cancel out."""

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


def times(works, peers, programs, servers, rounds, report):
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
    if work.kind == "latency":
        return {"p50-us": figures["p50_us"], "p99-us": figures["p99_us"]}
    result = {} if work.kind == "burst" else {"cpu-us": figures["cpu_us"] / figures["units"]}
    if work.kind in ("burst", "soak", "down", "up", "gzip", "bomb"):
        end = "end" if work.kind in ("burst", "soak") else "peak"
        result["rss-kib"] = figures[f"rss_{end}_kib"] - figures["rss_start_kib"]
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
    figures = {key: float(value) for key, value in re.findall(r"(\w+)=([\d.]+)", output)}
    if not figures.get("units"):
        raise BenchError(f"a program reports nothing: {output!r}")
    if work.kind not in ("head-parse", "soak") and work.server.startswith("nginx"):
        check_witness(work, peer, *(now - then for now, then in zip(servers.counters(), before)))
    return figures


def check_witness(work, peer, accepted, requests):
    """Checks against nginx's own counters that the work made its requests, on the connections it should use."""
    expected = 2 if work.kind in ("down", "gzip") else work.count + work.warm_up
    expected += (1 if work.kind == "queued" else work.in_flight) if work.opening(peer) else 0
    if requests != expected:
        raise BenchError(f"{work.name}: {peer} made {requests} requests, not {expected}")
    if peer in FOUNDATION:
        # URLSession opens a connection for every few requests, whatever its configuration is.
        fits = peer == "urlsession" or accepted <= work.in_flight + 1
    elif work.kind in ("queued", "burst"):
        fits = accepted <= (1 if work.kind == "queued" else work.in_flight)
    else:
        fits = accepted == (expected if work.kind == "fresh" else work.in_flight)
    if not fits:
        raise BenchError(f"{work.name}: {peer} opened {accepted} connections")


def start_cost(work, peer, programs, servers):
    """Processor time of whole processes, from start to exit. They are spawned directly, because work between fork
    and exec would count as theirs."""
    command, environment = programs.command(peer, work, servers, 1)
    command, environment, total = list(map(str, command)), children.environment_with(environment), 0
    for _ in range(work.count):
        reader, writer = os.pipe2(os.O_CLOEXEC)
        child = os.posix_spawnp(command[0], command, environment, file_actions=[(os.POSIX_SPAWN_DUP2, writer, 1)])
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            output = pipe.read()
        _, status, usage = os.wait4(child, 0)
        if status != 0 or output != b"Hello, world!":
            raise BenchError(f"{work.name}: {peer} ended with {status} and printed {output!r}")
        total += usage.ru_utime + usage.ru_stime
    return total / work.count * 1e6


def wrk_cost(work, servers, warm_up=0.3, stretch=1.2):
    """wrk runs for a duration, not a count: its processor time is read from outside, and nginx counts its requests."""
    accepted_before, _ = servers.counters()
    port = servers.ports["nginx"]
    # wrk has no option for an address beside the name, and checks no certificate: it gets the address as the name.
    command = ["wrk", "-t1", f"-c{work.in_flight}", "-d60s", "-H", f"Host: {HOST}:{port}", f"https://{ADDRESS}:{port}{work.path}"]
    child = children.start(command, {}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        while servers.counters()[0] - accepted_before < work.in_flight:
            if child.poll() is not None:
                raise BenchError(f"wrk: {child.stdout.read()}")
            time.sleep(0.01)
        readings = []
        for pause in (warm_up, stretch):
            time.sleep(pause)
            # The nanoseconds that all threads of the process have run.
            threads = Path(f"/proc/{child.pid}/task").glob("*/schedstat")
            readings.append((sum(int(stat.read_text().split()[0]) for stat in threads), servers.counters()[1]))
        child.send_signal(signal.SIGINT)
        output = child.communicate(timeout=30)[0]
        if "requests in" not in output or "Socket errors" in output or "Non-2xx" in output:
            raise BenchError(f"wrk: {output}")
    finally:
        children.stop(child)
    (began, first), (ended, last) = readings
    return (ended - began) / 1e3 / (last - first)


def counts(works, peers, programs, servers, rounds, report):
    for work, peer in [(work, peer) for work in works for peer in work.peers if peer in peers]:
        # Go's runtime does not call malloc, and its collector runs when it likes: its counts would mean nothing. wrk counts by time.
        if not work.counted or peer in ("go", "wrk") or (peer != "ours" and work is not works[0]):
            continue
        note(f"bench: {work.name}: counting {peer}")
        for number in range(rounds):
            for metric, count in METRICS.items():
                if (work.kind == "head-parse" and metric == "syscalls") or (work.kind.startswith("scale") and metric != "instructions"):
                    continue
                value = per_unit(work, peer, programs, servers, count)
                for each in [work] if peer == "ours" else works:
                    report.add(each, peer, metric, number, value)


def per_unit(work, peer, programs, servers, count):
    units = work.counted
    totals = [count(*programs.command(peer, work, servers, each), programs) for each in units]
    return totals[0] if work.kind == "start" else (totals[1] - totals[0]) / (units[1] - units[0])


def instructions(command, environment, programs):
    """Counts instructions in user space; valgrind does not see the kernel."""
    tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    _, errors = children.run([*tool, *command], environment, 1800)
    return valgrinds(r"Collected : (\d+)", errors)


def valgrinds(pattern, errors):
    found = re.search(pattern, errors)
    if not found:
        raise BenchError(f"valgrind counted nothing: {errors}")
    return int(found[1].replace(",", ""))


def system_calls(command, environment, programs):
    summary = programs.folder / "strace"
    children.run(["strace", "-c", "-f", "-o", summary, *command], environment)
    found = re.search(r"^\s*100\.00\s+\S+\s+\S+\s+(\d+)\s.*total$", summary.read_text(), re.MULTILINE)
    if not found:
        raise BenchError(f"strace counted nothing: {summary.read_text()}")
    return int(found[1])


def allocations(command, environment, programs):
    """Counts calls of malloc and its relatives. realloc counts as one, even if it grows in place."""
    _, errors = children.run(["valgrind", "--tool=dhat", "--dhat-out-file=/dev/null", *command], environment, 1800)
    return valgrinds(r"Total: +[\d,]+ bytes in ([\d,]+) blocks", errors)


METRICS = {"instructions": instructions, "syscalls": system_calls, "allocations": allocations}
