"""What a run has measured, as a table and as a verdict."""

import os
import re
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from harness.children import BenchError

# Of resident memory after the warm-up. In its first minutes malloc still takes arenas, and keeps free memory in them, as
# chance decides: a warm-up of seconds leaves 12 % and more to come. A short run finds the leaks that are large.
FULL_WARM_UP = 300  # s
MOST_GROWTH = 1.10
MOST_GROWTH_OF_SHORT_RUN = 1.50
MOST_OVERRUN = 300  # ms after a deadline, without the time for which the machine did not let the process run


@dataclass(frozen=True)
class Sample:
    rss: int  # KiB
    open: tuple  # what each descriptor leads to
    threads: int

    @staticmethod
    def of(pid, but):
        status = Path(f"/proc/{pid}/status").read_text()
        rss = int(re.search(r"VmRSS:\s+(\d+)", status)[1])
        threads = int(re.search(r"Threads:\s+(\d+)", status)[1])
        found = destinations(Path(f"/proc/{pid}/fd"))
        return Sample(rss, tuple(each for each in found if each.split(":")[0] != but), threads)

    @property
    def descriptors(self):
        return len(self.open)


def destinations(folder):
    for descriptor in folder.iterdir():
        try:
            yield os.readlink(descriptor)
        except FileNotFoundError:
            pass


class Watched:
    """A program that runs for the whole time, and what it holds, but for descriptors of a kind that it keeps."""

    def __init__(self, name, child, but=None):
        self.name, self.child, self.but, self.samples = name, child, but, []
        self.at_start = self.at_rest = self.sample()

    def sample(self):
        if self.child.poll() is not None:
            raise BenchError(f"{self.name} ended with {self.child.returncode}")
        return Sample.of(self.child.pid, self.but)

    def look(self, at):
        self.samples.append((at, self.sample()))

    def settle(self, patience=20):
        """Waits until nothing is left open, or for a while."""
        end = time.monotonic() + patience
        while True:
            self.at_rest = self.sample()
            is_settled = self.at_rest.descriptors <= self.at_start.descriptors and self.at_rest.threads <= self.at_start.threads
            if is_settled or time.monotonic() > end:
                return
            time.sleep(0.25)

    def rss_between(self, begin, end):
        return median(sample.rss for at, sample in self.samples if begin <= at <= end)

    def faults(self, figures):
        warm, end = figures.rss(self)
        if end > warm * figures.most_growth:
            yield f"memory of {self.name} grew from {mib(warm)} to {mib(end)} after the warm-up"
        if self.at_rest.descriptors > self.at_start.descriptors:
            left = Counter(self.at_rest.open) - Counter(self.at_start.open)
            yield f"descriptors of {self.name} are left: {' '.join(left.elements())}"
        if self.at_rest.threads > self.at_start.threads:
            yield f"{self.at_rest.threads - self.at_start.threads} threads of {self.name} are left"

    def rows(self, figures):
        warm, end = figures.rss(self)
        sizes = ", ".join(mib(each) for each in (self.at_start.rss, warm, end, self.at_rest.rss))
        yield (f"{self.name}: resident memory at the start, warm, at the end, at rest", sizes)
        for name in ("descriptors", "threads"):
            most = max(getattr(sample, name) for _, sample in self.samples)
            yield (f"{self.name}: {name} at the start, most, at rest", f"{getattr(self.at_start, name)}, {most}, {getattr(self.at_rest, name)}")


class Figures:
    def __init__(self, watched, seconds, warm_up):
        self.watched, self.seconds, self.warm_up = watched, seconds, warm_up
        self.heaps, self.faults = [], {}
        self.successes, self.failures, self.wrong, self.unrecovered = {}, {}, [], []
        self.recoveries, self.overruns, self.endless = [], {}, []

    def take(self, lines):
        for line in lines:
            word, _, rest = line.partition(" ")
            getattr(self, f"take_{word}")(rest)

    def take_success(self, rest):
        count, kind = rest.split(" ", 1)
        self.successes[kind] = int(count)

    def take_failure(self, rest):
        count, reason = rest.split(" ", 1)
        self.failures[reason] = int(count)

    def take_wrong(self, rest):
        self.wrong.append(rest)

    def take_endless(self, rest):
        self.endless.append(rest)

    def take_overrun(self, rest):
        kind, all_of_it, own, calls = rest.split(" ", 3)
        self.overruns[kind] = (int(all_of_it), int(own), calls)

    def take_recovery(self, rest):
        time, peer = rest.split(" ")
        self.recoveries.append((int(time), peer))

    def take_unrecovered(self, rest):
        self.unrecovered.append(rest)

    # The window in which memory is measured: under load, as long at the end as after the warm-up.

    @property
    def window(self):
        return max(10, self.seconds / 20)

    def rss(self, watched):
        """When it was warm, and at the end."""
        return (watched.rss_between(self.warm_up, self.warm_up + self.window),
                watched.rss_between(self.seconds - self.window, self.seconds))

    @property
    def most_growth(self):
        return MOST_GROWTH if self.warm_up >= FULL_WARM_UP else MOST_GROWTH_OF_SHORT_RUN

    def faults_found(self):
        """What is wrong, as sentences."""
        found = [f"wrong bytes: {each}" for each in self.wrong]
        for each in self.watched:
            found += each.faults(self)
        for kind, (_, own, calls) in self.overruns.items():
            if own > MOST_OVERRUN:
                found.append(f"a call ended {own} ms after its {kind}: {calls}")
        found += [f"a call never ended: {call}" for call in self.endless]
        found += [f"{peer} was back and stayed out of reach" for peer in self.unrecovered]
        if not sum(self.successes.values()):
            found.append("no call succeeded")
        return found

    def table(self):
        rows = [("calls", f"{sum(self.successes.values()) + sum(self.failures.values()):,} in {self.seconds:.0f} s")]
        rows += [(f"  {kind}", f"{count:,}") for kind, count in self.successes.items()]
        rows.append(("failures", f"{sum(self.failures.values()):,}"))
        rows += [(f"  {reason}", f"{count:,}") for reason, count in self.failures.items()]
        rows.append(("faults", f"{sum(self.faults.values()):,}"))
        rows += [(f"  {kind}", f"{count:,}") for kind, count in sorted(self.faults.items())]
        rows.append(("wrong bytes taken for good", f"{len(self.wrong):,}"))
        for kind, (all_of_it, own, _) in self.overruns.items():
            rows.append((f"latest end after a {kind}", f"{all_of_it} ms, of which the client's {own} ms"))
        if self.recoveries:
            latest, peer = max(self.recoveries)
            rows.append(("a server that is back answers after",
                         f"{median(time for time, _ in self.recoveries):.0f} ms (longest {latest} ms: {peer})"))
        for each in self.watched:
            rows += each.rows(self)
        rows.append(("malloc after a minute", heap_figures(self.heaps[0])))
        rows.append(("malloc at the end", heap_figures(self.heaps[-1])))
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name.ljust(width)}  {value}" for name, value in rows)


def mib(kib):
    return f"{kib / 1024:.1f} MiB"


def heap_figures(line):
    """The arenas of malloc, what is in use in them, and what is free but not given back."""
    arenas = len(re.findall(r"<heap nr=", line))
    total = line[line.rindex("</heap>"):]
    free = sum(int(size) for size in re.findall(r'<total type="(?:fast|rest)" count="\d+" size="(\d+)"', total))
    held = int(re.search(r'<system type="current" size="(\d+)"', total)[1])
    return f"{arenas} arenas, {mib((held - free) / 1024)} in use, {mib(free / 1024)} free"
