"""The measured values, and their two forms: tables for people and lines of JSON for programs."""

import json
from collections import defaultdict
from statistics import median

PEERS = ("ours", "libcurl", "libcurl-cached", "wrk", "go", "floor", "bridge", "urlprotocol", "urlsession")
COUNTS = ("instructions", "syscalls", "allocations")


class Report:
    def __init__(self):
        self.values = defaultdict(dict)  # (work name, peer, metric) -> round -> value
        self.works = {}

    def add(self, work, peer, metric, number, value):
        self.works[work.name] = work
        self.values[work.name, peer, metric][number] = value

    def with_ratios(self):
        """The values, and for processor time also the ratio to libcurl (otherwise to URLSession) in the same round."""
        values = dict(self.values)
        for (work, peer, metric), by_round in self.values.items():
            reference = self.values.get((work, "libcurl", "cpu-us")) or self.values.get((work, "urlsession", "cpu-us"))
            if metric == "cpu-us" and peer != "libcurl" and reference:
                values[work, peer, "cpu-ratio"] = {n: by_round[n] / reference[n] for n in by_round if n in reference}
        return {key: sorted(by_round.values()) for key, by_round in values.items() if by_round}

    def json_lines(self):
        order = list(self.works)
        for (work, peer, metric), values in sorted(self.with_ratios().items(), key=lambda item: order.index(item[0][0])):
            yield json.dumps(
                {
                    "work": work,
                    "peer": peer,
                    "metric": metric,
                    "min": rounded(values[0]),
                    "median": rounded(median(values)),
                    "max": rounded(values[-1]),
                    "unit": self.works[work].unit,
                    "rounds": len(values),
                }
            )

    def shown(self, values, name, peer, metric):
        """The values of a table cell. The row of a -task work does not repeat the peers' values."""
        repeats = peer != "ours" and name != self.works[name].base and self.works[name].base in self.works
        return None if repeats else values.get((name, peer, metric))

    def ratio_table(self):
        """Processor time relative to libcurl, and libcurl's own in microseconds."""
        values = self.with_ratios()
        peers = [p for p in PEERS if p != "libcurl" and any((w, p, "cpu-ratio") in values for w in self.works)]
        rows = [["work", *peers, "libcurl, us", "per"]]
        for name, work in self.works.items():
            cells = [self.shown(values, name, p, "cpu-ratio") for p in peers]
            own = self.shown(values, name, "libcurl", "cpu-us")
            if own or any(cells):
                rows.append([name, *map(spread, cells), spread(own), work.unit])
        return table("CPU time relative to libcurl (without it, to URLSession) in the same round: median (min to max)", rows)

    def alone_table(self):
        values = self.with_ratios()
        rows = [["work", "peer", "CPU us", "per"]]
        for (name, peer, metric), each in values.items():
            if metric == "cpu-us" and (name, "libcurl", "cpu-us") not in values:
                rows.append([name, peer, spread(each), self.works[name].unit])
        return table("CPU time without libcurl beside it: median (min to max)", rows)

    def latency_table(self):
        """The time of single requests, and the ratio of the slowest hundredth to libcurl's in the same round."""
        rows = [["work", "peer", "median, us", "99 %, us", "99 %, to libcurl's"]]
        for (name, peer, metric), by_round in self.values.items():
            if metric != "p99-us":
                continue
            other = self.values.get((name, "libcurl", "p99-us"), {})
            ratios = sorted(by_round[n] / other[n] for n in by_round if n in other and peer != "libcurl")
            cells = (sorted(self.values[name, peer, key].values()) for key in ("p50-us", "p99-us"))
            rows.append([name, peer, *map(spread, cells), spread(ratios)])
        return table("Time of single requests: median (min to max)", rows)

    def memory_table(self):
        values = self.with_ratios()
        peers = [p for p in PEERS if any((w, p, "rss-kib") in values for w in self.works)]
        rows = [["work", *peers, ""]]
        for name, work in self.works.items():
            cells = [self.shown(values, name, p, "rss-kib") for p in peers]
            if any(cells):
                what = {"idle": "a connection", "queued": "a waiting call", "soak": "end over start", "burst": "end over start"}.get(work.kind, "peak over start")
                rows.append([name, *map(spread, cells), what])
        return table("Resident memory, KiB: median (min to max)", rows)

    def count_table(self):
        values = self.with_ratios()
        rows = [["work", "peer", *COUNTS, "per"]]
        for name, work in self.works.items():
            for peer in PEERS:
                cells = [self.shown(values, name, peer, metric) for metric in COUNTS]
                if any(cells):
                    rows.append([name, peer, *map(spread, cells), work.unit])
        return table("Instructions in user space, system calls, allocations: median (min to max)", rows)

    def text(self):
        tables = [self.ratio_table(), self.alone_table(), self.latency_table(), self.memory_table(), self.count_table()]
        return "\n\n".join(each for each in tables if each)


def rounded(value):
    return float(f"{value:.5g}") if abs(value) < 10_000 else round(value)


def spread(values):
    if not values:
        return ""
    low, middle, high = (figure(v) for v in (values[0], median(values), values[-1]))
    return middle if low == high else f"{middle} ({low} to {high})"


def figure(value):
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) >= 0.01 else f"{value:.2f}"


def table(title, rows):
    """A Markdown table with aligned columns, or an empty string without rows."""
    if len(rows) < 2:
        return ""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in rows]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join([title, "", *lines])
