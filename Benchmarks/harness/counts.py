"""Instructions, system calls and allocations per unit. Each is the difference between two runs of the same work
that differ only in their count, so that start-up, handshakes and warm-up cancel out."""

import re
import struct

from . import children
from .children import BenchError, note
from .cpu import check_wrk, wrk_command


def measure(works, peers, programs, servers, rounds, report):
    # Go's runtime does not call malloc, and its collector runs when it likes: its counts would mean nothing.
    runs = [(work, peer) for work in works for peer in work.peers if peer in peers and peer != "go"]
    for work, peer in runs:
        if not work.counted or (peer != "ours" and work is not works[0]):
            continue
        note(f"bench: {work.name}: counting {peer}")
        for number in range(rounds):
            for metric, count in METRICS.items():
                if work.kind == "head-parse" and metric == "syscalls":
                    continue
                if work.kind.startswith("scale") and metric != "instructions":
                    continue
                value = per_unit(work, peer, programs, servers, count)
                for each in [work] if peer == "ours" else works:
                    report.add(each, peer, metric, number, value)


def per_unit(work, peer, programs, servers, count):
    if peer == "wrk":
        # Both runs must last longer than the handshakes, which take a tenth of a second each under valgrind.
        shortest = 4 + work.in_flight // 5 if count is instructions else 2
        (few, units_few), (many, units_many) = (
            wrk_count(work, servers, programs, count, seconds) for seconds in (shortest, shortest + 4)
        )
        if units_many <= units_few:
            raise BenchError(f"{work.name}: wrk made no more requests in more time")
        return (many - few) / (units_many - units_few)
    totals = []
    for units in work.counted:
        command, environment = programs.command(peer, work, servers, units)
        totals.append(count(command, environment, programs)[0])
    if work.kind == "start":
        return totals[0]
    return (totals[1] - totals[0]) / (work.counted[1] - work.counted[0])


def wrk_count(work, servers, programs, count, seconds):
    total, output = count(wrk_command(work, servers, seconds), {}, programs)
    return total, check_wrk(output)


def instructions(command, environment, programs):
    """Counts instructions in user space; valgrind does not see the kernel."""
    output, errors = children.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command], environment, 1800
    )
    found = re.search(r"Collected : (\d+)", errors)
    if not found:
        raise BenchError(f"callgrind counted nothing: {errors}")
    return int(found[1]), output


def system_calls(command, environment, programs):
    summary = programs.folder / "strace"
    output, _ = children.run(["strace", "-c", "-f", "-o", summary, *command], environment)
    found = re.search(r"^\s*100\.00\s+\S+\s+\S+\s+(\d+)\s.*total$", summary.read_text(), re.MULTILINE)
    if not found:
        raise BenchError(f"strace counted nothing: {summary.read_text()}")
    return int(found[1]), output


def allocations(command, environment, programs):
    counter = programs.folder / "allocations"
    counter.unlink(missing_ok=True)
    preload = {"LD_PRELOAD": str(programs.allocations), "ALLOCATIONS_FILE": str(counter)}
    output, _ = children.run(command, {**environment, **preload})
    return struct.unpack("=Q", counter.read_bytes())[0], output


METRICS = {"instructions": instructions, "syscalls": system_calls, "allocations": allocations}
